import fc from 'fast-check';
import { SlotRing } from '../../../src/observe/flow/slot-ring.ts';

const LIMIT = 5;

class Slot {
  order = 0;
  held: object | undefined = undefined;

  hold(order: number): void {
    this.order = order;
    this.held = { order };
  }

  release(): void {
    this.held = undefined;
  }
}

const steps = fc.array(fc.constantFrom('claim', 'take', 'remove', 'clear'), { maxLength: 60 });

test('[TRACE-012] whatever is added and taken, a ring keeps the order, uses few slots, and holds nothing that is gone', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const slots: Slot[] = [];
      const ring = new SlotRing(LIMIT, () => slots[slots.push(new Slot()) - 1]!);
      const expected: number[] = [];
      taken.forEach((step, order) => {
        if (step === 'claim' && expected.length < LIMIT) {
          ring.claim().hold(order);
          expected.push(order);
        } else if (step === 'take' && expected.length > 0) {
          const slot = ring.takeOldest();
          expect(slot.held).toEqual({ order: expected.shift() });
          slot.release();
        } else if (step === 'remove' && expected.length > 0) {
          ring.removeLatest();
          expected.pop();
        } else if (step === 'clear') {
          ring.clear();
          expected.length = 0;
        }
        expect([ring.count, ring.firstOrder]).toEqual([expected.length, expected[0] ?? Infinity]);
        const held = slots.filter((slot) => slot.held !== undefined).map((slot) => slot.order);
        expect(held.toSorted((a, b) => a - b)).toEqual(expected);
      });
      ring.clear();
      expect(slots.length).toBeLessThanOrEqual(LIMIT);
      expect(slots.length === 0 || ring.claim() === slots[0]).toBe(true); // an emptied one begins with its first slot
    }),
  );
});
