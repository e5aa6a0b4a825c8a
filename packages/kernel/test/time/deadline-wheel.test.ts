import { ManualClock } from '@zlink/testing';
import fc from 'fast-check';
import { type DeadlineEntry, DeadlineWheel, type DeadlineWheelOptions } from '../../src/internal/time/index.ts';

const tickMs = 16;
const longestMs = 2_147_483_647;

class Entry implements DeadlineEntry {
  deadlineAtMs = 0;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;
  readonly firedAtMs: number[] = [];
  readonly #then: (entry: Entry) => void;

  constructor(then: (entry: Entry) => void = () => undefined) {
    this.#then = then;
  }

  onDeadline(nowMs: number): void {
    this.firedAtMs.push(nowMs);
    this.#then(this);
  }
}

function arrange(options: Partial<DeadlineWheelOptions> = {}) {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const wheel = new DeadlineWheel({ clock, onError: (error) => errors.push(error), ...options });
  const addIn = (delayMs: number, entry = new Entry()): Entry => {
    entry.deadlineAtMs = clock.nowMs() + delayMs;
    wheel.add(entry);
    return entry;
  };
  return { clock, errors, wheel, addIn };
}

function expectOnTime(entry: Entry): void {
  expect(entry.firedAtMs).toHaveLength(1);
  const lateMs = (entry.firedAtMs[0] ?? NaN) - entry.deadlineAtMs;
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThanOrEqual(tickMs);
}

test.each([1, 15, 16, 17, 511, 512, 513, 1_000, 30_000, 3_600_000, 86_400_000, longestMs - 1, longestMs])(
  '[CALL-003] a deadline in %d ms fires once, not early and at most one tick late',
  (delayMs) => {
    const { clock, addIn } = arrange();
    clock.advance(7);
    const entry = addIn(delayMs);
    clock.advance(delayMs - 1);
    expect(entry.firedAtMs).toEqual([]);
    clock.advance(1 + tickMs);
    expectOnTime(entry);
    expect(clock.pendingTimers).toBe(0);
  },
);

test('[CALL-003] thousands of deadlines need one timer, none once they are gone', () => {
  const { clock, wheel, addIn } = arrange();
  const entries = Array.from({ length: 5_000 }, (_, i) => addIn(1 + ((i * 7_919) % 60_000)));
  expect(clock.pendingTimers).toBe(1);
  expect(wheel.size).toBe(5_000);
  for (const entry of entries) wheel.remove(entry);
  expect(wheel.size).toBe(0);
  expect(clock.pendingTimers).toBe(0);
  clock.advance(120_000);
  expect(entries.flatMap((entry) => entry.firedAtMs)).toEqual([]);
});

test('[CALL-003] an idle wheel with one far deadline wakes a few times only', () => {
  const { clock, addIn } = arrange();
  addIn(3_600_000);
  let wakes = 0;
  for (let due = clock.nextDueAtMs; due !== undefined; due = clock.nextDueAtMs) {
    clock.advance(due - clock.nowMs());
    wakes++;
  }
  expect(wakes).toBeLessThanOrEqual(6);
});

test('[CALL-003] removing twice, or what was never added, does nothing', () => {
  const { wheel, addIn } = arrange();
  const entry = addIn(100);
  addIn(100);
  wheel.remove(new Entry());
  wheel.remove(entry);
  wheel.remove(entry);
  expect(wheel.size).toBe(1);
});

test('[CALL-003] adding again moves the deadline', () => {
  const { clock, wheel, addIn } = arrange();
  const entry = addIn(100);
  addIn(5_000, entry);
  expect(wheel.size).toBe(1);
  clock.advance(4_999);
  expect(entry.firedAtMs).toEqual([]);
  clock.advance(1 + tickMs);
  expectOnTime(entry);
});

test('[CALL-003] a deadline that has passed, or is no number, fires with the next tick', () => {
  const { clock, addIn } = arrange();
  clock.advance(1_000);
  const passed = addIn(-500);
  const broken = addIn(NaN);
  expect(passed.firedAtMs).toEqual([]); // never inside of add
  clock.advance(tickMs);
  expect(passed.firedAtMs).toHaveLength(1);
  expect(broken.firedAtMs).toHaveLength(1);
});

test('[CALL-003] a deadline at infinity never fires and does not flood the timer', () => {
  const { clock, wheel, addIn } = arrange();
  const entry = addIn(Infinity);
  clock.advance(10 * longestMs);
  expect(entry.firedAtMs).toEqual([]);
  wheel.remove(entry);
  expect(clock.pendingTimers).toBe(0);
});

test('[CALL-003] deadlines keep their precision after years of running', () => {
  const { clock, addIn } = arrange();
  clock.advance(2 ** 32 * tickMs - 40); // the tick counter is about to pass 32 bits
  const entries = [1, 30, 41, 600, 20_000, 700_000, 40_000_000].map((delayMs) => addIn(delayMs));
  clock.advance(40_000_000 + tickMs);
  for (const entry of entries) expectOnTime(entry);
});

test('[CALL-003] a deadline may remove and add any entry, itself and the next one included', () => {
  const { clock, wheel, addIn } = arrange();
  const victim = new Entry();
  const newcomer = new Entry();
  let rounds = 0;
  const first = addIn(
    10,
    new Entry((self) => {
      wheel.remove(self);
      wheel.remove(victim);
      addIn(1, newcomer);
      if (++rounds < 3) addIn(10, self);
    }),
  );
  const sibling = addIn(10);
  addIn(10, victim);
  clock.advance(16);
  expect(sibling.firedAtMs).toHaveLength(1);
  expect(victim.firedAtMs).toEqual([]);
  clock.advance(200);
  expect(first.firedAtMs).toHaveLength(3);
  expect(newcomer.firedAtMs).toHaveLength(3);
  expect(wheel.size).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test('[CALL-003] one that always asks for a past deadline does not starve the loop', () => {
  const { clock, wheel, addIn } = arrange();
  const greedy = addIn(1, new Entry((self) => addIn(-1_000, self)));
  clock.advance(tickMs * 10);
  expect(greedy.firedAtMs.length).toBeLessThanOrEqual(10);
  wheel.close();
});

test('[CALL-003] a deadline that throws is reported and the others still fire', () => {
  const { clock, errors, addIn } = arrange();
  const failure = new Error('handler');
  const thrower = new Entry(() => {
    throw failure;
  });
  const before = addIn(10);
  addIn(10, thrower);
  const after = addIn(10);
  clock.advance(32);
  expect(errors).toEqual([failure]);
  for (const entry of [before, thrower, after]) expect(entry.firedAtMs).toHaveLength(1);
});

test('[CALL-003] even a report that throws does not lose the others', () => {
  const { clock, addIn } = arrange({
    onError: (error) => {
      throw error;
    },
  });
  addIn(
    10,
    new Entry(() => {
      throw new Error('handler');
    }),
  );
  const after = addIn(10);
  expect(() => clock.advance(32)).toThrow('handler');
  clock.advance(tickMs);
  expect(after.firedAtMs).toHaveLength(1);
});

test('[CALL-003] a closed wheel forgets everything, holds no timer and takes nothing', () => {
  const { clock, wheel, addIn } = arrange();
  const entry = addIn(10);
  wheel.close();
  wheel.close();
  expect(clock.pendingTimers).toBe(0);
  expect(wheel.size).toBe(0);
  clock.advance(100);
  expect(entry.firedAtMs).toEqual([]);
  wheel.remove(entry);
  expect(() => wheel.add(entry)).toThrow('[ShuttingDown]');
});

test('[CALL-003] closing inside of a deadline stops those that are left', () => {
  const { clock, wheel, addIn } = arrange();
  addIn(10, new Entry(() => wheel.close()));
  const left = addIn(10);
  clock.advance(100);
  expect(left.firedAtMs).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

function arrangeStall() {
  const turns: (() => void)[] = [];
  const arranged = arrange({ afterReads: (callback) => turns.push(callback) });
  return { ...arranged, turns };
}

test('[LIVE-002] after a stall the pending reads come first and can still save a deadline', () => {
  const { clock, wheel, turns, addIn } = arrangeStall();
  const saved = addIn(16);
  const lost = addIn(16);
  const later = addIn(60_000);
  clock.stall(16 + 4_000);
  clock.advance(0);
  expect(turns).toHaveLength(1);
  expect(lost.firedAtMs).toEqual([]);
  wheel.remove(saved); // a read did this
  expect(clock.pendingTimers).toBe(0);
  for (const turn of turns.splice(0)) turn();
  expect(saved.firedAtMs).toEqual([]);
  expect(lost.firedAtMs).toHaveLength(1);
  expect(later.firedAtMs).toEqual([]);
  expect(clock.pendingTimers).toBe(1);
  clock.advance(60_000);
  expect(later.firedAtMs).toHaveLength(1);
  expect(turns).toEqual([]);
});

test('[LIVE-002] a delay of up to a second is no stall', () => {
  const { clock, turns, addIn } = arrangeStall();
  const entry = addIn(16);
  clock.stall(16 + 1_000);
  clock.advance(0);
  expect(entry.firedAtMs).toHaveLength(1);
  expect(turns).toEqual([]);
});

test('[LIVE-002] a stall is noticed although deadlines were added during it', () => {
  const { clock, turns, addIn } = arrangeStall();
  clock.advance(16_000);
  const due = addIn(496);
  clock.stall(16_480); // seen from the last event, what is added now lies in a slot that began before `due`
  const added = [addIn(1), addIn(-16_000)];
  clock.advance(0);
  expect(turns).toHaveLength(1);
  expect(due.firedAtMs).toEqual([]);
  for (const turn of turns.splice(0)) turn();
  expect(due.firedAtMs).toHaveLength(1);
  clock.advance(tickMs);
  for (const entry of added) expect(entry.firedAtMs).toHaveLength(1);
});

test('[LIVE-002] a wheel closed between stall and reads fires nothing', () => {
  const { clock, wheel, turns, addIn } = arrangeStall();
  const entry = addIn(16);
  clock.stall(5_000);
  clock.advance(0);
  wheel.close();
  for (const turn of turns.splice(0)) turn();
  expect(entry.firedAtMs).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
  expect(() => wheel.add(entry)).toThrow('[ShuttingDown]'); // closed it stays
});

test('[LIVE-002] without an own hook the event loop gives its reads a turn', async () => {
  const { clock, addIn } = arrange();
  const entry = addIn(16);
  clock.stall(5_000);
  clock.advance(0);
  expect(entry.firedAtMs).toEqual([]);
  await clock.advanceAsync(0);
  expect(entry.firedAtMs).toHaveLength(1);
});

/** Deadlines of every level of the wheel, short ones and level borders often. */
const delay = fc.oneof(
  fc.integer({ min: 1, max: 2_000 }),
  fc.constantFrom(511, 512, 513, 16_383, 16_384, 16_385, 524_288, 16_777_216),
  fc.integer({ min: 1, max: 40_000_000 }),
);
const command = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), index: fc.nat(9), ms: delay }),
  fc.record({ kind: fc.constant('remove' as const), index: fc.nat(9) }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.oneof(fc.nat(100), delay) }),
);

test('[CALL-003] any sequence of adds, removals and waiting fires what is due, on time, once', () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 1, maxLength: 60 }), (commands) => {
      const { clock, wheel, errors } = arrange();
      const expected = new Map<Entry, number>();
      const onFire = (entry: Entry): void => {
        const deadlineAtMs = expected.get(entry) ?? NaN; // of one that should not fire: fails below
        expect(clock.nowMs()).toBeGreaterThanOrEqual(deadlineAtMs);
        expect(clock.nowMs()).toBeLessThanOrEqual(deadlineAtMs + tickMs);
        expected.delete(entry);
      };
      const entries = Array.from({ length: 10 }, () => new Entry(onFire));
      for (const step of commands) {
        const entry = entries[step.kind === 'advance' ? 0 : step.index] ?? new Entry();
        if (step.kind === 'add') {
          entry.deadlineAtMs = clock.nowMs() + step.ms;
          expected.set(entry, entry.deadlineAtMs);
          wheel.add(entry);
        } else if (step.kind === 'remove') {
          expected.delete(entry);
          wheel.remove(entry);
        } else clock.advance(step.ms);
        for (const deadlineAtMs of expected.values())
          expect(deadlineAtMs + tickMs).toBeGreaterThanOrEqual(clock.nowMs());
        expect(wheel.size).toBe(expected.size);
        expect(clock.pendingTimers).toBe(expected.size === 0 ? 0 : 1);
      }
      expect(errors).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
