/**
 * Several hosts in one process, on one memory network, under one clock that only the test moves.
 *
 * Owns the end of every test: all hosts close, and nothing of them may be left.
 */
import { loopTurns, ManualClock, MemoryNetwork, until } from '@zlink/testing';
import { TestHost, type TestHostOptions } from './test-host.ts';

/** Anything that takes part in the network and has to be closed. */
export interface Closable {
  close(): Promise<void>;
}

const clusters: Cluster[] = [];

/** A cluster that is closed and checked when the test is over. */
export function arrangeCluster(): Cluster {
  const cluster = new Cluster();
  clusters.push(cluster);
  return cluster;
}

afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.close();
});

export class Cluster {
  readonly clock = new ManualClock();
  readonly network = new MemoryNetwork({ clock: this.clock });
  readonly hosts: TestHost[] = [];
  readonly #others: Closable[] = [];

  host(name: string, options: TestHostOptions = {}): TestHost {
    const host = new TestHost(name, this.network, this.clock, options);
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
    // Both sides of a connection close at once.
    await this.passing(Promise.all(this.hosts.map((host) => host.close())));
    await until(() => this.network.openConnections === 0, 'every connection ends');
    expect(this.hosts.flatMap((host) => host.leftovers())).toEqual([]);
    expect(this.clock.pendingTimers).toBe(0);
  }
}
