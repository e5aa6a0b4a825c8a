/**
 * A server of the shop as the act sees it.
 *
 * Owns what the act did to its process, and what that makes known of it. Leaves to the act when it is done.
 *
 * L1 Once the act has ended a server, its fate is known here for certain; a client only sees that a link is gone.
 */
import type { Stage } from '../act.ts';
import type { Child } from '../child.ts';
import type { ServerEvidence } from './evidence.ts';
import type { ServerCounts, ServerReport } from './reports.ts';

const readyWithinMs = 15_000;
const endWithinMs = 10_000;

/** `draining`: told to leave, still ending what it accepted; `left`: done with that; `killed`: ended by force. */
export type Fate = 'draining' | 'left' | 'killed';

export interface Role {
  readonly name: string;
  readonly weight: number;
}

export class Player implements Role {
  readonly name: string;
  readonly weight: number;
  readonly endpoint: string;
  readonly #process: Child<ServerReport>;
  #told: 'drain' | 'die' | undefined;

  constructor({ name, weight }: Role, endpoint: string, process: Child<ServerReport>) {
    this.name = name;
    this.weight = weight;
    this.endpoint = endpoint;
    this.#process = process;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** L1; `undefined` while it serves. */
  get fate(): Fate | undefined {
    if (this.#told === undefined) return undefined;
    if (this.#told === 'die') return 'killed';
    return this.#process.latest('stopped') === undefined ? 'draining' : 'left';
  }

  drain(): void {
    this.#told = 'drain';
    this.#process.drain();
  }

  kill(): void {
    this.#told = 'die';
    this.#process.end('SIGKILL');
  }

  /** What is known of it after `drain`, once its process has ended. */
  async leaving({ wait }: Stage, end: 'drained' | 'stopped'): Promise<ServerEvidence> {
    const { outcome, counts } = await wait(this.#process.expect('stopped', endWithinMs));
    await wait(this.#process.expectEnd(endWithinMs));
    return this.#evidence(end, outcome, counts);
  }

  /** What is known of it after `kill`: the last counts that it sent. */
  remains(): ServerEvidence {
    const counts = this.#process.latest('counts')?.counts;
    if (counts === undefined) throw new Error(`server ${this.name} never reported its counters`);
    return this.#evidence('killed', undefined, counts);
  }

  #evidence(end: ServerEvidence['end'], outcome: string | undefined, counts: ServerCounts): ServerEvidence {
    return { name: this.name, weight: this.weight, end, outcome, counts };
  }
}

/** @param port - 0: any free one */
export async function startPlayer({ processes }: Stage, role: Role, port: number): Promise<Player> {
  const entry = new URL('./server.js', import.meta.url);
  const args = [role.name, String(role.weight), String(port)];
  const process = processes.start<ServerReport>(`server ${role.name}`, entry, args);
  const { endpoint } = await process.expect('ready', readyWithinMs);
  return new Player(role, endpoint, process);
}
