import fc from 'fast-check';
import { JobPermits, Mailbox, type ReceiveFlow } from '../../../src/internal/execution/index.ts';

const limits = (max: number) => ({ max, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });

test('[JOBQ-005] a returned permit goes to the source that has waited longest, and nobody overtakes it', () => {
  const permits = new JobPermits(limits(1));
  const served: string[] = [];
  const source = (name: string) => ({ onPermit: () => void served.push(name) });
  expect(permits.tryAcquire()).toBe(true);
  const [a, b] = [source('a'), source('b')];
  permits.wait(a);
  permits.wait(b);
  permits.release();
  expect([served, permits.tryAcquire()]).toEqual([['a'], false]);
  permits.release();
  permits.release();
  expect([served, permits.inUse]).toEqual([['a', 'b'], 0]);
});

test('[JOBQ-005] a long line of sources that return their permit at once is served in order, without nesting', () => {
  const permits = new JobPermits(limits(1));
  const served: number[] = [];
  expect(permits.tryAcquire()).toBe(true);
  for (let at = 0; at < 50_000; at++) {
    permits.wait({
      onPermit: () => {
        served.push(at);
        permits.release();
      },
    });
  }
  permits.release();
  expect(served).toEqual(Array.from({ length: 50_000 }, (_, at) => at));
  expect([permits.inUse, permits.flow]).toEqual([0, 'RUNNING']);
});

test('[JOBQ-005] [CORE-006] the flow pauses from the rounded-up threshold and runs again from the rounded-down one', () => {
  const permits = new JobPermits({ max: 7, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  const flows: [number, ReceiveFlow][] = [];
  permits.onFlow((flow) => flows.push([permits.inUse, flow]));
  for (let at = 0; at < 7; at++) permits.tryAcquire();
  for (let at = 0; at < 7; at++) permits.release();
  expect(flows).toEqual([
    [6, 'PAUSED'], // ceil(5.6)
    [4, 'RUNNING'], // floor(4.2)
  ]);
});

test('[JOBQ-005] under any order of taking, waiting and returning, permits in use are those that somebody holds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.constantFrom('take', 'wait', 'return')), (max, steps) => {
      const permits = new JobPermits(limits(max));
      let held = 0;
      for (const step of steps) {
        if (step === 'take' && permits.tryAcquire()) held++;
        if (step === 'wait' && permits.inUse >= max) permits.wait({ onPermit: () => void held++ });
        if (step === 'return' && held > 0) {
          held--;
          permits.release();
        }
        expect(permits.inUse).toBe(held);
        expect(held).toBeLessThanOrEqual(max);
      }
    }),
  );
});

test('[JOBQ-006] a mailbox takes count and bytes together or neither, and empty messages cost', () => {
  const mailbox = new Mailbox({ messages: 2, bytes: 200 });
  expect(mailbox.tryReserve(201)).toBe(false);
  expect([mailbox.messages, mailbox.bytes]).toEqual([0, 0]);
  expect(mailbox.tryReserve(64)).toBe(true);
  expect(mailbox.tryReserve(Number.MAX_VALUE)).toBe(false);
  expect(mailbox.tryReserve(136)).toBe(true);
  expect(mailbox.tryReserve(0)).toBe(false);
  mailbox.release(64);
  expect([mailbox.messages, mailbox.bytes]).toEqual([1, 136]);
});
