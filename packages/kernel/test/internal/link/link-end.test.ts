import { ManualClock, loopTurns, seededRandom } from '@zlink/testing';
import type { RandomSource } from '../../../src/internal/time/index.ts';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES, RecordKind } from '../../../src/internal/wire/index.ts';
import { type LinkPair, type LinkSide, type Received, joinLinks, leftovers, settle } from './link-side.ts';
import { TestRecord } from './test-record.ts';

const SEEDS = process.env['ZLINK_LONG'] === '1' ? 10_000 : 400;
const STEPS = 120;
const DRAIN_ROUNDS = 2_000;

/** One side of the simulation: what it has submitted, and what it still owes. */
class Actor {
  readonly side: LinkSide;
  readonly submitted: TestRecord[] = [];
  /** Ordinary records in the order in which they were written. */
  readonly accepted: string[] = [];
  readonly owed: Received[] = [];
  readonly answers = new Map<number, 'reply' | 'error' | 'forgone'>();
  readonly #random: RandomSource;
  #serial = 0;

  constructor(side: LinkSide, random: RandomSource) {
    this.side = side;
    this.#random = random;
    side.holding = true;
    side.onDelivered = (record) => {
      if (record.kind === RecordKind.request) this.owed.push(record);
    };
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  submit(kind: 'send' | 'request'): void {
    const payload = Buffer.alloc(this.#payloadBytes(), 0x2e);
    const text = `${kind} ${this.#serial++} `;
    payload.write(text);
    const record = TestRecord[kind]({ payload });
    record.onCallback = (what) => {
      if (what === 'admitted') this.accepted.push(text);
    };
    this.submitted.push(record);
    try {
      record.submit(this.side.link);
    } catch {
      expect(this.side.link.phase).not.toBe('open');
      return;
    }
    if (record.isWritten) this.accepted.push(text);
    this.checkWindow();
  }

  answerOne(forgoing: boolean): void {
    const request = this.owed.splice(this.below(this.owed.length), 1)[0];
    if (request === undefined) return;
    const { link } = this.side;
    if (forgoing) {
      this.answers.set(request.correlation, 'forgone');
      return link.forgo();
    }
    const isError = this.below(4) === 0;
    const answer = isError
      ? new TestRecord(RecordKind.error, { correlation: request.correlation, errorNumber: 4 })
      : TestRecord.reply(request.correlation, { payload: request.payload });
    this.submitted.push(answer);
    try {
      answer.submit(link);
      this.answers.set(request.correlation, isError ? 'error' : 'reply');
    } catch {
      expect(link.phase).toBe('closed');
    }
  }

  abandonOne(): void {
    const pending = this.submitted.filter((record) => record.isPending);
    pending[this.below(pending.length)]?.abandon(this.side.link, this.below(2) === 0);
  }

  /** Abandons what `other` will never answer. */
  giveUp(other: Actor): void {
    for (const record of this.submitted) {
      if (record.isPending && other.answers.get(record.correlation) === 'forgone') record.abandon(this.side.link);
    }
  }

  withdrawOne(): void {
    const waiting = this.submitted.filter((record) => record.isWaiting && record.kind !== RecordKind.reply);
    const chosen = waiting.filter((record) => record.kind !== RecordKind.error)[this.below(waiting.length)];
    chosen?.withdraw(this.side.link);
  }

  /** Unless a single record is larger, no more than the window is under way. */
  checkWindow(): void {
    const { outstandingBytes } = this.side.link;
    const largest = Math.max(0, ...this.submitted.map((record) => record.payload.length + RECORD_COST_BYTES));
    expect(outstandingBytes).toBeLessThanOrEqual(Math.max(4 * MIN_WINDOW_BYTES, largest));
  }

  #payloadBytes(): number {
    const size = this.#random();
    if (size < 0.6) return 20 + this.below(200);
    if (size < 0.95) return 20 + this.below(30_000);
    return 60_000 + this.below(40_000); // external, and some larger than the window
  }
}

interface Run {
  readonly pair: LinkPair;
  readonly actors: readonly [Actor, Actor];
}

function begin(seed: number): Run & { readonly random: RandomSource } {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const options = () => ({
    permits: { max: 1 + below(6), pauseThresholdPercent: [60, 80, 100][below(3)] ?? 100, resumeThresholdPercent: 50 },
    maxWindowBytes: MIN_WINDOW_BYTES * (1 + below(4)),
  });
  const pair = joinLinks(new ManualClock(), { completionLane: seed % 2 === 0, near: options(), far: options() });
  return { pair, actors: [new Actor(pair.near, random), new Actor(pair.far, random)], random };
}

async function act({ pair }: Run, actor: Actor, forgoes: boolean): Promise<void> {
  const { side } = actor;
  switch (actor.below(11)) {
    case 0:
    case 1:
      return actor.submit('send');
    case 2:
    case 3:
      return actor.submit('request');
    case 4:
      return actor.answerOne(forgoes && actor.below(6) === 0);
    case 5:
      return void side.letGoOne();
    case 6:
      if (actor.below(6) === 0) actor.abandonOne();
      return;
    case 7:
      if (actor.below(4) === 0) actor.withdrawOne();
      return;
    case 8:
      for (let count = actor.below(4); count > 0; count--) side.pipe.deliver();
      return actor.checkWindow();
    case 9:
      return loopTurns(1);
    default:
      return pair.clock.advance(actor.below(30));
  }
}

/** Everything that is owed is done, until both links have ended by themselves. */
async function drain(run: Run): Promise<void> {
  const [near, far] = run.actors;
  for (let round = 0; round < DRAIN_ROUNDS; round++) {
    if (run.actors.every(({ side }) => side.link.phase === 'closed')) return;
    if (round > 1_000) near.giveUp(far); // as its requests' deadlines would, in the end
    for (const actor of run.actors) {
      actor.side.letGoOne();
      actor.answerOne(false);
      for (let count = actor.below(4); count > 0; count--) actor.side.pipe.deliver();
    }
    if (round % 3 === 0) await loopTurns(1);
    if (round % 10 === 0) run.pair.clock.advance(20);
  }
  throw new Error(`the links did not end: ${run.actors.map(({ side }) => side.link.phase).join(', ')}`);
}

const textOf = (record: Received): string =>
  /^\w+ \d+ /.exec(Buffer.from(record.payload).toString('latin1'))?.[0] ?? '';

function judge({ pair, actors }: Run): void {
  for (const { side } of actors) side.letGo();
  expect(leftovers(pair)).toEqual([]);
  for (const { side, submitted } of actors) {
    expect(side.faults).toEqual([]);
    expect(submitted.map((record) => record.fault).filter((fault) => fault !== undefined)).toEqual([]);
  }
}

/** K2: what was accepted has arrived, in order, and every answer has reached its request. */
function judgeOrderlyEnd(run: Run): void {
  const [near, far] = run.actors;
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    expect(to.side.received.map(textOf)).toEqual(from.accepted);
    for (const record of from.submitted) {
      if (record.kind !== RecordKind.request || !record.isWritten) continue;
      const answer = to.answers.get(record.correlation);
      if (record.journal.includes('replied')) expect(answer).toMatch(/reply|error/);
      if (record.journal.includes('failed')) {
        expect(answer).toBe('forgone');
        expect(record.error?.submitted).toBe(true);
      }
      if (record.reply !== undefined && answer === 'reply')
        expect(Buffer.compare(record.reply, record.payload)).toBe(0);
    }
    for (const record of from.submitted)
      if (record.journal.includes('refused')) expect(record.error?.submitted).toBe(false);
    for (const reason of from.side.closed) expect(reason).toBe('closed');
  }
}

async function simulate(seed: number, ending: 'finish' | 'fail' | 'break'): Promise<Run> {
  const run = begin(seed);
  const { actors, random } = run;
  const endsAt = Math.floor(random() * STEPS);
  const secondAt = random() < 0.5 ? endsAt + Math.floor(random() * 20) : -1;
  const first = random() < 0.5 ? 0 : 1;
  const forgoes = random() < 0.3;
  for (let step = 0; step < STEPS; step++) {
    if (step === endsAt) end(run, first, ending);
    if (step === secondAt) run.actors[1 - first]?.side.link.finish();
    await act(run, actors[Math.floor(random() * 2)] as Actor, forgoes); // 0 or 1
  }
  await drain(run);
  await settle(run.pair);
  judge(run);
  if (ending === 'finish') judgeOrderlyEnd(run);
  return run;
}

function end({ actors }: Run, who: number, ending: 'finish' | 'fail' | 'break'): void {
  const side = actors[who]?.side;
  if (ending === 'finish') side?.link.finish();
  if (ending === 'fail') side?.link.fail('the test says so');
  if (ending === 'break') side?.pipe.break();
}

/** How often records ended in which way: a simulation in which nothing happens proves nothing. */
function countWays(tally: Map<string, number>, { actors }: Run): void {
  for (const { submitted, answers } of actors) {
    const ways = [...submitted.flatMap(({ journal }) => journal), ...answers.values()];
    for (const way of ways) tally.set(way, (tally.get(way) ?? 0) + 1);
  }
}

async function simulateAll(ending: 'finish' | 'fail' | 'break', count: number): Promise<void> {
  const tally = new Map<string, number>();
  for (let seed = 1; seed <= count; seed++) {
    try {
      countWays(tally, await simulate(seed, ending));
    } catch (cause) {
      throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause }); // expect throws errors
    }
  }
  for (const way of ['admitted', 'refused', 'replied', 'failed', 'reply', 'error', 'forgone']) {
    expect([way, (tally.get(way) ?? 0) > count / 40]).toEqual([way, true]);
  }
}

test(`[CORE-010] [CORE-011] finish from either or both sides at any moment of random traffic loses nothing (${SEEDS} seeds)`, async () => {
  await simulateAll('finish', SEEDS);
}, 600_000);

test('[CORE-008] [C09] a link that fails at any moment of random traffic settles everything exactly once', async () => {
  await simulateAll('fail', SEEDS / 2);
}, 600_000);

test('[CORE-008] [C09] a connection that breaks at any moment of random traffic settles everything exactly once', async () => {
  await simulateAll('break', SEEDS / 2);
}, 600_000);
