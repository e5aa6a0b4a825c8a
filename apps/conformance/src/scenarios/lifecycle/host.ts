/** HOST and SVC: how a host comes to serve. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import { securities, stores } from '../../matrix.ts';
import type { JournalEntry, ServicePlan } from '../../roles/plan.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

const service = (name: string, more: Partial<ServicePlan> = {}): ServicePlan => ({ role: 'service', name, ...more });

const steps = (journal: readonly JournalEntry[]): readonly string[] =>
  journal.filter(({ owner }) => owner.startsWith('service')).map(({ mark, what }) => `${mark} ${what}`);

export const host: readonly Scenario[] = [
  {
    ids: ['HOST-002', 'HOST-003', 'HOST-008'],
    title: 'a lone host serves without any peer; only calls that need one fail',
    over: { store: stores, security: securities },
    run: async (stage) => {
      const lone = await stage.start('lone', [
        { role: 'server' },
        { role: 'client', connect: stage.isDiscovering ? [] : ['tcp://127.0.0.1:1'] },
        nodePlan(stage, 'lone', [], stage.isDiscovering ? {} : { connect: ['tcp://127.0.0.1:1'] }),
        { role: 'publisher' },
      ]);
      assert.equal(await lone.ask('running.state'), 'serving');
      await lone.refusal(stage.toNodes, 'NotFound');
      await lone.ask('servers.ready', 1);
      await lone.reply(stage.toServers); // its own server is there
      assert.equal(lone.facts.listeners.length, 3);
    },
  },
  {
    ids: ['HOST-002', 'CS-004', 'LOC-060'],
    title: 'who sees a host ready can call it at once',
    over: { store: stores },
    run: async (stage) => {
      const server = await stage.describe('server', [{ role: 'server' }, service('one')]);
      const client = stage.isDiscovering ? await stage.start('client', [{ role: 'client' }]) : undefined;
      assert.ok((await server.tryStart()).ok);
      const caller = client ?? (await stage.dialing([server]));
      await caller.ask('servers.ready', 1);
      const { ends } = await caller.ask('calls.burst', stage.toServers, 100);
      assert.deepEqual(ends, { ok: 100 });
    },
  },
  {
    ids: ['HOST-004', 'HOST-006', 'SVC-001', 'DRAIN-002', 'HOST-007'],
    title:
      'services start in order, each awaited; at the end all are asked to stop in reverse, later stopped in reverse',
    run: async (stage) => {
      const only = await stage.start('only', [service('one'), service('two', { fails: 'requestStop' }), service('three', { fails: 'stop' })]); // prettier-ignore
      const end = await only.shutdown();
      assert.ok(end.ok);
      assert.equal(end.state, 'stopped');
      const journal = await only.ask('handlers.journal');
      assert.deepEqual(steps(journal), [
        'one start',
        'one started',
        'two start',
        'two started',
        'three start',
        'three started',
        'three requestStop',
        'two requestStop',
        'one requestStop',
        'three stop',
        'two stop',
        'one stop',
      ]);
      const states = new Set(journal.map(({ what, text }) => `${what} ${text}`));
      assert.ok(states.has('start starting') && states.has('requestStop draining') && states.has('stop draining'));
      const failures = only.logs('zlink.runtime.hosted_service_failed');
      assert.equal(failures.length, 2, 'failures are recorded');
    },
  },
  {
    ids: ['HOST-004'],
    title:
      'a service may call another host while it starts, and messages from outside are refused until the host serves',
    run: async (stage) => {
      const far = await stage.server('far');
      const starting = await stage.describe('starting', [
        { role: 'client', connect: [far.endpoint] },
        nodePlan(stage, 'starting'),
        service('caller', { callsAtStart: { to: { channel: CHANNEL } }, holds: 'start' }),
      ]);
      const start = starting.tryStart();
      const journal = await starting.seen(1, 'called');
      assert.equal(journal.find(({ what }) => what === 'called')?.text, 'ok');
      await starting.seen(1, 'begun');
      const { meshEndpoint = '' } = await starting.ask('running.facts');
      const other = await stage.start('other', [
        nodePlan(stage, 'other', [], { connect: [['starting', meshEndpoint]], sendTimeoutMs: 500 }),
      ]);
      const refused = await other.call({ to: { rid: 'starting' } });
      assert.ok(!refused.ok && refused.error.kind === 'Unavailable', 'refused until it serves');
      assert.ok(!(await starting.ask('handlers.journal')).some(({ owner }) => owner === 'node'));
      assert.equal(await starting.ask('running.state'), 'starting');
      await starting.ask('handlers.release');
      assert.ok((await start).ok);
      await other.ask('peers.ready', 1);
      await other.reply({ to: { rid: 'starting' } });
    },
  },
  {
    ids: ['HOST-005', 'SVC-001', 'HOST-008'],
    title:
      'a service that fails fails the start: earlier ones stop in reverse, everything is released, others can start',
    over: { store: stores },
    run: async (stage) => {
      const failing = await stage.describe('failing', [
        { role: 'server' },
        service('one'),
        service('two'),
        service('three', { fails: 'start' }),
        service('four'),
      ]);
      const end = await failing.tryStart();
      assert.ok(!end.ok);
      assert.deepEqual([end.error.kind, end.error.hasCause, end.state], ['InternalFailure', true, 'error']);
      assert.deepEqual(
        steps(await failing.ask('handlers.journal')).filter((step) => !step.endsWith('started')),
        ['one start', 'two start', 'three start', 'two requestStop', 'one requestStop', 'two stop', 'one stop'],
      );
      assert.deepEqual((await failing.ask('running.facts')).listeners, []);
      const stopped = await failing.shutdown();
      assert.ok(stopped.ok);
      assert.deepEqual(stopped.result, { outcome: 'stopped', reason: 'none' });
      const next = await stage.server('next');
      const client = await stage.client([next]);
      assert.equal((await client.ask('servers.list')).length, 1, 'nothing of the failed host is found');
    },
  },
  {
    ids: ['HOST-007', 'DRAIN-007', 'HOST-005'],
    title: 'a shutdown during the start ends the start and releases what was reached',
    over: { store: stores },
    run: async (stage) => {
      const starting = await stage.describe('starting', [{ role: 'server' }, service('slow', { holds: 'start' })]);
      const start = starting.tryStart();
      await starting.seen(1, 'begun');
      const ending = starting.shutdown({ deadlineMs: 30_000 });
      await starting.ask('handlers.release');
      const [started, ended] = await Promise.all([start, ending]);
      assert.ok(!started.ok && started.error.kind === 'ShuttingDown');
      assert.ok(ended.ok);
      assert.equal(ended.result.outcome, 'stopped');
      assert.deepEqual((await starting.ask('running.facts')).listeners, []);
      assert.equal(await starting.ask('running.state'), 'stopped');
    },
  },
];
