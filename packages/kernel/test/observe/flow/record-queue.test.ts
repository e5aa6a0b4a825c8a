import { ManualClock } from '@zlink/testing';
import { clientServerPlace, type MessageFlowOptions, RateLimitedLog } from '../../../src/observe/index.ts';
import { TestFlow } from './test-flow.ts';

const place = clientServerPlace('source', 'billing', 'client-1');
const message = (packetName: string) => ({ packetName, flow: undefined, link: undefined, correlation: 0 });

/** A flow whose turns and logger are the test's. */
class Queue extends TestFlow {
  readonly turns: (() => void)[];

  constructor(options: Partial<MessageFlowOptions> = {}) {
    const turns: (() => void)[] = [];
    super({ level: 'normal', nextTurn: (turn) => void turns.push(turn), ...options });
    this.turns = turns;
  }

  phase(packetName: string): void {
    this.flow.note(place, 'sent', message(packetName), { kind: 'send' });
  }

  /** Of those that are always recorded. */
  trouble(packetName: string, phase: 'dropped' | 'backpressured' = 'dropped'): void {
    this.flow.note(place, phase, message(packetName), { kind: 'send' });
  }

  error(packetName: string): void {
    const details = { kind: 'send', reason: 'no_handler', action: 'drop', text: 'none' } as const;
    this.flow.fail(packetName, place, message(packetName), details);
  }

  turn(): void {
    for (const turn of this.turns.splice(0)) turn();
  }

  names(): unknown[] {
    return this.phases.map((record) => record['packet_name']);
  }
}

test('[TRACE-012] records are written in a later turn, in order, and no turn is taken while none waits', () => {
  const queue = new Queue();
  for (const name of ['a', 'b', 'c']) queue.phase(name);
  expect([queue.names(), queue.turns.length]).toEqual([[], 1]);
  queue.turn();
  expect([queue.names(), queue.turns.length]).toEqual([['a', 'b', 'c'], 0]);
});

test('[TRACE-012] a copy is written: what the message becomes later changes nothing', () => {
  const queue = new Queue();
  const told = { ...message('order'), correlation: 0 };
  queue.flow.note(place, 'sent', told, { kind: 'send' });
  told.packetName = 'other';
  queue.turn();
  expect(queue.names()).toEqual(['order']);
});

test('[TRACE-012] 4,096 records wait; further phases are left out and counted', () => {
  const queue = new Queue();
  for (let n = 0; n < 4_100; n++) queue.phase(`p${n}`);
  expect(queue.flow.droppedRecords).toBe(4);
  queue.turn();
  expect([queue.names().length, queue.names().at(-1)]).toEqual([4_096, 'p4095']);
  queue.phase('next');
  queue.turn();
  expect([queue.names().at(-1), queue.flow.droppedRecords]).toEqual(['next', 4]);
});

test('[TRACE-012] an error takes the place of the latest phase, and only where all are errors it is left out', () => {
  const queue = new Queue();
  for (let n = 0; n < 4_096; n++) queue.phase(`p${n}`);
  queue.error('late');
  expect(queue.flow.droppedRecords).toBe(1);
  queue.turn();
  expect([queue.names().length, queue.names().at(-1), queue.errors.length]).toEqual([4_095, 'p4094', 1]);
  for (let n = 0; n < 4_097; n++) queue.error(`e${n}`);
  expect(queue.flow.droppedRecords).toBe(2);
});

test('[TRACE-012] drops and back pressure take the place of the latest ordinary phase, never of one another', () => {
  const queue = new Queue();
  for (let n = 0; n < 4_094; n++) queue.trouble(`t${n}`, n % 2 === 0 ? 'dropped' : 'backpressured');
  for (const name of ['a', 'b']) queue.phase(name);
  queue.trouble('x');
  expect(queue.flow.droppedRecords).toBe(1);
  queue.error('y');
  expect(queue.flow.droppedRecords).toBe(2);
  for (let left = 3; left > 0; left--) queue.trouble('late');
  queue.phase('late');
  expect(queue.flow.droppedRecords).toBe(6);
  queue.turn();
  expect([queue.names().length, queue.names().slice(-2), queue.errors.length]).toEqual([4_095, ['t4093', 'x'], 1]);
});

test('[TRACE-012] phases that made room are gone for good, and what comes later keeps its order', () => {
  const order: unknown[] = [];
  const keep = (record: object): void => void order.push((record as { packet_name?: unknown }).packet_name);
  const logger = { debug: keep, info: keep, warn: keep, error: keep };
  const queue = new Queue({ logger, log: new RateLimitedLog(logger, new ManualClock()) });
  for (const name of ['a', 'b', 'c']) queue.phase(name);
  for (let n = 0; n < 4_093; n++) queue.error(`e${n}`);
  for (const name of ['x', 'y']) queue.error(name); // in the places of c and b
  queue.turn();
  expect([order.length, order.slice(0, 2), order.slice(-2)]).toEqual([4_096, ['a', 'e0'], ['x', 'y']]);
  queue.error('z');
  queue.phase('d');
  queue.turn();
  expect(order.slice(-2)).toEqual(['z', 'd']);
  expect(queue.flow.droppedRecords).toBe(2);
});

test('[TRACE-012] errors and phases keep their order', () => {
  const order: unknown[] = [];
  const keep = (record: object): void => void order.push((record as { packet_name?: unknown }).packet_name);
  const logger = { debug: keep, info: keep, warn: keep, error: keep };
  const queue = new Queue({ logger, log: new RateLimitedLog(logger, new ManualClock()) });
  queue.phase('a');
  queue.error('b');
  queue.phase('c');
  queue.turn();
  expect(order).toEqual(['a', 'b', 'c']);
});

/** How many phases a logger that takes `costMs` for each has got after each of its turns, and when. */
function slowlyWritten(costMs: number, phases: number): { atMs: number; written: number }[] {
  const clock = new ManualClock(0);
  let written = 0;
  const slow = (): void => {
    written++;
    clock.advance(costMs);
  };
  const queue = new Queue({ clock, logger: { debug: slow, info: slow, warn: slow, error: slow } });
  const turns: { atMs: number; written: number }[] = [];
  for (let n = 0; n < phases; n++) queue.phase(`p${n}`);
  while (written < phases) {
    while (queue.turns.length === 0) clock.advance(0.25);
    const startedAtMs = clock.nowMs();
    queue.turn();
    turns.push({ atMs: startedAtMs, written });
  }
  return turns;
}

test('[TRACE-012] a slow logger gets about a millisecond at a time, and an eighth of all time', () => {
  expect(slowlyWritten(1.25, 3)).toEqual([
    { atMs: 0, written: 1 },
    { atMs: 10, written: 2 },
    { atMs: 20, written: 3 },
  ]);
});

test('[TRACE-012] records that come while the logger rests wait, however few they are', () => {
  const clock = new ManualClock();
  const names: unknown[] = [];
  const slow = (record: object): void => {
    names.push((record as { packet_name?: unknown }).packet_name);
    clock.advance(2);
  };
  const queue = new Queue({ clock, logger: { debug: slow, info: slow, warn: slow, error: slow } });
  queue.phase('a');
  queue.turn();
  queue.phase('b');
  expect([names, queue.turns.length]).toEqual([['a'], 0]);
  clock.advance(14);
  queue.turn();
  expect(names).toEqual(['a', 'b']);
});

test('[TRACE-012] a process that was stopped while it wrote goes on writing after a second', () => {
  expect(slowlyWritten(60_000, 2)).toEqual([
    { atMs: 0, written: 1 },
    { atMs: 61_000, written: 2 },
  ]);
});

test('[TRACE-012] a record that the logger causes waits its turn, and the logger gets no more time for it', () => {
  const clock = new ManualClock(0);
  const names: unknown[] = [];
  const slow = (record: object): void => {
    const name = (record as { packet_name?: unknown }).packet_name;
    names.push(name);
    if (name === 'a') queue.phase('of a');
    clock.advance(1.25);
  };
  const queue = new Queue({ clock, logger: { debug: slow, info: slow, warn: slow, error: slow } });
  for (const name of ['a', 'b']) queue.phase(name);
  queue.turn();
  expect([names, queue.turns.length]).toEqual([['a'], 0]);
  for (const name of ['b', 'of a']) {
    clock.advance(8.5);
    expect(queue.turns).toEqual([]);
    clock.advance(0.25);
    queue.turn();
    expect(names.at(-1)).toBe(name);
  }
});

test.each(['before', 'after'])(
  '[TRACE-012] a logger that records %s the end keeps the order and does not nest',
  (when) => {
    const names: unknown[] = [];
    let depth = 0;
    const recording = (record: object): void => {
      const name = String((record as { packet_name?: unknown }).packet_name);
      names.push(`${name} ${++depth}`);
      if (!name.startsWith('of')) queue.phase(`of ${name}`);
      depth--;
    };
    const queue = new Queue({ logger: { debug: recording, info: recording, warn: recording, error: recording } });
    if (when === 'after') queue.flow.close();
    for (const name of ['a', 'b']) queue.phase(name);
    queue.flow.close();
    const order = when === 'before' ? ['a', 'b', 'of a', 'of b'] : ['a', 'of a', 'b', 'of b'];
    expect(names).toEqual(order.map((name) => `${name} 1`));
  },
);

test('[TRACE-012] closing takes 100 ms of a slow logger; what is left then is counted', () => {
  const clock = new ManualClock();
  let written = 0;
  const slow = (): void => {
    written++;
    clock.advance(120);
  };
  const queue = new Queue({ clock, logger: { debug: slow, info: slow, warn: slow, error: slow } });
  for (let n = 0; n < 10; n++) queue.phase(`p${n}`);
  queue.flow.close();
  queue.turn();
  expect([written, queue.flow.droppedRecords]).toEqual([1, 9]);
});

test.each([
  ['always', [90, 90, 90, 90, 90, 90, 90, 90, 90, 90], 2],
  ['after a fast record', [0, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90], 3],
])('[TRACE-012] a logger that is slow %s is looked at often enough', (_, costs, most) => {
  const clock = new ManualClock(0);
  let written = 0;
  const slow = (): void => clock.advance(costs[written++]!);
  const queue = new Queue({ clock, logger: { debug: slow, info: slow, warn: slow, error: slow } });
  for (const at of costs.keys()) queue.phase(`p${at}`);
  queue.flow.close();
  expect([written, queue.flow.droppedRecords]).toEqual([most, costs.length - most]);
});

test('[TRACE-012] closing writes what waits, and what comes then is written at once', () => {
  const queue = new Queue();
  queue.phase('a');
  queue.flow.close();
  queue.phase('b');
  expect(queue.names()).toEqual(['a', 'b']);
  queue.turn();
  expect(queue.names()).toEqual(['a', 'b']);
});
