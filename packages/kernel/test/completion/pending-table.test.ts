import fc from 'fast-check';
import { type CorrelationRange, type PendingEntry, PendingTable } from '../../src/internal/completion/pending-table.ts';
import { PENDING_LIMIT } from '../../src/internal/wire/index.ts';

const last = 0xffff_ffff;
const request = (): PendingEntry => ({ correlation: 0 });
const requests = (count: number): PendingEntry[] => Array.from({ length: count }, request);

function idOf(table: PendingTable<PendingEntry>, entry: PendingEntry): number {
  table.add(entry);
  return entry.correlation;
}

test('[WIRE-005] ids rise from 1, are told beforehand and written into the entries', () => {
  const table = new PendingTable(PENDING_LIMIT);
  const entries = requests(3);
  expect(table.peekCorrelation()).toBe(1);
  expect(table.peekCorrelation()).toBe(1);
  expect(entries.map((entry) => idOf(table, entry))).toEqual([1, 2, 3]);
  expect(table.peekCorrelation()).toBe(4);
  expect(table.size).toBe(3);
});

test('[WIRE-005] a freed id is not given to one of the next requests', () => {
  const table = new PendingTable(PENDING_LIMIT);
  for (let id = 1; id <= 1_000; id++) {
    expect(idOf(table, request())).toBe(id);
    expect(table.take(id)).toBeDefined();
  }
});

test('[WIRE-005] after the last 32-bit id the first comes again', () => {
  const table = new PendingTable(10, { first: last - 2, last });
  const ids = requests(6).map((entry) => {
    const id = idOf(table, entry);
    expect(table.take(id)).toBe(entry);
    return id;
  });
  expect(ids).toEqual([last - 2, last - 1, last, last - 2, last - 1, last]);
});

test('[WIRE-005] ids still pending are passed over', () => {
  const table = new PendingTable(10, { first: 1, last: 6 });
  const entries = requests(5);
  for (const entry of entries) table.add(entry);
  for (const id of [1, 3, 4]) table.take(id);
  expect(requests(3).map((entry) => idOf(table, entry))).toEqual([6, 1, 3]);
});

test('[WIRE-005] a request that waits long neither hides nor is hidden by thousands of later ones', () => {
  const table = new PendingTable(PENDING_LIMIT);
  const patient = requests(3);
  for (const entry of patient) table.add(entry);
  for (let round = 0; round < 2_000; round++) {
    const [first, second] = [request(), request()];
    table.add(first);
    table.add(second);
    expect(table.take(second.correlation)).toBe(second);
    expect(table.take(first.correlation)).toBe(first);
    expect(table.take(second.correlation)).toBeUndefined();
  }
  expect(table.size).toBe(3);
  expect(patient.map(({ correlation }) => table.take(correlation))).toEqual(patient);
});

test('[WIRE-005] a reply to an unknown or already answered id finds nothing', () => {
  const table = new PendingTable(PENDING_LIMIT);
  const entry = request();
  table.add(entry);
  for (const id of [0, 2, -1, 1.5, NaN, last, 1 + 2 ** 32]) expect(table.take(id)).toBeUndefined();
  expect(table.take(1)).toBe(entry);
  expect(table.take(1)).toBeUndefined();
  expect(table.size).toBe(0);
});

test('[WIRE-005] an entry keeps its id after it left, and is removed once', () => {
  const table = new PendingTable(PENDING_LIMIT);
  const entry = request();
  table.add(entry);
  expect(table.remove(entry)).toBe(true);
  expect(entry.correlation).toBe(1);
  expect(table.remove(entry)).toBe(false);
  const other = new PendingTable(PENDING_LIMIT);
  other.add(request());
  expect(other.remove(entry)).toBe(false); // same id, another request
  expect(other.size).toBe(1);
});

test('[WIRE-005] a request cannot be pending under two ids', () => {
  const table = new PendingTable(PENDING_LIMIT);
  const entry = request();
  table.add(entry);
  expect(() => table.add(entry)).toThrow('[InternalFailure] request 1 is pending already');
  table.take(1);
  expect(idOf(table, entry)).toBe(2);
});

test('[WIRE-005] a full table has no id to give until a request has left', () => {
  const table = new PendingTable(2);
  table.add(request());
  table.add(request());
  expect(table.peekCorrelation()).toBe(0);
  expect(table.size).toBe(2);
  table.take(1);
  expect(table.peekCorrelation()).toBe(3);
  expect(idOf(table, request())).toBe(3);
});

test('[WIRE-005] the table of a link holds 1,048,576 requests', () => {
  const table = new PendingTable(PENDING_LIMIT);
  for (let id = 1; id <= 1_048_576; id++) table.add(request());
  expect(table.size).toBe(1_048_576);
  expect(table.peekCorrelation()).toBe(0);
});

test('[CALL-004] draining empties first, visits oldest first, and keeps what a visit adds', () => {
  const table = new PendingTable(1_000, { first: 1, last: 1_500 });
  for (let id = 1; id <= 1_400; id++) {
    table.add(request());
    table.take(id);
  }
  const entries = requests(600); // 1401 … 1500, then 1 … 500
  for (const entry of entries) table.add(entry);
  const visited: PendingEntry[] = [];
  const added: PendingEntry[] = [];
  table.drain((entry) => {
    expect(table.take(entry.correlation)).toBeUndefined();
    visited.push(entry);
    if (added.length > 0) return;
    const late = request();
    added.push(late);
    table.add(late);
  });
  expect(visited).toEqual(entries);
  expect(visited[0]).toBe(entries[0]);
  expect(table.size).toBe(1);
  expect(table.take(added[0]?.correlation ?? 0)).toBe(added[0]);
});

test('[CALL-004] a visit that throws does not leave the others hanging', () => {
  const table = new PendingTable(PENDING_LIMIT);
  for (const entry of requests(3)) table.add(entry);
  const visited: number[] = [];
  const visit = ({ correlation }: PendingEntry): void => {
    visited.push(correlation);
    throw new Error(`visit ${correlation}`);
  };
  expect(() => table.drain(visit)).toThrow('visit 1');
  expect(visited).toEqual([1, 2, 3]);
  expect(table.size).toBe(0);
});

/** What the table shall do, said as plainly as possible. */
class Model {
  readonly pending = new Map<number, PendingEntry>();
  readonly #maxSize: number;
  readonly #range: CorrelationRange;
  #next: number;

  constructor(maxSize: number, range: CorrelationRange) {
    this.#maxSize = maxSize;
    this.#range = range;
    this.#next = range.first;
  }

  add(entry: PendingEntry): number {
    if (this.pending.size >= this.#maxSize) return 0;
    while (this.pending.has(this.#next)) this.#advance();
    const id = this.#next;
    this.pending.set(id, entry);
    this.#advance();
    return id;
  }

  #advance(): void {
    this.#next = this.#next === this.#range.last ? this.#range.first : this.#next + 1;
  }
}

const command = fc.oneof(
  { weight: 30, arbitrary: fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 25, arbitrary: fc.record({ kind: fc.constant('take' as const), every: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('takeAt' as const), offset: fc.nat(1_300) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drain' as const) }) },
);

test('[WIRE-005] any sequence of adds, replies and drains agrees with the model', () => {
  const first = fc.constantFrom(1, 0x7fff_ff00, last - 1_300);
  const rangeLength = fc.integer({ min: 801, max: 1_300 });
  fc.assert(
    fc.property(first, rangeLength, fc.array(command, { maxLength: 120, size: 'max' }), (from, length, commands) => {
      const range = { first: from, last: from + length - 1 };
      const table = new PendingTable(800, range);
      const model = new Model(800, range);
      let differences = 0; // counted, because an expectation per operation would cost most of the time
      const takeBoth = (id: number): void => {
        if (table.take(id) !== model.pending.get(id)) differences++;
        model.pending.delete(id);
      };
      for (const step of commands) {
        if (step.kind === 'add') {
          for (const entry of requests(step.count)) {
            const expected = model.add(entry);
            if (table.peekCorrelation() !== expected) differences++;
            else if (expected !== 0 && idOf(table, entry) !== expected) differences++;
          }
        } else if (step.kind === 'take') {
          [...model.pending.keys()].filter((_, i) => i % step.every === 0).forEach(takeBoth);
        } else if (step.kind === 'takeAt') takeBoth(from + step.offset);
        else {
          const drained = new Set<PendingEntry>();
          table.drain((entry) => drained.add(entry));
          expect(drained).toEqual(new Set(model.pending.values()));
          model.pending.clear();
        }
        expect([differences, table.size]).toEqual([0, model.pending.size]);
      }
      for (const id of [...model.pending.keys()]) takeBoth(id);
      expect([differences, table.size]).toEqual([0, 0]);
    }),
    { numRuns: 150 },
  );
});
