/** MON-010 to MON-013: who observes a host, and how slowly. */
import assert from 'node:assert/strict';
import type { Scenario } from '../../scenario.ts';

const changes = 10_000;
const kept = 1_024;

export const observing: readonly Scenario[] = [
  {
    ids: ['MON-010', 'MON-011', 'MON-012', 'MON-013'],
    title:
      'observers that leave 10,000 changes unread get the newest state and a count of the rest; calls go on as before',
    run: async (stage) => {
      const host = await stage.server('host');
      const client = await stage.client([host]);
      await host.ask('handlers.quieten');
      /** What the changes, and calls beside them, take of the host. */
      const load = async (): Promise<{ readonly heldBytes: number; readonly cpuMs: number }> => {
        const before = await host.ask('process.use');
        const changing = host.ask('servers.churn', changes);
        const { ends } = await client.ask('calls.burst', stage.toServers, 2_000);
        assert.deepEqual(ends, { ok: 2_000 });
        await changing;
        const after = await host.ask('process.use');
        return { heldBytes: after.heldBytes - before.heldBytes, cpuMs: after.cpuMs - before.cpuMs };
      };
      await load(); // compiles what it takes
      const alone = await load();
      await host.ask('observing.watch', 'snapshots', 'snapshots');
      await host.ask('observing.watch', 'events', 'events');
      await host.ask('observing.read', 'snapshots', 1);
      const { cpuMs, heldBytes } = await load();
      assert.ok(
        cpuMs < Math.max(4 * alone.cpuMs, 500),
        `it took ${cpuMs} ms of processors, and ${alone.cpuMs} ms without observers`,
      );
      assert.ok(heldBytes < 4_000_000, `${heldBytes} more bytes are held`); // 10,000 events take more

      const [newest] = await host.ask('observing.read', 'snapshots', 1);
      assert.equal(newest?.snapshot?.clientServerChannels[0]?.servers[0]?.weight, (changes % 1_000) + 1);
      assert.ok((newest.loss.coalesced ?? 0n) > 5_000n, `${newest.loss.coalesced} snapshots were left out`);
      const [oldest, ...others] = await host.ask('observing.read', 'events', kept);
      assert.equal(oldest?.loss.discarded, BigInt(changes - kept));
      assert.equal(others.length, kept - 1);
      const weights = [oldest, ...others].map(({ event }) => (event && 'server' in event ? event.server.weight : 0));
      assert.deepEqual(
        weights,
        Array.from({ length: kept }, (_, at) => ((changes - kept + 1 + at) % 1_000) + 1),
      );

      await host.ask('observing.watch', 'later', 'events'); // counts from 0
      await host.ask('servers.churn', 3);
      const [first] = await host.ask('observing.read', 'later', 1);
      assert.equal(first?.loss.discarded, 0n);
    },
  },
  {
    ids: ['MON-010', 'MON-012'],
    title: 'the last snapshot, with the result of the shutdown, reaches all observers and ends their iterations',
    run: async (stage) => {
      const host = await stage.server('host');
      await host.ask('observing.watch', 'idle', 'snapshots');
      await host.ask('observing.watch', 'first read later', 'snapshots');
      const [before] = await host.ask('observing.read', 'idle', 1);
      assert.equal(before?.snapshot?.host.state, 'serving');
      const end = await host.shutdown();
      assert.ok(end.ok);
      for (const id of ['idle', 'first read later']) {
        const rest = await host.ask('observing.read', id, 10); // fewer: the iteration ends
        const last = rest.at(-1)?.snapshot?.host;
        assert.deepEqual([last?.state, last?.shutdownResult], ['stopped', end.result], id);
        assert.ok(rest.length < 10);
      }
    },
  },
  {
    ids: ['MON-012', 'MON-013'],
    title: 'observers that give up, return or throw end alone, and no one else notices',
    run: async (stage) => {
      const host = await stage.server('host');
      const client = await stage.client([host]);
      for (const id of ['aborted', 'returned', 'thrown', 'staying']) await host.ask('observing.watch', id, 'events');
      const reading = host.ask('observing.read', 'aborted', 1);
      await host.ask('observing.unwatch', 'aborted', 'signal');
      assert.deepEqual(await reading, []);
      await host.ask('observing.unwatch', 'returned', 'return');
      assert.deepEqual(await host.ask('observing.read', 'returned', 1), []);
      const throwing = host.ask('observing.unwatch', 'thrown', 'throw');
      await host.ask('servers.churn', 5);
      await throwing;
      const items = await host.ask('observing.read', 'staying', 5);
      const weights = items.map(({ event }) => (event && 'server' in event ? event.server.weight : 0));
      assert.deepEqual(weights, [2, 3, 4, 5, 6]);
      await client.reply(stage.toServers);
      assert.deepEqual(await host.ask('running.unhandled'), []);
    },
  },
];
