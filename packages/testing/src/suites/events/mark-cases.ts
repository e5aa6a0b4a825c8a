/** Who does not read loses, and nobody else does (CORE-016). */
import assert from 'node:assert/strict';
import { EVENT_FRAME_BYTES } from '@zlink/kernel/internal/wire';
import type { EventPublisher } from '@zlink/kernel/internal/transport';
import type { EventRecorder } from './event-recorder.ts';
import type { EventCase, EventRig } from './event-rig.ts';
import { numbered, upTo } from './numbered.ts';

const AT_ONCE = 50;

/** Marks the end of what was published before; no other message has this number. */
const MARK = 1_000_000;

/** Publishes marks until one arrives, and one more behind it: with that one everything older has arrived or is lost. */
async function drain(rig: EventRig, publisher: EventPublisher, subscriber: EventRecorder): Promise<void> {
  while (!subscriber.numbers.includes(MARK)) {
    publisher.send(numbered(MARK)); // which is lost as well while there is no room
    await rig.settle();
  }
  publisher.send(numbered(MARK + 1));
  await rig.until(() => subscriber.numbers.at(-1) === MARK + 1, 'everything older has arrived');
}

/** Sends messages of the largest size, no more at once than who reads can bear. */
async function flood(rig: EventRig, publisher: EventPublisher, reading: EventRecorder, count: number): Promise<void> {
  const before = reading.messages.length;
  for (const number of upTo(count)) {
    publisher.send(numbered(number, EVENT_FRAME_BYTES));
    if ((number + 1) % AT_ONCE === 0) await rig.receive(reading, before + number + 1);
  }
  await rig.receive(reading, before + count);
}

export const markCases: readonly EventCase[] = [
  {
    title: '[CORE-016] [FAN-004] a subscriber that does not read loses whole messages past its mark, the others none',
    async act(rig) {
      const publisher = await rig.publisher();
      const [reading, stopped] = await rig.subscribers(publisher, 2);
      assert.ok(reading !== undefined && stopped !== undefined);
      stopped.pause();
      const { least, most } = rig.harness.keptMessages;
      const count = most + 200;
      await flood(rig, publisher, reading, count);
      assert.deepEqual(reading.numbers, upTo(count));
      assert.equal(stopped.messages.length, 0);

      stopped.resume();
      await rig.receive(stopped, least);
      let next = count;
      while ((stopped.numbers.at(-1) ?? 0) < count) {
        publisher.send(numbered(next++));
        await rig.settle();
      }
      const kept = stopped.numbers.filter((number) => number < count);
      assert.ok(kept.length >= least && kept.length <= most, `${kept.length} messages were kept`);
      assert.deepEqual(kept, upTo(kept.length), 'what was lost lies behind what was kept');
      assert.deepEqual([reading.closed, stopped.closed], [[], []]);
    },
  },

  {
    title: '[CORE-016] a subscriber that reads again loses nothing more',
    async act(rig) {
      const publisher = await rig.publisher();
      const [reading, stopped] = await rig.subscribers(publisher, 2);
      assert.ok(reading !== undefined && stopped !== undefined);
      stopped.pause();
      await flood(rig, publisher, reading, rig.harness.keptMessages.most + 100);
      stopped.resume();
      await rig.receive(stopped, rig.harness.keptMessages.least);
      await drain(rig, publisher, stopped);
      const before = stopped.messages.length;
      for (const number of upTo(500)) {
        publisher.send(numbered(number));
        if (number % AT_ONCE === 0) await rig.receive(stopped, before + number + 1);
      }
      await rig.receive(stopped, before + 500);
      assert.deepEqual(stopped.numbers.slice(before), upTo(500));
    },
  },

  {
    title: '[CORE-016] a pause inside a callback holds from the next message on; nothing is lost or mixed up by it',
    async act(rig) {
      const publisher = await rig.publisher();
      const [subscriber] = await rig.subscribers(publisher, 1);
      assert.ok(subscriber !== undefined);
      subscriber.onEach = () => subscriber.pause();
      for (const number of upTo(30)) publisher.send(numbered(number));
      for (const number of upTo(30)) {
        await rig.receive(subscriber, number + 1);
        await rig.settle();
        assert.equal(subscriber.messages.length, number + 1);
        subscriber.resume();
      }
      assert.deepEqual(subscriber.numbers, upTo(30));
    },
  },

  {
    title: '[CORE-016] a subscription that is paused before it is open is counted and reads when it is resumed',
    async act(rig) {
      const publisher = await rig.publisher();
      const subscriber = rig.subscriber(publisher.endpoint);
      subscriber.pause();
      await rig.counts(publisher, 1);
      publisher.send(numbered(1));
      await rig.settle();
      assert.equal(subscriber.messages.length, 0);
      subscriber.resume();
      await rig.receive(subscriber, 1);
    },
  },
];
