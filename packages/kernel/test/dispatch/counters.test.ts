import { seededRandom } from '@zlink/testing';
import fc from 'fast-check';
import { message, request } from '../../src/message/index.ts';
import { FakeLink } from './fake-link.ts';
import { expectNothingHeld, gate, type Gate, Harness, sumOf } from './harness.ts';

const Ask = request<{ n: number }, unknown>('ask');
const Tell = message<{ n: number }>('tell');

const actions = [
  'request',
  'send',
  'unknown',
  'broken',
  'late',
  'finish',
  'throw',
  'cancel',
  'wait',
  'grant',
  'refuse',
  'write',
  'close',
  'time',
  'turn',
  'drain',
  'serve',
] as const;

/** Everything that can happen to a dispatcher, in any order. */
class World {
  readonly gates: Gate<unknown>[] = [];
  readonly links = [new FakeLink(), new FakeLink()];
  readonly harness: Harness;
  readonly #random: () => number;
  #requested: (readonly [FakeLink, number])[] = [];

  constructor(concurrency: number, seed: number, isFiltered: boolean) {
    this.#random = seededRandom(seed);
    const hold = (): unknown => {
      if (this.#random() < 0.3) return { ok: true };
      if (this.#random() < 0.1) throw new Error('sync');
      const held = gate<unknown>();
      this.gates.push(held);
      return held.promise;
    };
    this.harness = new Harness((handlers) => handlers.addRequest(Ask, hold).addSend(Tell, hold as never), {
      concurrency,
      mailboxLimits: { messages: 8, bytes: 700 },
      filters: isFiltered ? [(_, next) => (this.#random() < 0.2 ? undefined : next())] : [],
    });
  }

  async act(action: (typeof actions)[number]): Promise<void> {
    const { harness } = this;
    const link = this.#pick(this.links) as FakeLink; // never empty
    switch (action) {
      case 'request':
        if (link.phase === 'open') this.#requested.push([link, harness.request(Ask, { n: 1 }, { link })]);
        break;
      case 'late':
        if (link.phase === 'open') harness.request(Ask, { n: 1 }, { link, remainingMs: 20 });
        break;
      case 'unknown':
        if (link.phase === 'open') harness.request('nobody', {}, { link });
        break;
      case 'broken':
        if (link.phase === 'open') harness.request(Ask, {}, { link, payload: '{' });
        break;
      case 'send':
        harness.send(Tell, { n: 1 }, { link });
        break;
      case 'finish':
        this.#take()?.open({ ok: true });
        break;
      case 'throw':
        this.#take()?.fail(new Error('async'));
        break;
      case 'cancel': {
        const [of, correlation] = this.#pick(this.#requested) ?? [link, 0];
        harness.dispatcher.cancel(of, correlation);
        break;
      }
      case 'wait':
      case 'refuse':
      case 'write':
        link.mode = action;
        break;
      case 'grant':
        link.grant();
        break;
      case 'close':
        link.end();
        harness.dispatcher.linkClosed(link);
        this.links[this.links.indexOf(link)] = new FakeLink();
        break;
      case 'time':
        harness.clock.advance(10);
        break;
      case 'turn':
        harness.turn();
        break;
      case 'drain':
        harness.dispatcher.stopIntake('Rejected');
        break;
      case 'serve':
        harness.dispatcher.resumeIntake();
        break;
    }
    this.expectInvariants();
    await Promise.resolve();
    this.expectInvariants();
  }

  expectInvariants(): void {
    let queued = 0;
    for (const counters of this.harness.dispatcher.counters()) {
      expect(sumOf(counters)).toBe(counters.accepted);
      queued += counters.queued;
      expect(Math.min(counters.running, counters.queued)).toBeGreaterThanOrEqual(0);
    }
    expect(this.harness.permits.inUse).toBe(queued);
  }

  async end(): Promise<void> {
    this.harness.dispatcher.stopIntake('ShuttingDown');
    this.harness.dispatcher.abortAll();
    this.expectInvariants();
    for (const link of this.links) link.grant();
    for (const held of this.gates) held.open({ ok: true });
    await this.harness.dispatcher.idle();
    expectNothingHeld(this.harness, ...this.links);
  }

  #take(): Gate<unknown> | undefined {
    const index = Math.floor(this.#random() * this.gates.length);
    return this.gates.splice(index, 1)[0];
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}

test('[JOBQ-004] [JOBQ-006] whatever happens, every message is at one place, holds its permit only while it waits, and ends once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...actions), { maxLength: 80 }),
      fc.constantFrom(1, 2, 256),
      fc.integer(),
      fc.boolean(),
      async (steps, concurrency, seed, isFiltered) => {
        const world = new World(concurrency, seed, isFiltered);
        for (const step of steps) await world.act(step);
        await world.end();
      },
    ),
    { numRuns: 400 },
  );
});

test('[JOBQ-006] counters are snapshots that do not change afterwards', () => {
  const harness = new Harness((handlers) => handlers.addSend(Tell, () => undefined));
  harness.send('nobody', {});
  const before = harness.sends;
  harness.send('nobody', {});
  expect(before).toMatchObject({ accepted: 1, dropped: { no_handler: 1 } });
  expect(Object.isFrozen(before)).toBe(true);
  expect(Object.isFrozen(before.dropped)).toBe(true);
});
