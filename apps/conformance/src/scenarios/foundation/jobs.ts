/** JOBQ: permits, flow and fairness, as far as a host shows them. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { CHANNEL, MESH_CHANNEL } from '../../contracts.ts';
import type { CallPlan } from '../../roles/plan.ts';
import { eventually } from '../../runner/eventually.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

export const jobs: readonly Scenario[] = [
  {
    ids: ['JOBQ-001', 'JOBQ-003'],
    title: 'the figure of waiting jobs is that of the profile for each processor, or the one that was set',
    run: async (stage) => {
      const first = await stage.describe('first', []);
      const figures: number[] = [];
      for (const applicationJobQueueProfile of ['compact', 'lowLatency', 'balanced', 'throughput'] as const) {
        const options = { inboundDispatch: { applicationJobQueueProfile } };
        const host = await stage.describeIn(first.process, { name: applicationJobQueueProfile, parts: [], options });
        assert.ok((await host.tryStart()).ok);
        figures.push(host.facts.maxJobs);
        assert.equal((await host.ask('running.inbound')).max, host.facts.maxJobs);
        await host.shutdown();
      }
      const [compact = 0] = figures;
      assert.deepEqual(figures, [compact, compact * 2, compact * 4, compact * 8]);
      const processors = compact / 32;
      assert.ok(
        Number.isInteger(processors) && processors >= 1 && processors <= availableParallelism(),
        `${processors}`,
      );
      const options = { inboundDispatch: { maxQueuedApplicationJobs: 7 } };
      const own = await stage.describeIn(first.process, { name: 'own', parts: [], options });
      assert.ok((await own.tryStart()).ok);
      assert.equal(own.facts.maxJobs, 7);
    },
  },
  {
    ids: ['JOBQ-004', 'JOBQ-005', 'CORE-006'],
    title: 'out of permits intake waits and receiving pauses; nothing is dropped, and it resumes by itself',
    run: async (stage) => {
      const options = { inboundDispatch: { maxQueuedApplicationJobs: 5 } };
      const server = await stage.server('server', { concurrency: 1 }, { options });
      const client = await stage.client([server]);
      const burst = client.ask('calls.burst', { ...stage.toServers, payload: { mark: 'm', act: 'hold' } }, 40);
      await server.seen(1, 'begun');
      const flow = async () => (await server.ask('running.inbound')).flow;
      await eventually(async () => (await flow()) === 'PAUSED', 'receiving pauses');
      const { permitsInUse, max } = await server.ask('running.inbound');
      assert.deepEqual([permitsInUse, max], [5, 5]);
      let released = 0;
      while (released < 40) {
        await server.seen(released + 1, 'begun');
        released += await server.ask('handlers.release');
      }
      assert.deepEqual((await burst).ends, { ok: 40 });
      await eventually(async () => (await flow()) === 'RUNNING', 'receiving goes on');
      assert.equal((await server.ask('running.inbound')).permitsInUse, 0);
      const journal = await server.ask('handlers.journal');
      assert.deepEqual(
        journal.filter(({ what }) => what === 'begun').map(({ mark }) => mark),
        Array.from({ length: 40 }, (_, number) => `m-${number}`),
      );
    },
  },
  {
    ids: ['JOBQ-005', 'CORE-004'],
    title: 'a receiver that takes no more makes its senders wait, and all of it arrives when it goes on',
    run: async (stage) => {
      const options = { inboundDispatch: { maxQueuedApplicationJobs: 2, coreHwmBudgetBytes: 65_536 } };
      const server = await stage.server('server', { concurrency: 1 }, { options });
      const client = await stage.client([server], { sendTimeoutMs: 3_000 });
      const held = await client.begin({ ...stage.toServers, payload: { mark: 'held', act: 'hold' } });
      await server.seen(1, 'begun');
      const text = 'x'.repeat(2_000);
      const { ends } = await client.ask('calls.burst', { ...stage.toServers, verb: 'send', payload: { text } }, 500);
      const accepted = ends['ok'] ?? 0;
      assert.ok(accepted > 10 && accepted < 100, `${accepted} of 2,000 bytes fit a window of 64 KiB`);
      assert.equal(ends['DeadlineExceeded'], 500 - accepted);
      assert.equal(await server.ask('handlers.release'), 1);
      assert.ok((await held.end).ok);
      await server.counted(CHANNEL, 'send', ({ handled }) => handled === accepted, 'handles what was accepted');
      await client.reply(stage.toServers);
      assert.equal((await server.counters(CHANNEL, 'send')).accepted, accepted, 'and nothing of the rest');
    },
  },
  {
    ids: ['JOBQ-004', 'JOBQ-008'],
    title: 'a running handler holds neither permit nor window',
    run: async (stage) => {
      const options = { inboundDispatch: { maxQueuedApplicationJobs: 2, coreHwmBudgetBytes: 65_536 } };
      const server = await stage.server('server', { concurrency: 1_000 }, { options });
      const client = await stage.client([server], { sendTimeoutMs: 20_000 });
      const text = 'x'.repeat(2_000);
      const burst = client.ask('calls.burst', { ...stage.toServers, payload: { act: 'hold', text } }, 200);
      await server.seen(200, 'begun'); // far more bytes than the window, far more jobs than permits
      assert.equal((await server.ask('running.inbound')).permitsInUse, 0);
      assert.equal(await server.ask('handlers.release'), 200);
      assert.deepEqual((await burst).ends, { ok: 200 });
    },
  },
  {
    ids: ['JOBQ-007', 'JOBQ-006'],
    title: 'one owner’s flood does not keep another owner of the host waiting',
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server', concurrency: 1 }, nodePlan(stage, 'host')]);
      await host.ask('handlers.quieten');
      const client = await stage.start('client', [
        { role: 'client', connect: [host.endpoint] },
        nodePlan(stage, 'client', [host], { channels: [{}] }),
      ]);
      await Promise.all([client.ask('servers.ready', 1), client.ask('peers.ready', 1)]);
      const flood = client.ask('calls.burst', { to: { channel: CHANNEL }, payload: { act: 'spin', text: '10' } }, 400);
      await host.counted(CHANNEL, 'request', ({ handled }) => handled > 10, 'the flood runs');
      await client.reply({ to: { channel: MESH_CHANNEL } });
      const { handled } = await host.counters(CHANNEL, 'request');
      assert.ok(handled < 400, `the other owner was answered after ${handled} of 400`);
      assert.deepEqual((await flood).ends, { ok: 400 });
    },
  },
  {
    ids: ['JOBQ-009', 'CORE-005'],
    title: 'a started mesh request ends although both hosts are out of permits',
    run: async (stage) => {
      const options = { inboundDispatch: { maxQueuedApplicationJobs: 1 } };
      const a = await stage.node('a', [], { concurrency: 1 }, { options });
      const b = await stage.node('b', [a], { concurrency: 1 }, { options });
      const hold = (rid: string): CallPlan => ({ to: { rid }, payload: { mark: 'held', act: 'hold' } });
      const begun = [await a.begin(hold('b')), await b.begin(hold('a'))];
      await Promise.all([a.seen(1, 'begun'), b.seen(1, 'begun')]);
      const floods = [a.ask('calls.burst', { to: { rid: 'b' } }, 20), b.ask('calls.burst', { to: { rid: 'a' } }, 20)];
      for (const host of [a, b]) {
        await eventually(async () => (await host.ask('running.inbound')).permitsInUse === 1, 'all permits are in use');
      }
      await Promise.all([a.ask('handlers.release'), b.ask('handlers.release')]);
      for (const { end } of begun) assert.ok((await end).ok);
      for (const flood of floods) assert.deepEqual((await flood).ends, { ok: 20 });
    },
  },
  {
    ids: ['JOBQ-010', 'CS-003', 'CORE-007', 'CORE-004'],
    title: 'the size limit of a message is independent of budget, window and queue',
    run: async (stage) => {
      const inboundDispatch = {
        coreHwmBudgetBytes: 1,
        coreHwmProfile: 'compact',
        maxQueuedApplicationJobs: 1,
      } as const;
      const server = await stage.server('server', { maxMessageSize: 1_000_000 }, { options: { inboundDispatch } });
      const client = await stage.client([server]);
      const text = 'x'.repeat(900_000);
      assert.equal((await client.reply({ ...stage.toServers, payload: { text } })).text.length, 900_000);
      const error = await client.refusal(
        { ...stage.toServers, payload: { text: 'x'.repeat(1_000_000) } },
        'InvalidOperation',
      );
      assert.equal(error.submitted, false);
      assert.match(error.message, /1000000/);
      assert.equal((await server.counters(CHANNEL, 'request')).accepted, 1);
    },
  },
  {
    ids: ['JOBQ-010'],
    title: 'a mesh has no size limit of its own',
    run: async (stage) => {
      const server = await stage.node('server');
      const client = await stage.node('client', [server], { channels: [{}] });
      const text = 'x'.repeat(20_000_000);
      assert.equal((await client.reply({ to: { rid: 'server' }, payload: { text } })).text.length, 20_000_000);
    },
  },
];
