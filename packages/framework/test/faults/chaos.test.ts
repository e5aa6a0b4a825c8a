import { createFaultProxy, type FaultProxy, type ProxyDirection, seededRandom } from '@zlink/testing';
import type { Ended, Load } from '../fixtures/fault-load.ts';
import type { FaultServer } from '../fixtures/fault-server.ts';
import { endChildren, startChild } from './fault-child.ts';

const isLong = process.env['ZLINK_LONG'] === '1';
const seed = Number(process.env['ZLINK_SEED'] ?? 9);
/** Four a second. */
const ticks = isLong ? 2_400 : 80;
const liveness = { probeIntervalMs: 200, deadlineMs: 600 };

let proxy: FaultProxy | undefined;

afterEach(async () => {
  await endChildren();
  await proxy?.close();
});

/** One fault after another, with a calm between them now and then; the same for the same seed. */
class Chaos {
  readonly #proxy: FaultProxy;
  readonly #random: () => number;

  constructor(target: FaultProxy, random: () => number) {
    this.#proxy = target;
    this.#random = random;
  }

  step(): void {
    const faults = [
      () => this.#proxy.cut(),
      () => this.#proxy.cut(),
      () => this.#proxy.truncateAfter(this.#upTo(200_000)),
      () => this.#proxy.truncateAfter(this.#upTo(2_000)), // in the middle of a handshake
      () => this.#proxy.delay(this.#upTo(200)),
      () => this.#proxy.blackhole(this.#oneOf<ProxyDirection>(['both', 'toTarget', 'toClient'])),
      () => this.#refuseAll(),
      () => this.#proxy.restore(),
      () => this.#proxy.restore(),
      () => this.#proxy.restore(),
    ];
    this.#oneOf(faults)();
  }

  #refuseAll(): void {
    this.#proxy.refuse();
    this.#proxy.cut();
  }

  #upTo(most: number): number {
    return 1 + Math.floor(this.#random() * most);
  }

  #oneOf<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)]!; // below the length
  }
}

/** What the caller believes of its calls against what the server has handled. */
function expectHonest({ started, counts, answered, unsubmitted }: Ended, handled: ReadonlySet<number>): void {
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(started);
  const known = ['ok', 'Unavailable', 'DeadlineExceeded', 'NotFound'];
  expect(Object.keys(counts).filter((kind) => !known.includes(kind))).toEqual([]);
  expect(unsubmitted.filter((id) => handled.has(id))).toEqual([]);
  expect(answered.length).toBeGreaterThan(started / 100);
}

test(
  `[CALL-004] [C10] seed ${seed}: cuts, delays, half writes and silence under load: one result each, no leak`,
  async () => {
    const server = await startChild<FaultServer>('server');
    const load = await startChild<Load>('load');
    proxy = await createFaultProxy({ target: await server.ask('serve', { liveness }) });
    const serverDescriptors = await server.ask('descriptors');
    const descriptors = await load.ask('connect', { address: proxy.address, liveness, restMs: isLong ? 100 : 10 });
    const chaos = new Chaos(proxy, seededRandom(seed));
    const enough = ticks / 10; // connections: there was chaos
    for (let tick = 0; tick < ticks || proxy.accepted <= enough; tick++) {
      await load.next('tick');
      chaos.step();
    }
    proxy.restore();
    const { requests, sends } = await load.ask('finish');

    const handled = new Set(await server.ask('handledIds', 'echo'));
    expectHonest(requests, handled);
    expectHonest(sends, new Set(await server.ask('handledIds', 'note')));
    expect((await server.ask('handled')).repeated).toEqual([]);
    expect(requests.answered.filter((id) => !handled.has(id))).toEqual([]);

    const nothing = { pendingRequests: 0, waitingRecords: 0, deadlines: 0, permits: 0 };
    expect(await load.ask('leftovers', descriptors + 2)).toEqual({ links: 1, ...nothing });
    expect(await server.ask('settled', 1)).toEqual({ links: 1, ...nothing });
    await server.ask('descriptorsDownTo', serverDescriptors + 3); // one connection more than before the client came
    for (const { running, queued } of await server.ask('counters')) expect([running, queued]).toEqual([0, 0]);
    await load.ask('close');
    expect(await load.ended).toEqual({ code: 0, signal: null });
  },
  isLong ? 900_000 : 300_000,
);
