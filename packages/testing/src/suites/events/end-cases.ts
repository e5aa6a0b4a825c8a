/** How publishers and subscriptions end, and what begins after them. */
import assert from 'node:assert/strict';
import { isZLinkError } from '@zlink/kernel/errors';
import { EVENT_FRAME_BYTES } from '@zlink/kernel/internal/wire';
import type { EventCase } from './event-rig.ts';
import { numbered, upTo } from './numbered.ts';

/** Longer than a busy machine can take to send what there is. */
const LINGER_MS = 60_000;

export const endCases: readonly EventCase[] = [
  {
    title: '[CORE-011] [FAN-004] what was sent before the publisher closes still arrives, and then the end is told',
    async act(rig) {
      const publisher = await rig.publisher();
      const subscribers = await rig.subscribers(publisher, 2);
      const count = Math.min(500, rig.harness.keptMessages.least);
      for (const number of upTo(count)) publisher.send(numbered(number, EVENT_FRAME_BYTES));
      await Promise.all([publisher.close(LINGER_MS), publisher.close(0)]);
      publisher.send(numbered(count));
      for (const subscriber of subscribers) {
        await rig.end(subscriber);
        assert.deepEqual(subscriber.numbers, upTo(count));
      }
      assert.equal(publisher.subscriptions, 0);
    },
  },

  {
    title: '[CORE-016] a paused subscription is told of the end when it has read what came before it',
    async act(rig) {
      const publisher = await rig.publisher();
      const [subscriber] = await rig.subscribers(publisher, 1);
      assert.ok(subscriber !== undefined);
      subscriber.pause();
      for (const number of upTo(20)) publisher.send(numbered(number));
      await publisher.close(LINGER_MS);
      await rig.settle();
      assert.deepEqual([subscriber.messages.length, subscriber.closed.length], [0, 0]);
      subscriber.resume();
      await rig.end(subscriber);
      assert.deepEqual(subscriber.numbers, upTo(20));
    },
  },

  {
    title: '[CORE-016] a subscription that is paused with nothing to read is told of the end when it is resumed',
    async act(rig) {
      const publisher = await rig.publisher();
      const [paused, other] = await rig.subscribers(publisher, 2);
      assert.ok(paused !== undefined && other !== undefined);
      paused.pause();
      await publisher.close(0);
      await rig.end(other);
      await rig.settle();
      assert.deepEqual(paused.closed, []);
      paused.resume();
      await rig.end(paused);
    },
  },

  {
    title: '[CORE-014] [FAN-004] a publisher that starts anew at its address is another one: nothing old arrives',
    async act(rig) {
      const publisher = await rig.publisher({ bindAddress: await rig.addressToKeep() });
      const [subscriber, paused] = await rig.subscribers(publisher, 2);
      assert.ok(subscriber !== undefined && paused !== undefined);
      paused.pause();
      for (const number of upTo(50)) publisher.send(numbered(number));
      await publisher.close(0);
      await rig.end(subscriber);
      const again = await rig.publisher({ bindAddress: publisher.boundAddress });
      assert.equal(again.boundAddress, publisher.boundAddress);
      const [next] = await rig.subscribers(again, 1);
      assert.ok(next !== undefined);
      again.send(numbered(100));
      await rig.receive(next, 1);
      await rig.settle();
      assert.deepEqual(next.numbers, [100]);
      assert.equal(subscriber.closed.length, 1);
      assert.equal(again.subscriptions, 1, 'nobody has dialled again by itself');
    },
  },

  {
    title: '[CORE-011] a subscription that its owner has closed hears nothing more',
    async act(rig) {
      const publisher = await rig.publisher();
      const [subscriber, other] = await rig.subscribers(publisher, 2);
      assert.ok(subscriber !== undefined && other !== undefined);
      subscriber.onEach = () => void subscriber.close();
      for (const number of upTo(50)) publisher.send(numbered(number));
      await rig.receive(other, 50);
      await rig.counts(publisher, 1);
      assert.deepEqual([subscriber.messages.length, subscriber.closed], [1, []]);
      await subscriber.close();
    },
  },

  {
    title: '[CORE-011] subscriptions that were never opened, are paused or have ended close without a word',
    async act(rig) {
      const publisher = await rig.publisher();
      const early = rig.subscriber(publisher.endpoint);
      await early.close();
      const [paused] = await rig.subscribers(publisher, 1);
      assert.ok(paused !== undefined);
      paused.pause();
      publisher.send(numbered(1));
      await rig.settle();
      await paused.close();
      const ended = rig.subscriber(publisher.endpoint);
      await rig.counts(publisher, 1);
      await publisher.close(0);
      await rig.end(ended);
      await ended.close();
      assert.deepEqual([early.openCount, early.closed, paused.messages, paused.closed], [0, [], [], []]);
    },
  },

  {
    title: '[CORE-009] a subscription to nobody ends once, with a reason',
    async act(rig) {
      const publisher = await rig.publisher();
      await publisher.close(0);
      const subscriber = rig.subscriber(publisher.boundAddress);
      assert.notEqual(await rig.end(subscriber), '');
      assert.equal(subscriber.openCount, 0);
    },
  },

  {
    title: '[HOSTREG-003] an address is bound once, and free when its publisher has closed',
    async act(rig) {
      const publisher = await rig.publisher({ bindAddress: await rig.addressToKeep() });
      const { boundAddress } = publisher;
      await assert.rejects(rig.publisher({ bindAddress: boundAddress }), (error) => {
        assert.ok(isZLinkError(error) && error.kind === 'AlreadyExists', String(error));
        return true;
      });
      await publisher.close(0);
      const again = await rig.publisher({ bindAddress: boundAddress });
      assert.equal(again.boundAddress, boundAddress);
    },
  },

  {
    title: '[CORE-011] a transport that closes tells its subscriptions, and nothing of it is left',
    async act(rig) {
      const transport = rig.transport();
      const publisher = await transport.bind({ bindAddress: await rig.addressToKeep() });
      const subscribers = [
        rig.subscriber(publisher.endpoint, transport),
        rig.subscriber(publisher.endpoint, transport),
        rig.subscriber(publisher.endpoint, transport),
      ];
      await rig.counts(publisher, 3);
      subscribers[1]?.pause();
      await Promise.all([transport.close(), transport.close()]);
      for (const { closed } of subscribers) assert.equal(closed.length, 1);
      publisher.send(numbered(1));
      const again = await rig.publisher({ bindAddress: publisher.boundAddress });
      assert.equal(again.subscriptions, 0);
      await publisher.close(0);
    },
  },
];
