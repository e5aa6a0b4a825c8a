/**
 * What a link says of its own traffic, and a transport of all its links: totals of both ends agree, another link begins anew, and
 * one that ends stays in the sum (CORE-001, CORE-004, CORE-009).
 */
import assert from 'node:assert/strict';
import type { Link } from '@zlink/kernel/internal/transport';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';
import { type RigCase, onEachShape } from './case.ts';
import { fillUntilWaiting, KIB } from './filling.ts';
import type { RigHost } from './rig-host.ts';
import { MIB, type TransportRig } from './rig.ts';

/** One batch in each turn. */
const BATCHES = 3;
const PER_BATCH = 50;

/** How many messages have gone from `from`, and arrived at `to`, which must have got the same bytes. */
function goneOver(from: Link, to: Link): number {
  const { sentMessages, sentBytes } = from.traffic;
  const { receivedMessages, receivedBytes } = to.traffic;
  assert.deepEqual([receivedMessages, receivedBytes], [sentMessages, sentBytes]);
  return sentMessages;
}

/** Until all credit is back, and what was said of it has arrived. */
async function untilAtRest(rig: TransportRig, ...links: readonly Link[]): Promise<void> {
  await rig.until(() => links.every(({ outstandingBytes }) => outstandingBytes === 0), 'all credit is back');
  await rig.settle();
}

/** Of a host on which nothing is under way. */
function sentAndReceived({ transport }: RigHost): readonly number[] {
  const { sentMessages, sentBytes, receivedMessages, receivedBytes } = transport.status.traffic;
  return [sentMessages, sentBytes, receivedMessages, receivedBytes];
}

/** In the same order as `sentAndReceived`. */
function sumOf(links: readonly Link[]): readonly number[] {
  const sum = (total: keyof Link['traffic']): number => links.reduce((all, { traffic }) => all + traffic[total], 0);
  return [sum('sentMessages'), sum('sentBytes'), sum('receivedMessages'), sum('receivedBytes')];
}

export const trafficCases: readonly RigCase[] = [
  ...onEachShape(
    '[CORE-001] [CORE-009] both ends of a link count the same messages and bytes, and the next link begins at 0',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, farGroup, intent } = await rig.pair(shape);
      far.echo(farGroup);
      assert.deepEqual([goneOver(nearLink, farLink), goneOver(farLink, nearLink)], [0, 0]);
      for (let batch = 0; batch < BATCHES; batch++) {
        for (let at = 0; at < PER_BATCH; at++) near.send({ payload: 'x'.repeat(KIB) }).submit(nearLink);
        await rig.settle();
      }
      const request = near.request({ payload: 'x'.repeat(MIB) });
      request.submit(nearLink);
      await rig.until(() => request.isOver, 'it is answered');
      await untilAtRest(rig, nearLink, farLink);
      const count = BATCHES * PER_BATCH + 1;
      assert.deepEqual([goneOver(nearLink, farLink), goneOver(farLink, nearLink)], [count, 1]);
      const payloadBytes = BATCHES * PER_BATCH * KIB + MIB;
      const { sentBytes, receivedBytes } = nearLink.traffic;
      assert.ok(sentBytes > payloadBytes && sentBytes < payloadBytes + count * 100, `${sentBytes} bytes were sent`);
      assert.ok(receivedBytes > MIB, `${receivedBytes} bytes came back`);

      farLink.fail('broken by the case');
      await rig.until(() => intent.link !== undefined && intent.link !== nearLink, 'there is another link');
      const [fresh, farFresh] = [intent.link, farGroup.opened.at(-1)];
      assert.ok(fresh !== undefined && farFresh !== undefined);
      assert.deepEqual([goneOver(fresh, farFresh), goneOver(farFresh, fresh)], [0, 0]);
      assert.deepEqual([nearLink.traffic.sentMessages, fresh.traffic.sentBytes], [count, 0]);
    },
  ),

  ...onEachShape(
    '[CORE-001] a transport sums what has gone over its links, those that have ended included',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, farGroup, nearGroup, listener } = await rig.pair(shape);
      const other = await rig.connect(rig.host(shape), far, listener);
      for (let at = 0; at < PER_BATCH; at++) near.send({ payload: 'x'.repeat(KIB) }).submit(nearLink);
      other.near.send().submit(other.nearLink);
      far.send().submit(farLink);
      far.send().submit(other.farLink);
      await rig.until(() => farGroup.received.length === PER_BATCH + 1, 'all have arrived at the one side');
      await untilAtRest(rig, nearLink, farLink, other.nearLink, other.farLink);
      assert.equal(far.transport.status.links, 2);
      assert.deepEqual(sentAndReceived(far), sumOf([farLink, other.farLink]));
      const [sentMessages, , receivedMessages] = sentAndReceived(far);
      assert.deepEqual([sentMessages, receivedMessages], [2, PER_BATCH + 1]);
      assert.deepEqual(sentAndReceived(near), sumOf([nearLink]));

      farLink.fail('broken by the case');
      assert.equal(far.transport.status.links, 1);
      assert.deepEqual(sentAndReceived(far), sumOf([farLink, other.farLink]), 'with the link that has ended');
      await rig.until(() => nearGroup.opened.length === 2, 'there is another link');
      far.send().submit(farGroup.opened.at(-1)!);
      await rig.settle();
      assert.deepEqual(sentAndReceived(far), sumOf(farGroup.opened));
      assert.equal(sentAndReceived(far)[0], 3);
      await far.transport.close();
      await rig.settle();
      assert.deepEqual(sentAndReceived(far), sumOf(farGroup.opened), 'after the end of all');
    },
  ),

  ...onEachShape('[CORE-004] a link shows how much of its window is taken, and what waits', async (rig, shape) => {
    const options = { maxWindowBytes: MIN_WINDOW_BYTES, permits: { max: 1 } };
    const { near, nearLink, farLink, farGroup } = await rig.pair(shape, {}, options);
    farGroup.holding = true;
    const before = nearLink.traffic;
    const records = fillUntilWaiting(near, nearLink, 10);
    assert.equal(nearLink.traffic.sentMessages, 0, 'nothing has left in this turn');
    await rig.settle();
    const { traffic } = nearLink;
    assert.deepEqual([traffic.windowBytes, traffic.waitingMessages], [MIN_WINDOW_BYTES, 10]);
    const costBytes = KIB + RECORD_COST_BYTES;
    assert.equal(traffic.outstandingBytes, (records.length - 10) * costBytes);
    assert.ok(traffic.outstandingBytes > MIN_WINDOW_BYTES - costBytes);
    assert.equal(goneOver(nearLink, farLink), records.length - 10);
    assert.deepEqual([before.outstandingBytes, before.sentMessages], [0, 0], 'what was shown stays');
    farGroup.letGo();
    await rig.until(() => farGroup.received.length === records.length, 'all are delivered');
    await untilAtRest(rig, nearLink);
    assert.deepEqual([goneOver(nearLink, farLink), nearLink.traffic.waitingMessages], [records.length, 0]);
  }),
];
