/** FAN: events, and who hears them. */
import assert from 'node:assert/strict';
import { FEED } from '../../contracts.ts';
import { codecs, securities, stores } from '../../matrix.ts';
import { eventually } from '../../runner/eventually.ts';
import type { Scenario } from '../../scenario.ts';

export const fanout: readonly Scenario[] = [
  {
    ids: ['FAN-001', 'FAN-002', 'FAN-003', 'FAN-006', 'MSG-006'],
    title: 'every connected subscriber hears each event once, in order, with its topic',
    over: { store: stores, codec: codecs, security: securities },
    run: async (stage) => {
      const publisher = await stage.publisher();
      const subscribers = [
        await stage.subscriber('one', [publisher]),
        await stage.subscriber('two', [publisher], { handlers: 2 }),
      ];
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 2)).ok);
      assert.ok((await publisher.ask('feeds.publishMany', FEED, { topic: 'scores' }, 200, true)).ok);
      assert.ok((await publisher.ask('feeds.publish', FEED, { payload: { mark: 'last' } })).ok);
      for (const [at, subscriber] of subscribers.entries()) {
        const handlers = at + 1;
        const journal = await subscriber.seen(201 * handlers, 'begun');
        const first = journal.filter(({ what, owner }) => what === 'begun' && owner === 'subscriber');
        assert.deepEqual(
          first.map(({ mark }) => mark),
          [...Array.from({ length: 200 }, (_, number) => String(number)), 'last'],
        );
        assert.deepEqual(
          [first[0]?.context?.topicText, first.at(-1)?.context?.topicText],
          ['scores', 'conformance.tick'],
        );
        assert.equal(first[0]?.context?.channelName, FEED);
        assert.deepEqual(first[0]?.context?.keys, [
          'channelName',
          'flow',
          'packetName',
          'signal',
          'topic',
          'topicText',
        ]);
        const [row] = await subscriber.ask('feeds.publishers');
        assert.equal(row?.missedEvents, 0);
        await subscriber.counted(FEED, 'send', ({ handled }) => handled === 201 * handlers, 'handles all');
      }
    },
  },
  {
    ids: ['FAN-002', 'C08'],
    title: 'a publish resolves without any subscriber, and what was published before is never heard',
    run: async (stage) => {
      const publisher = await stage.publisher();
      const end = await publisher.ask('feeds.publishMany', FEED, {}, 20);
      assert.ok(end.ok && end.reply === undefined);
      const subscriber = await stage.subscriber('late', [publisher]);
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 1)).ok);
      assert.ok((await publisher.ask('feeds.publish', FEED, { payload: { mark: 'heard' } })).ok);
      const journal = await subscriber.seen(1, 'begun');
      assert.equal(journal[0]?.mark, 'heard');
      const [row] = await subscriber.ask('feeds.publishers');
      assert.deepEqual([row?.missedEvents, row?.firstEvent], [0, 21]);
      const never = await publisher.ask('feeds.subscribersReady', FEED, 2, 200);
      assert.ok(!never.ok, 'a second subscriber does not come');
    },
  },
  {
    ids: ['FAN-002', 'LIVE-003', 'CALL-005'],
    title: 'the topic of the beacon is refused, its neighbours are fine; other mistakes have their kinds',
    run: async (stage) => {
      const publisher = await stage.publisher();
      const subscriber = await stage.start('subscriber', [
        { role: 'subscriber', connect: [publisher.feedEndpoint] },
        { role: 'client', connect: ['tcp://127.0.0.1:1'] },
      ]);
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 1)).ok);
      const reserved = [0x01, 0x5a, 0x4c, 0x46, 0x31];
      const kindOf = async (topic: string | Uint8Array) => {
        const end = await publisher.ask('feeds.publish', FEED, { topic });
        return end.ok ? 'ok' : end.error.kind;
      };
      assert.equal(await kindOf(Uint8Array.from(reserved)), 'InvalidOperation');
      assert.equal(await kindOf(String.fromCharCode(...reserved)), 'InvalidOperation');
      const neighbours = [
        reserved.slice(0, 4),
        [...reserved, 0],
        [...reserved.slice(0, 4), 0x32],
        [0, ...reserved.slice(1)],
      ];
      for (const topic of neighbours) assert.equal(await kindOf(Uint8Array.from(topic)), 'ok');
      const journal = (await subscriber.seen(4, 'begun')).filter(({ what }) => what === 'begun');
      assert.deepEqual(
        journal.map(({ context }) => [...(context?.topic ?? [])]),
        neighbours,
      );
      assert.equal(await kindOf('x'.repeat(255)), 'ok');
      assert.equal(await kindOf('x'.repeat(256)), 'InvalidOperation');
      const unknown = await publisher.ask('feeds.publish', 'nowhere', {});
      assert.ok(!unknown.ok && unknown.error.kind === 'NotFound');
      const none = await subscriber.ask('feeds.publish', FEED, {});
      assert.ok(!none.ok && none.error.kind === 'NotConfigured');
    },
  },
  {
    ids: ['FAN-003', 'DISP-004', 'DISP-009'],
    title: 'handlers of one event are apart: a throw of one is no other’s; an event without handler is recorded',
    run: async (stage) => {
      const publisher = await stage.publisher();
      const subscriber = await stage.subscriber('subscriber', [publisher], { handlers: 3 });
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 1)).ok);
      assert.ok((await publisher.ask('feeds.publish', FEED, { payload: { mark: 'bad', act: 'throw', text: 'x' } })).ok);
      assert.ok((await publisher.ask('feeds.publish', FEED, { packet: 'note' })).ok);
      assert.ok((await publisher.ask('feeds.publish', FEED, { payload: { mark: 'good' } })).ok);
      await subscriber.seen(3, 'ended');
      await subscriber.counted(
        FEED,
        'send',
        ({ failed, handled }) => failed === 3 && handled === 3,
        'counts by handler',
      );
      const { dropped } = await subscriber.counters(FEED, 'send');
      assert.equal(dropped['no_handler'], 1);
      await subscriber.logged('zlink.dispatch_error');
    },
  },
  {
    ids: ['FAN-004', 'CORE-016', 'C05'],
    title: 'a subscriber that stands still loses events and counts them; the publisher and the others are not held up',
    isAlone: true,
    run: async (stage) => {
      const publisher = await stage.publisher();
      const slow = await stage.subscriber('slow', [publisher]);
      const quick = await stage.subscriber('quick', [publisher]);
      await Promise.all([slow.ask('handlers.quieten'), quick.ask('handlers.quieten')]);
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 2)).ok);
      assert.ok((await publisher.ask('feeds.publish', FEED, {})).ok);
      const handled = (count: number) => (row: { handled: number }) => row.handled === count;
      await Promise.all([slow.counted(FEED, 'send', handled(1), 'has the first'), quick.counted(FEED, 'send', handled(1), 'has the first')]); // prettier-ignore
      const before = await publisher.ask('process.memory');
      slow.process.signal('SIGSTOP');
      const count = 12_000;
      const eventBytes = 20_000;
      try {
        // Each in a message of its own: far more than mark and sockets hold. Never more at a time than the mark.
        const plan = { payload: { text: 'x'.repeat(eventBytes) } };
        for (let published = 0; published < count;) {
          const end = await publisher.ask('feeds.publishMany', FEED, plan, 400);
          assert.ok(end.ok, 'every publish has resolved');
          published += 400;
          await quick.counted(FEED, 'send', handled(1 + published), 'hears all of it');
        }
        const { rssBytes } = await publisher.ask('process.memory');
        const grownBytes = rssBytes - before.rssBytes;
        assert.ok(grownBytes < (count * eventBytes) / 2, `memory has grown by ${grownBytes} bytes`);
      } finally {
        slow.process.signal('SIGCONT');
      }
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 2)).ok);
      await eventually(async () => {
        await publisher.ask('feeds.publish', FEED, {});
        const [row] = await slow.ask('feeds.publishers');
        return (row?.missedEvents ?? 0) > 0;
      }, 'the slow one sees what it has missed');
      const [row] = await slow.ask('feeds.publishers');
      const heard = (await slow.counters(FEED, 'send')).accepted;
      assert.ok((row?.missedEvents ?? 0) + heard >= count, `${row?.missedEvents} missed and ${heard} heard`);
    },
  },
  {
    ids: ['FAN-001', 'FAN-005'],
    title: 'manual connections change at run time, and each publisher is heard by itself',
    run: async (stage) => {
      const one = await stage.publisher('one');
      const two = await stage.publisher('two');
      const subscriber = await stage.subscriber('subscriber', [one]);
      await subscriber.ask('feeds.connect', two.feedEndpoint);
      assert.deepEqual(await subscriber.ask('feeds.connections'), [one.feedEndpoint, two.feedEndpoint]);
      for (const publisher of [one, two]) {
        assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 1)).ok);
        assert.ok((await publisher.ask('feeds.publish', FEED, { payload: { mark: publisher.name } })).ok);
      }
      const journal = await subscriber.seen(2, 'begun');
      assert.deepEqual(journal.filter(({ what }) => what === 'begun').map(({ mark }) => mark).sort(), ['one', 'two']); // prettier-ignore
      await one.process.kill();
      await two.ask('feeds.publish', FEED, { payload: { mark: 'three' } });
      await subscriber.seen(3, 'begun');
      await subscriber.ask('feeds.disconnect', two.feedEndpoint);
      assert.deepEqual(await subscriber.ask('feeds.connections'), [one.feedEndpoint]);
      assert.equal((await subscriber.ask('feeds.publishers')).length, 1);
    },
  },
  {
    ids: ['FAN-005', 'FAN-001', 'LOC-055'],
    title: 'publishers that come are found, and those that leave are not looked for any more',
    over: { store: ['memory', 'redis'], security: securities },
    run: async (stage) => {
      const subscriber = await stage.subscriber('subscriber', []);
      const first = await stage.publisher('first');
      assert.ok((await first.ask('feeds.subscribersReady', FEED, 1)).ok);
      assert.ok((await first.ask('feeds.publish', FEED, { payload: { mark: 'one' } })).ok);
      await subscriber.seen(1, 'begun');
      const second = await stage.publisher('second');
      assert.ok((await second.ask('feeds.subscribersReady', FEED, 1)).ok);
      assert.ok((await first.shutdown()).ok);
      await subscriber.publishers((rows) => rows.length === 1, 'has one publisher left');
      assert.ok((await second.ask('feeds.publish', FEED, { payload: { mark: 'two' } })).ok);
      await subscriber.seen(2, 'begun');
    },
  },
  {
    ids: ['FAN-004', 'FAN-002'],
    title: 'a publisher that restarts begins to count anew, and nothing counts as missed',
    run: async (stage) => {
      const first = await stage.publisher('first');
      const proxy = await stage.proxy(first.feedEndpoint); // the address that stays
      const subscriber = await stage.subscriber('subscriber', [first], { connect: [proxy.address] });
      assert.ok((await first.ask('feeds.subscribersReady', FEED, 1)).ok);
      assert.ok((await first.ask('feeds.publishMany', FEED, {}, 5)).ok);
      await subscriber.seen(5, 'begun');
      await first.process.kill();
      const second = await stage.publisher('second');
      proxy.leadTo(second.feedEndpoint);
      assert.ok((await second.ask('feeds.subscribersReady', FEED, 1)).ok);
      assert.ok((await second.ask('feeds.publish', FEED, { payload: { mark: 'anew' } })).ok);
      await subscriber.seen(6, 'begun');
      const [row] = await subscriber.ask('feeds.publishers');
      assert.deepEqual([row?.missedEvents, row?.firstEvent], [0, 1]);
    },
  },
  {
    ids: ['FAN-002', 'FAN-006', 'CORE-016'],
    title: 'events of every size up to 16 MiB arrive whole; one above is refused',
    over: { security: securities },
    run: async (stage) => {
      const publisher = await stage.publisher();
      const subscriber = await stage.subscriber('subscriber', [publisher]);
      assert.ok((await publisher.ask('feeds.subscribersReady', FEED, 1)).ok);
      const sizes = [0, 1_000, 65_000, 65_536, 70_000, 1_000_000, 16_000_000];
      for (const [at, size] of sizes.entries()) {
        assert.ok((await publisher.ask('feeds.publish', FEED, { payload: { text: 'x'.repeat(size) } })).ok);
        const journal = (await subscriber.seen(at + 1, 'begun')).filter(({ what }) => what === 'begun');
        assert.equal(journal.at(-1)?.text.length, size);
      }
      const over = await publisher.ask('feeds.publish', FEED, { payload: { text: 'x'.repeat(17_000_000) } });
      assert.ok(!over.ok && over.error.kind === 'InvalidOperation');
    },
  },
];
