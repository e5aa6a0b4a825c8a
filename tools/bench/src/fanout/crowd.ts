/**
 * A publisher and its subscribers, each in a process of its own: a contestant.
 *
 * Owns the processes from opening to end. Leaves the order of measurements to `interleave.ts`.
 *
 * 1. Events are counted by every subscriber, from the first publish to the last arrival at the last of them.
 * 2. Those who are stopped are subscribed and read nothing; what they lose is not counted.
 */
import { fileURLToPath } from 'node:url';
import type { CargoSpec } from '../cargo.ts';
import { Peer } from '../peer.ts';
import type { FanoutCommands } from './commands.ts';
import { waveSize, WaveSum } from './waves.ts';

export interface CrowdPlan {
  readonly side: string;
  readonly bodyBytes: number;
  /** Those who read. */
  readonly readers: number;
  /** Those who are stopped once all have warmed up. */
  readonly stopped: number;
}

const entry = fileURLToPath(new URL('./peer-main.js', import.meta.url));

export class Crowd {
  readonly #plan: CrowdPlan;
  readonly #publisher: Peer<FanoutCommands>;
  readonly #readers: readonly Peer<FanoutCommands>[];
  readonly #stopped: readonly Peer<FanoutCommands>[];
  #perSecond = 0;

  private constructor(plan: CrowdPlan) {
    const peers = (count: number, what: string): Peer<FanoutCommands>[] =>
      Array.from({ length: count }, () => new Peer(`${what} of ${plan.side}`, entry));
    this.#plan = plan;
    this.#publisher = new Peer(`publisher of ${plan.side}`, entry);
    this.#readers = peers(plan.readers, 'subscriber');
    this.#stopped = peers(plan.stopped, 'stopped subscriber');
  }

  static async open(plan: CrowdPlan): Promise<Crowd> {
    const crowd = new Crowd(plan);
    try {
      await crowd.#open();
    } catch (error) {
      await crowd.end();
      throw new Error(`side "${plan.side}" could not be opened`, { cause: error });
    }
    return crowd;
  }

  /** Runs until `warmUpMs` have passed, with ever larger waves, so that the last one tells the rate. */
  async warmUp(warmUpMs: number): Promise<void> {
    const sum = new WaveSum();
    while (sum.elapsedMs < warmUpMs) await this.#wave(warmUpMs, sum);
    for (const peer of this.#stopped) peer.stop(); // 2
  }

  /** Events per second at each of those who read. */
  async measure(sliceMs: number): Promise<number> {
    const sum = new WaveSum();
    while (sum.elapsedMs < sliceMs) await this.#wave(sliceMs, sum);
    return sum.perSecond;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#readers, ...this.#stopped].map((peer) => peer.end()));
    await this.#publisher.end();
  }

  async #open(): Promise<void> {
    const { side, bodyBytes } = this.#plan;
    const cargo: CargoSpec = { kind: 'json', bodyBytes: [bodyBytes] };
    const { address } = await this.#publisher.ask('openPublisher', { side, cargo });
    const subscribers = [...this.#readers, ...this.#stopped];
    await Promise.all(subscribers.map((peer) => peer.ask('openSubscriber', { side, cargo, address })));
    await this.#publisher.ask('ready', { subscriberCount: subscribers.length });
  }

  async #wave(sliceMs: number, sum: WaveSum): Promise<void> {
    const count = waveSize(this.#perSecond, sliceMs, this.#plan.bodyBytes);
    await Promise.all(this.#readers.map((peer) => peer.ask('arm', { count })));
    const [{ startedAtMs }, ...ends] = await Promise.all([
      this.#publisher.ask('stream', { count }),
      ...this.#readers.map((peer) => peer.ask('counted', undefined)),
    ]);
    const lastAtMs = ends.map((end) => end.lastAtMs); // 1
    const wave = new WaveSum();
    for (const one of [wave, sum]) one.add(count, startedAtMs, lastAtMs);
    this.#perSecond = wave.perSecond;
  }
}
