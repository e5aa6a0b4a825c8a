/**
 * A node process as the act sees it.
 *
 * Owns what the act wants of it, and what that makes known of it. Leaves to the act when.
 */
import type { Stage } from '../act.ts';
import type { Child } from '../child.ts';
import type { Answer } from './contracts.ts';
import type { NodeEvidence } from './evidence.ts';
import type { CallerCounts, NodeCounts, NodeReport, NodeWish, PeerAddress } from './reports.ts';

const readyWithinMs = 15_000;
const endWithinMs = 10_000;

/** `killed`: ended by force; `starting`: a new process with the same RID is not there yet. */
export type Fate = 'killed' | 'starting';

export interface Role {
  /** Of the process. */
  readonly name: string;
  readonly rid: string;
  /** 0: it calls the channel. */
  readonly weight: number;
}

export class Player implements Role, PeerAddress {
  readonly name: string;
  readonly rid: string;
  readonly weight: number;
  readonly endpoint: string;
  readonly process: Child<NodeReport>;

  constructor({ name, rid, weight }: Role, endpoint: string, process: Child<NodeReport>) {
    this.name = name;
    this.rid = rid;
    this.weight = weight;
    this.endpoint = endpoint;
    this.process = process;
  }

  /** Dials the others; resolves when it is connected with all of them. */
  async meet({ wait }: Stage, others: readonly PeerAddress[]): Promise<void> {
    const met = this.process.next('met', readyWithinMs);
    this.process.tell<NodeWish>({ kind: 'meet', peers: others.map(({ rid, endpoint }) => ({ rid, endpoint })) });
    await wait(met);
  }

  /** Makes one direct call to each node that it has met. */
  async greet({ wait }: Stage): Promise<readonly Answer[]> {
    const greeted = this.process.next('greeted', readyWithinMs);
    this.process.tell<NodeWish>({ kind: 'greet' });
    return (await wait(greeted)).answers;
  }

  /** Lets it call the others; the RIDs that answered its first calls to the channel. */
  async begin({ wait }: Stage): Promise<readonly string[]> {
    this.process.tell<NodeWish>({ kind: 'begin' });
    return (await wait(this.process.expect('begun', readyWithinMs))).order;
  }

  /** No new calls: what it has counted when all of them have ended. */
  async finish({ wait }: Stage): Promise<CallerCounts> {
    this.process.ask('finish');
    return (await wait(this.process.expect('finished', endWithinMs))).counts;
  }

  /** Ends it by force. What is known of it are the last counts that it sent. */
  async kill({ wait }: Stage): Promise<NodeEvidence> {
    this.process.end('SIGKILL');
    await wait(this.process.ended);
    const counts = this.process.latest('counts')?.counts;
    if (counts === undefined) throw new Error(`node ${this.name} never reported its counters`);
    return this.#evidence('killed', undefined, counts);
  }

  /** Ends it in order. */
  async leave({ wait }: Stage): Promise<NodeEvidence> {
    this.process.drain();
    const { outcome, counts } = await wait(this.process.expect('stopped', endWithinMs));
    await wait(this.process.expectEnd(endWithinMs));
    return this.#evidence('stopped', outcome, counts);
  }

  #evidence(end: NodeEvidence['end'], outcome: string | undefined, counts: NodeCounts): NodeEvidence {
    return { name: this.name, rid: this.rid, weight: this.weight, end, outcome, counts };
  }
}

/** @param port - 0: any free one */
export async function startPlayer({ processes, wait }: Stage, role: Role, port: number): Promise<Player> {
  const entry = new URL('./node.js', import.meta.url);
  const args = [role.name, role.rid, String(port), String(role.weight)];
  const process = processes.start<NodeReport>(`node ${role.name}`, entry, args);
  const { endpoint } = await wait(process.expect('ready', readyWithinMs));
  return new Player(role, endpoint, process);
}
