/** DRAIN: how a host ends. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import { securities, stores } from '../../matrix.ts';
import { keepsTime } from '../../runner/keeps-time.ts';
import { nodePlan, redisStore, shortLease } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

const deadlineMs = 400;
/** Two seconds after it at most, and what the way to the host and back takes. */
const endsWithinMs = deadlineMs + 2_500;

export const drain: readonly Scenario[] = [
  {
    ids: ['DRAIN-001', 'DRAIN-002', 'DRAIN-005', 'DRAIN-006', 'HOST-007'],
    title: 'a shutdown in time lets accepted handlers end and their replies leave: stopped, none',
    over: { store: stores, security: securities },
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host'), { role: 'publisher' }]);
      const caller = await stage.start('caller', [
        { role: 'client', connect: stage.isDiscovering ? [] : [host.endpoint] },
        nodePlan(stage, 'caller', [host], { channels: [{}] }),
      ]);
      await Promise.all([caller.ask('servers.ready', 1), caller.ask('peers.ready', 1)]);
      const plans = [stage.toServers, stage.toNodes, { to: { rid: host.meshRid } }];
      const held = await Promise.all(plans.map((plan) => caller.begin({ ...plan, payload: { act: 'hold' } })));
      await host.seen(3, 'begun');
      const ending = host.shutdown();
      await caller.servers(([row]) => row?.draining === true, 'sees that it drains');
      assert.equal(await host.ask('running.state'), 'draining');
      await host.refusal({ to: { rid: caller.meshRid } }, 'ShuttingDown');
      assert.equal(await host.ask('handlers.release'), 3);
      for (const { end } of held) assert.ok((await end).ok, 'accepted work is answered');
      const end = await ending;
      assert.ok(end.ok);
      assert.deepEqual([end.result, end.state], [{ outcome: 'stopped', reason: 'none' }, 'stopped']);
      assert.deepEqual((await host.ask('running.facts')).listeners, []);
      assert.ok(!(await host.ask('handlers.journal')).some(({ what }) => what === 'aborted'));
    },
  },
  {
    ids: ['DRAIN-005', 'DRAIN-006', 'DISP-001', 'CALL-004'],
    title:
      'past its deadline a shutdown aborts handlers and ends pending calls: forceStopped, deadlineExceeded, within 2 s',
    over: { store: stores },
    run: (stage) =>
      keepsTime(endsWithinMs, 'a shutdown with held calls', async (round) => {
        const host = await stage.server(`host-${round}`);
        const far = await stage.server(`far-${round}`);
        const caller = await stage.start(`caller-${round}`, [
          { role: 'client', connect: stage.isDiscovering ? [] : [host.endpoint, far.endpoint] },
        ]);
        await caller.ask('servers.ready', 2);
        const held = caller.ask('calls.burst', { ...stage.toServers, payload: { act: 'hold' } }, 4);
        await Promise.all([host.seen(2, 'begun'), far.seen(2, 'begun')]);
        const end = await host.shutdown({ deadlineMs });
        assert.ok(end.ok);
        assert.deepEqual([end.result, end.state], [{ outcome: 'forceStopped', reason: 'deadlineExceeded' }, 'stopped']);
        assert.ok(end.ms >= deadlineMs - 20, `it took ${end.ms} ms`);
        await host.seen(2, 'aborted');
        await far.ask('handlers.release');
        const { ends } = await held;
        assert.equal(ends['ok'], 2);
        assert.equal((ends['Unavailable'] ?? 0) + (ends['ShuttingDown'] ?? 0), 2, JSON.stringify(ends));
        assert.ok((await far.shutdown()).ok);
        return end.ms;
      }),
  },
  {
    ids: ['DRAIN-006', 'CALL-005', 'CALL-004'],
    title: 'calls that a host waits for when its time is over end as ShuttingDown',
    run: async (stage) => {
      const far = await stage.server('far');
      const host = await stage.start('host', [
        { role: 'server', channel: 'near' },
        { role: 'client', connect: [far.endpoint] },
      ]);
      await host.ask('servers.ready', 1);
      const pending = await host.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await far.seen(1, 'begun');
      const end = await host.shutdown({ deadlineMs: 300 });
      assert.ok(end.ok);
      const ended = await pending.end;
      assert.ok(!ended.ok);
      assert.deepEqual([ended.error.kind, ended.error.submitted], ['ShuttingDown', true]);
    },
  },
  {
    ids: ['DRAIN-002', 'CHAN-005', 'HOST-007'],
    title: 'accepted handlers still call others while their host drains, with their signal; others do not',
    run: async (stage) => {
      const far = await stage.server('far');
      const host = await stage.start('host', [
        { role: 'server', channel: 'near' },
        { role: 'client', connect: [far.endpoint] },
      ]);
      const client = await stage.start('client', [
        { role: 'client', channel: 'near', connect: [host.facts.listeners[0]?.endpoint ?? ''] },
      ]);
      await Promise.all([host.ask('servers.ready', 1), client.ask('servers.ready', 1, 'near')]);
      const text = JSON.stringify(stage.toServers);
      const begin = (act: 'lateRelay' | 'bareRelay') =>
        client.begin({ to: { channel: 'near' }, payload: { act, text } });
      const [own, bare] = [await begin('lateRelay'), await begin('bareRelay')];
      await host.seen(2, 'begun');
      const ending = host.shutdown();
      await host.refusal(stage.toServers, 'ShuttingDown');
      assert.equal(await host.ask('handlers.release'), 2);
      const [ownEnd, bareEnd] = [await own.end, await bare.end];
      assert.ok(ownEnd.ok && ownEnd.reply?.text === 'far', 'a call with the signal of its handler is answered');
      assert.ok(!bareEnd.ok && bareEnd.error.kind === 'ShuttingDown', 'one without is not made');
      const end = await ending;
      assert.ok(end.ok && end.result.outcome === 'stopped');
    },
  },
  {
    ids: ['DRAIN-003', 'LOC-050', 'DRAIN-002'],
    title: 'lease and records live until accepted work has ended, however long that takes',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const server = await stage.redis();
      const setup = { store: redisStore(stage, server), options: { location: shortLease } };
      const host = await stage.server('host', {}, setup);
      const caller = await stage.start('caller', [{ role: 'client' }], setup);
      await caller.ask('servers.ready', 1);
      const held = await caller.begin({ ...stage.toServers, timeoutMs: 100_000, payload: { act: 'hold' } });
      await host.seen(1, 'begun');
      const ending = host.shutdown({ deadlineMs: 90_000 });
      await caller.servers(([row]) => row?.draining === true, 'sees that it drains');
      const recordOf = async (kind: string) => (await server.command(`KEYS {${stage.namespace}}:L:r:${kind}/*`)).match(/L:r:[^\r\n]+/g) ?? []; // prettier-ignore
      const [descriptor = ''] = await recordOf('d');
      assert.match(await server.command(`HGET {${stage.namespace}}:${descriptor} v`), /draining/);
      const seenAtMs = performance.now();
      // Two leases there all the while: that of the caller, and that of the host that ends.
      while (performance.now() - seenAtMs < shortLease.ownerLeaseTtlMs + 1_000) {
        assert.equal((await recordOf('l')).length, 2);
        await caller.ask('servers.list');
      }
      await host.ask('handlers.release');
      assert.ok((await held.end).ok);
      const end = await ending;
      assert.ok(end.ok && end.result.outcome === 'stopped');
      assert.equal((await recordOf('l')).length, 1);
      assert.deepEqual(await recordOf('d'), []);
    },
  },
  {
    ids: ['DRAIN-007', 'DRAIN-005', 'C25'],
    title:
      'all callers of a shutdown share its result; a signal ends the waiting alone; a host that never started is stopped',
    run: async (stage) => {
      const never = await stage.describe('never', [{ role: 'server' }]);
      await never.ask('host.describe');
      const unstarted = await never.shutdown();
      assert.ok(unstarted.ok);
      assert.deepEqual([unstarted.result, unstarted.state], [{ outcome: 'stopped', reason: 'none' }, 'stopped']);

      const host = await stage.server('host');
      const client = await stage.client([host]);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await host.seen(1, 'begun');
      for (const deadlineMs of [0, 1.5, 2_147_483_648]) {
        const bad = await host.shutdown({ deadlineMs });
        assert.ok(!bad.ok && bad.error.kind === 'InvalidOperation');
      }
      assert.equal(await host.ask('running.state'), 'serving');
      const endings = [host.shutdown({ deadlineMs: 60_000 }), host.shutdown({ deadlineMs: 1 }), host.shutdown()];
      const aborted = await host.shutdown({ abortAfterMs: 50 });
      assert.ok(!aborted.ok && aborted.error.name === 'TimeoutError');
      assert.equal(await host.ask('running.state'), 'draining');
      await host.ask('handlers.release');
      assert.ok((await held.end).ok);
      for (const ending of endings) {
        const end = await ending;
        assert.ok(end.ok);
        assert.deepEqual(end.result, { outcome: 'stopped', reason: 'none' });
      }
      const after = await host.shutdown();
      assert.ok(after.ok && after.result.outcome === 'stopped');
    },
  },
  {
    ids: ['DRAIN-006', 'SVC-001', 'HOST-006'],
    title: 'a service that does not stop cannot hold a shutdown up beyond its bound',
    run: (stage) =>
      keepsTime(endsWithinMs, 'a shutdown with a service that does not stop', async (round) => {
        const service = { role: 'service', name: 'stuck', holds: 'stop' } as const;
        const host = await stage.start(`host-${round}`, [{ role: 'server' }, service]);
        const end = await host.shutdown({ deadlineMs });
        assert.ok(end.ok);
        assert.equal(end.result.outcome, 'forceStopped');
        assert.equal(end.state, 'stopped');
        return end.ms;
      }),
  },
  {
    ids: ['DRAIN-007', 'CORE-011', 'C25'],
    title: 'nothing of a host keeps its process: after a start, calls, lost peers and an end it ends by itself',
    over: { store: ['manual', 'redis'], security: securities },
    run: async (stage) => {
      const host = await stage.start('host', [
        { role: 'server' },
        { role: 'client', connect: stage.isDiscovering ? [] : ['tcp://127.0.0.1:1'] },
        nodePlan(stage, 'host', [], stage.isDiscovering ? {} : { connect: ['tcp://127.0.0.1:1'] }),
        { role: 'publisher' },
        { role: 'subscriber', channel: 'other', ...(stage.isDiscovering ? {} : { connect: ['tcp://127.0.0.1:1'] }) },
      ]);
      await host.ask('servers.ready', 1);
      const peer = await stage.node('peer', [host]);
      await peer.reply({ to: { rid: host.meshRid } });
      await peer.process.kill();
      await host.ask('calls.burst', stage.toServers, 200);
      assert.ok((await host.shutdown()).ok);
      host.process.part();
      await host.process.ended; // within the time of the scenario
      assert.equal(host.process.unexpectedEnd, undefined);
    },
  },
  {
    ids: ['FAIL-003', 'HOST-007', 'FAIL-014'],
    title: 'peers that come and go change nothing of a host’s own state, work and other peers',
    over: { store: ['manual', 'redis'] },
    run: async (stage) => {
      const sound = await stage.server('sound');
      const client = await stage.client([sound]);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await sound.seen(1, 'begun');
      for (let round = 0; round < 3; round++) {
        const passing = await stage.client([sound]);
        const going = passing
          .ask('calls.burst', { ...stage.toServers, payload: { act: 'hold' } }, 20)
          .catch(() => undefined);
        await sound.counted(CHANNEL, 'request', ({ running }) => running === 21, 'runs all of it');
        await passing.process.kill();
        await going;
        await sound.counted(CHANNEL, 'request', ({ running }) => running === 1, 'has given up what nobody waits for');
      }
      assert.equal(await sound.ask('running.state'), 'serving');
      assert.equal(await sound.ask('handlers.release'), 1);
      assert.ok((await held.end).ok);
    },
  },
];
