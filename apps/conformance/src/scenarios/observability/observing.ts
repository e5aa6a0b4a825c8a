/** MON-010 to MON-013: who observes a host, and how slowly. */
import assert from 'node:assert/strict';
import type { Scenario } from '../../scenario.ts';

const changes = 10_000;
const kept = 1_024;

export const observing: readonly Scenario[] = [
  {
    ids: ['MON-010', 'MON-011', 'MON-012', 'MON-013'],
    title: 'observers that leave 10,000 changes unread get the newest state and a count of the rest; calls go on',
    run: async (stage) => {
      const host = await stage.server('host');
      const client = await stage.client([host]);
      await host.ask('quieten');
      await host.ask('watch', 'snapshots', 'snapshots');
      await host.ask('watch', 'events', 'events');
      await host.ask('read', 'snapshots', 1);
      const before = await host.ask('memory');
      const changing = host.ask('churn', changes);
      assert.deepEqual((await client.ask('burst', stage.toServers, 500)).ends, { ok: 500 });
      await changing;
      const { rssBytes } = await host.ask('memory');
      assert.ok(rssBytes - before.rssBytes < 100_000_000, `memory has grown by ${rssBytes - before.rssBytes} bytes`);

      const [newest] = await host.ask('read', 'snapshots', 1);
      assert.equal(newest?.snapshot?.clientServerChannels[0]?.servers[0]?.weight, (changes % 1_000) + 1);
      assert.ok((newest.loss.coalesced ?? 0n) > 5_000n, `${newest.loss.coalesced} snapshots were left out`);
      const [oldest, ...others] = await host.ask('read', 'events', kept);
      assert.equal(oldest?.loss.discarded, BigInt(changes - kept));
      assert.equal(others.length, kept - 1);
      const weights = [oldest, ...others].map(({ event }) => (event && 'server' in event ? event.server.weight : 0));
      assert.deepEqual(
        weights,
        Array.from({ length: kept }, (_, at) => ((changes - kept + 1 + at) % 1_000) + 1),
      );

      await host.ask('watch', 'later', 'events'); // counts from 0
      await host.ask('churn', 3);
      const [first] = await host.ask('read', 'later', 1);
      assert.equal(first?.loss.discarded, 0n);
    },
  },
  {
    ids: ['MON-010', 'MON-012'],
    title: 'the last snapshot, with the result of the shutdown, reaches all observers and ends their iterations',
    run: async (stage) => {
      const host = await stage.server('host');
      await host.ask('watch', 'idle', 'snapshots');
      await host.ask('watch', 'first read later', 'snapshots');
      const [before] = await host.ask('read', 'idle', 1);
      assert.equal(before?.snapshot?.host.state, 'serving');
      const end = await host.shutdown();
      assert.ok(end.ok);
      for (const id of ['idle', 'first read later']) {
        const rest = await host.ask('read', id, 10); // fewer: the iteration ends
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
      for (const id of ['aborted', 'returned', 'thrown', 'staying']) await host.ask('watch', id, 'events');
      const reading = host.ask('read', 'aborted', 1);
      await host.ask('unwatch', 'aborted', 'signal');
      assert.deepEqual(await reading, []);
      await host.ask('unwatch', 'returned', 'return');
      assert.deepEqual(await host.ask('read', 'returned', 1), []);
      const throwing = host.ask('unwatch', 'thrown', 'throw');
      await host.ask('churn', 5);
      await throwing;
      const items = await host.ask('read', 'staying', 5);
      const weights = items.map(({ event }) => (event && 'server' in event ? event.server.weight : 0));
      assert.deepEqual(weights, [2, 3, 4, 5, 6]);
      await client.reply(stage.toServers);
      assert.deepEqual(await host.ask('unhandled'), []);
    },
  },
];
