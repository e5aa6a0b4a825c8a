/**
 * Several hosts of one topic in one process, on one memory network, under one clock that only the test moves.
 *
 * Owns the end of every test: all hosts close, and nothing of them may be left.
 */
import assert from 'node:assert/strict';
import { loopTurns, until } from '../loop-turns.ts';
import { ManualClock } from '../manual-clock.ts';
import { MemoryNetwork } from '../memory-network.ts';
import type { TopicHostPlace } from './topic-host.ts';

/** Anything that takes part in the network and has to be closed. */
export interface Closable {
  close(): Promise<void>;
}

interface ClosableHost extends Closable {
  leftovers(): readonly string[];
}

type MakeHost<H, O> = (place: TopicHostPlace, options: O) => H;

/**
 * @param afterEach - of the test runner
 * @returns how to arrange a cluster that is closed and checked when the test is over
 */
export function clusterArranger<H extends ClosableHost, O extends object>(
  makeHost: MakeHost<H, O>,
  afterEach: (run: () => Promise<void>) => void,
): () => TopicCluster<H, O> {
  const clusters: TopicCluster<H, O>[] = [];
  afterEach(async () => {
    for (const cluster of clusters.splice(0)) await cluster.close();
  });
  return () => {
    const cluster = new TopicCluster<H, O>(makeHost);
    clusters.push(cluster);
    return cluster;
  };
}

export class TopicCluster<H extends ClosableHost, O extends object> {
  readonly clock = new ManualClock();
  readonly network = new MemoryNetwork({ clock: this.clock });
  readonly hosts: H[] = [];
  readonly #makeHost: MakeHost<H, O>;
  readonly #others: Closable[] = [];

  constructor(makeHost: MakeHost<H, O>) {
    this.#makeHost = makeHost;
  }

  host(name: string, options: Partial<O> = {}): H {
    // All options of a topic's host are optional.
    const host = this.#makeHost({ name, network: this.network, clock: this.clock }, options as O);
    this.hosts.push(host);
    return host;
  }

  /** Closes `other` at the end, before the hosts. */
  add<T extends Closable>(other: T): T {
    this.#others.push(other);
    return other;
  }

  /** Waits for `promise`, moving the clock on where only time can end it. */
  async passing<T>(promise: Promise<T>, stepMs = 250): Promise<T> {
    let isOver = false;
    const over = promise.finally(() => (isOver = true));
    over.catch(() => undefined); // handed to the caller below
    await loopTurns(16);
    for (let steps = 0; !isOver && steps < 1_000; steps++) await this.clock.advanceAsync(stepMs);
    if (!isOver) throw new Error(`did not end within ${1_000 * stepMs} ms of test time`);
    return over;
  }

  async close(): Promise<void> {
    this.network.restore();
    for (const other of this.#others) await this.passing(other.close());
    // Hosts wait for each other's last word: all close at once.
    await this.passing(Promise.all(this.hosts.map((host) => host.close())));
    await until(() => this.network.openConnections === 0, 'every connection ends');
    assert.deepEqual(
      this.hosts.flatMap((host) => host.leftovers()),
      [],
    );
    assert.equal(this.clock.pendingTimers, 0, 'timers are left');
  }
}
