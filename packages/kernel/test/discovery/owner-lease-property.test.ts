import { loopTurns, type StoreFault } from '@zlink/testing';
import fc from 'fast-check';
import { StoreError } from '../../src/location/index.ts';
import { arrangeLease, type LeaseRig, timing } from './lease-rig.ts';
import { pendingIn } from './store-rig.ts';

type Step =
  | { readonly kind: 'advance' | 'stall'; readonly ms: number }
  | { readonly kind: 'fault'; readonly fault: StoreFault; readonly times: number }
  | { readonly kind: 'heal' | 'acquire' | 'foundAbsent' | 'disrupt' };

const ms = fc.oneof(fc.integer({ min: 0, max: 1_200 }), fc.integer({ min: 0, max: 20_000 }));
const at = fc.constantFrom('request', 'reply');
const fault: fc.Arbitrary<StoreFault> = fc.oneof(
  fc.record({ kind: fc.constant('hold'), at }),
  fc.record({ kind: fc.constant('delay'), at, ms }),
  fc.constant({ kind: 'loseReply' }),
  fc.constant({ kind: 'fail' }),
  fc.constant({ kind: 'fail', error: new StoreError('timeout', 'unknown', 'no answer') }),
  fc.constant({ kind: 'throw', error: new Error('broken') }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('advance', 'stall'), ms }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fault'), fault, times: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('heal', 'acquire', 'foundAbsent', 'disrupt') }) },
);

async function take(rig: LeaseRig, step: Step, signal: AbortSignal): Promise<void> {
  switch (step.kind) {
    case 'advance':
      return rig.clock.advanceAsync(step.ms);
    case 'stall': // the process stands still while answers arrive; they are looked at before any timer
      rig.clock.stall(step.ms);
      return;
    case 'fault':
      return rig.store.inject(step.fault, 'commit', step.times);
    case 'heal':
      return rig.store.heal();
    case 'acquire':
      rig.lease.acquire(signal).catch(() => {});
      return;
    case 'foundAbsent':
      return rig.lease.foundAbsent(rig.clock.nowMs());
    case 'disrupt':
      return rig.store.disrupt();
  }
}

/** How often admission was open where it was asked: without that the property would say nothing. */
let openCount = 0;

async function expectCovered(rig: LeaseRig): Promise<void> {
  if (!rig.lease.isOpen) return;
  openCount++;
  const expiresAtMs = (await rig.stored())?.expiresAtMs ?? -Infinity;
  expect(rig.clock.nowMs()).toBeLessThan(expiresAtMs - timing.ownerLeaseFencingMarginMs);
}

test('[LOC-051] whatever delays, failures, lost replies and pauses come, admission is closed before the lease can end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const rig = await arrangeLease();
      const giveUp = new AbortController();
      await rig.lease.acquire(giveUp.signal);
      for (const each of steps) {
        await take(rig, each, giveUp.signal);
        await expectCovered(rig);
        await loopTurns(2);
        await expectCovered(rig);
      }
      rig.lease.stop();
      await rig.calls.close();
      rig.store.heal();
      await rig.clock.advanceAsync(20_000); // delays of the store itself
      expect([rig.lease.isOpen, pendingIn(rig)]).toEqual([false, 0]);
    }),
    { numRuns: 150 },
  );
  expect(openCount).toBeGreaterThan(500);
});

test('[LOC-053] whatever came before, a store that works again has the lease back and admission open within 10 s', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      const rig = await arrangeLease();
      const giveUp = new AbortController();
      await rig.lease.acquire(giveUp.signal);
      const { leaseGeneration } = rig.lease;
      for (const each of steps) await take(rig, each, giveUp.signal);
      rig.store.heal();
      await rig.clock.advanceAsync(10_000);
      expect(rig.lease.isOpen).toBe(true);
      await expectCovered(rig);
      expect(rig.lease.leaseGeneration).toBe(leaseGeneration);
      rig.lease.stop();
      await rig.calls.close();
    }),
    { numRuns: 100 },
  );
});
