import type { Host } from '@zlink/framework';
import { loopTurns, until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { NEWS, publish, range, startPublisher, startSubscriber, type Subscriber } from './fanout-hosts.ts';

const TEXT = 'x'.repeat(60_000); // a message of its own
const FEW_PERMITS = { inboundDispatch: { maxQueuedApplicationJobs: 4 } };

const missedBy = ({ publishers: [row] }: Subscriber): number => row?.missedEvents ?? NaN;

/** Large ones, and no faster than `pace` gets them. */
async function publishPaced(publisher: Host, pace: Subscriber, from: number, to: number): Promise<void> {
  for (const seq of range(from, to)) {
    await publish(publisher, seq, seq, TEXT);
    await loopTurns(1);
    await until(() => (pace.seen.at(-1)?.seq ?? 0) > seq - 100, 'those before are seen');
  }
}

test('[FAN-004] a subscriber that does not read loses and counts it, publisher and others notice nothing', async () => {
  const gate = new Gate();
  const publisher = await startPublisher();
  const slow = await startSubscriber([publisher], { options: FEW_PERMITS, handle: () => gate.opened });
  const fast = await startSubscriber([publisher]);
  await publisher.fanoutClient.ready(NEWS, 2);
  const count = 3_000;
  await publishPaced(publisher, fast, 1, count);
  await fast.reaches(count);
  expect(fast.numbers).toEqual(range(1, count));
  expect(missedBy(fast)).toBe(0);

  gate.open();
  await until(() => slow.host.query.inboundDispatch().flow === 'RUNNING', 'it reads again');
  let last = count;
  await until(() => {
    void publish(publisher, ++last, last); // behind what was lost: only then is it known
    return missedBy(slow) > 0;
  }, 'the loss is seen');
  await publish(publisher, ++last, last);
  await slow.reaches(last);
  expect(slow.seen.length + missedBy(slow)).toBe(last);
  expect(slow.numbers).toEqual([...new Set(slow.numbers)].sort((one, other) => one - other));
  expect(slow.seen.length).toBeGreaterThan(1_000); // its mark
  expect(slow.publishers).toMatchObject([{ state: 'ready', firstEvent: 1 }]);
}, 120_000);
