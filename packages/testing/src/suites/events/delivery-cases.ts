/** What reaches whom: order, wholeness, everyone who was counted, nobody else. */
import assert from 'node:assert/strict';
import { EVENT_FRAME_BYTES } from '@zlink/kernel/internal/wire';
import type { EventCase } from './event-rig.ts';
import { numbered, numberedInParts, upTo } from './numbered.ts';

const ROUNDS = 50;

export const deliveryCases: readonly EventCase[] = [
  {
    title: '[FAN-004] everything below the mark reaches every subscriber once, whole and in order',
    async act(rig) {
      const publisher = await rig.publisher();
      const subscribers = await rig.subscribers(publisher, 4);
      const count = rig.harness.keptMessages.least - 10;
      for (const number of upTo(count)) publisher.send(number % 3 === 0 ? numberedInParts(number) : numbered(number));
      for (const subscriber of subscribers) {
        await rig.receive(subscriber, count);
        assert.deepEqual(subscriber.numbers, upTo(count));
        assert.deepEqual(
          subscriber.messages.map((parts) => parts.length),
          upTo(count).map((number) => (number % 3 === 0 ? 3 : 1)),
        );
      }
    },
  },

  {
    title: `[FAN-004] [C08] who was counted gets the very next message, in ${ROUNDS} of ${ROUNDS} starts`,
    async act(rig) {
      const [publishing, one, other] = [rig.transport(), rig.transport(), rig.transport()];
      for (const round of upTo(ROUNDS)) {
        const publisher = await publishing.bind({ bindAddress: rig.harness.address() });
        const subscribers = [one, other].map((transport) => rig.subscriber(publisher.endpoint, transport));
        await new Promise<void>((resolve) => {
          publisher.onSubscriptions(() => {
            if (publisher.subscriptions < 2) return;
            for (const number of upTo(20)) publisher.send(numbered(round + number));
            resolve();
          });
        });
        for (const subscriber of subscribers) {
          await rig.receive(subscriber, 20);
          assert.deepEqual(subscriber.numbers, upTo(20, round));
          await subscriber.close();
        }
        await publisher.close(0);
      }
    },
  },

  {
    title: '[FAN-004] [C08] a late subscriber gets what is sent from then on, without a gap',
    async act(rig) {
      const publisher = await rig.publisher();
      const [early] = await rig.subscribers(publisher, 1);
      assert.ok(early !== undefined);
      const late = rig.subscriber(publisher.endpoint);
      let sent = 0;
      while (late.messages.length < 20) {
        publisher.send(numbered(sent++));
        await rig.receive(early, sent);
      }
      await rig.settle();
      assert.deepEqual(early.numbers, upTo(sent));
      const first = late.numbers[0] ?? -1;
      assert.deepEqual(late.numbers, upTo(sent - first, first));
    },
  },

  {
    title: '[FAN-004] to publish to nobody is no error',
    async act(rig) {
      const publisher = await rig.publisher();
      for (const number of upTo(100)) publisher.send(numbered(number));
      const [subscriber] = await rig.subscribers(publisher, 1);
      publisher.send(numbered(100));
      assert.ok(subscriber !== undefined);
      await rig.receive(subscriber, 1);
      assert.deepEqual(subscriber.numbers, [100]);
    },
  },

  {
    title: '[FAN-004] one subscriber of two publishers gets from each what it sends',
    async act(rig) {
      const [left, right] = [await rig.publisher(), await rig.publisher()];
      const transport = rig.transport();
      const fromLeft = rig.subscriber(left.endpoint, transport);
      const fromRight = rig.subscriber(right.endpoint, transport);
      await rig.counts(left, 1);
      await rig.counts(right, 1);
      for (const number of upTo(50)) {
        left.send(numbered(number));
        right.send(numbered(1_000 + number));
      }
      await rig.receive(fromLeft, 50);
      await rig.receive(fromRight, 50);
      assert.deepEqual([fromLeft.numbers, fromRight.numbers], [upTo(50), upTo(50, 1_000)]);
    },
  },

  {
    title: '[FAN-004] subscriptions are counted, and no longer when they have ended',
    async act(rig) {
      const publisher = await rig.publisher();
      const counts: number[] = [];
      publisher.onSubscriptions(() => counts.push(publisher.subscriptions));
      assert.equal(publisher.subscriptions, 0);
      const [first, second, third] = await rig.subscribers(publisher, 3);
      await first?.close();
      await rig.counts(publisher, 2);
      await Promise.all([second?.close(), third?.close()]);
      await rig.counts(publisher, 0);
      assert.deepEqual(counts, [1, 2, 3, 2, 1, 0]);
      const [again] = await rig.subscribers(publisher, 1);
      publisher.send(numbered(1));
      assert.ok(again !== undefined);
      await rig.receive(again, 1);
    },
  },

  {
    title: '[CORE-016] a message of the largest size arrives; one byte more ends the subscription',
    async act(rig) {
      const publisher = await rig.publisher();
      const [subscriber] = await rig.subscribers(publisher, 1);
      assert.ok(subscriber !== undefined);
      publisher.send(numbered(1, EVENT_FRAME_BYTES));
      await rig.receive(subscriber, 1);
      assert.equal(subscriber.messages[0]?.[0]?.length, EVENT_FRAME_BYTES);
      publisher.send(numbered(2, EVENT_FRAME_BYTES + 1));
      await rig.end(subscriber);
      assert.deepEqual(subscriber.numbers, [1]);
      await rig.counts(publisher, 0);
      const [another] = await rig.subscribers(publisher, 1);
      publisher.send(numbered(3));
      assert.ok(another !== undefined);
      await rig.receive(another, 1);
    },
  },

  {
    title: '[FAN-001] a publisher says where it is bound and where others find it',
    async act(rig) {
      const publisher = await rig.publisher({ advertiseHost: 'news.example' });
      const port = /:([1-9][0-9]*)$/.exec(publisher.boundAddress)?.[1];
      assert.ok(port !== undefined, `${publisher.boundAddress} has no real port`);
      assert.equal(publisher.endpoint, `tcp://news.example:${port}`);
      const plain = await rig.publisher();
      assert.equal(plain.endpoint, plain.boundAddress);
    },
  },
];
