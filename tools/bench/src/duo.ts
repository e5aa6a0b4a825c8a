/**
 * Two peers that hold the two ends of one side: a contestant.
 *
 * Owns both processes from opening to end. Leaves the order of measurements to `interleave.ts`.
 *
 * 1. Each side has processes of its own: neither its code nor its garbage shares a heap with another side.
 * 2. One-way messages are counted by the receiver, from the first submission to the last arrival: what a sender has put
 *    into buffers is not yet there. Requests are counted by the caller: a request is complete when its answer is.
 * 3. A measurement has as many messages as the last warm-up says fit into the wanted time.
 */
import { fileURLToPath } from 'node:url';
import { Peer } from './peer.ts';
import type { Commands, WorkSpec } from './peer-commands.ts';

/** What is measured. */
export type Pattern =
  /** One-way messages. */
  | { readonly kind: 'stream' }
  /** Requests by many callers. */
  | { readonly kind: 'calls'; readonly callers: number }
  /** Requests and one-way messages by turns, by many callers. */
  | { readonly kind: 'mixed'; readonly callers: number }
  /** Round trips of a single caller. */
  | { readonly kind: 'serial' };

const minCount = 50;
const entry = fileURLToPath(new URL('./peer-main.js', import.meta.url));

export class Duo {
  readonly server: Peer<Commands>;
  readonly client: Peer<Commands>;
  readonly #pattern: Pattern;
  #perSecond = 0;

  private constructor(side: string, pattern: Pattern) {
    this.server = new Peer(`server of ${side}`, entry);
    this.client = new Peer(`client of ${side}`, entry);
    this.#pattern = pattern;
  }

  static async open(side: string, cargo: WorkSpec['cargo'], pattern: Pattern): Promise<Duo> {
    const duo = new Duo(side, pattern);
    const work: WorkSpec = { verb: pattern.kind === 'stream' ? 'send' : 'request', cargo };
    try {
      const { address } = await duo.server.ask('openServer', { side, work });
      await duo.client.ask('openClient', { side, work, address });
    } catch (error) {
      await duo.end();
      throw new Error(`side "${side}" could not be opened`, { cause: error });
    }
    return duo;
  }

  /** Runs until `warmUpMs` have passed, with ever larger numbers, so that the last one tells the rate (3). */
  async warmUp(warmUpMs: number): Promise<void> {
    const startedAtMs = performance.now();
    for (let count = minCount; ; count *= 2) {
      await this.#run(count);
      if (performance.now() - startedAtMs >= warmUpMs) return;
    }
  }

  /** Messages per second; for a single caller its median round trip in microseconds. */
  async measure(sliceMs: number): Promise<number> {
    return await this.#run(Math.max(minCount, Math.round((this.#perSecond * sliceMs) / 1_000)));
  }

  /** Sends so many one-way messages and waits until they have arrived; messages per second at the receiver. */
  async stream(count: number): Promise<number> {
    await this.server.ask('arm', { count });
    const [{ lastAtMs }, { startedAtMs }] = await Promise.all([
      this.server.ask('counted', undefined),
      this.client.ask('stream', { count }),
    ]);
    return (count / (lastAtMs - startedAtMs)) * 1_000;
  }

  async end(): Promise<void> {
    await this.client.end(); // first: so that its goodbye finds a server
    await this.server.end();
  }

  async #run(count: number): Promise<number> {
    const pattern = this.#pattern;
    if (pattern.kind === 'stream') return (this.#perSecond = await this.stream(count));
    const callers = pattern.kind === 'serial' ? 1 : pattern.callers;
    const plan = { count, callers, alternate: pattern.kind === 'mixed' };
    const { elapsedMs, medianUs } = await this.client.ask('calls', plan);
    this.#perSecond = (count / elapsedMs) * 1_000;
    return pattern.kind === 'serial' ? (medianUs ?? NaN) : this.#perSecond;
  }
}
