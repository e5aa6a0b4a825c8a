/**
 * The calls of the node that calls the others.
 *
 * Owns rounds of calls to the channel, one after another, and for each other node one direct call at a time. Leaves counting
 * to the tallies.
 *
 * L1 Every call has a deadline, so `finish` ends.
 * L2 Who has met an error rests: a call that fails at once must not become a loop that lets nothing else run.
 * L3 All calls of a round are submitted in one turn of the event loop, so they choose from one list of servers.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Host, RouteMeshRuntime } from '@zlink/framework';
import { CallTally } from '../tally.ts';
import { type Answer, Join, Load, MATCH, MESH } from './contracts.ts';
import type { CallerCounts } from './reports.ts';
import { RoundTally } from './round-tally.ts';

/** A multiple of the 4 calls after which weights 100 and 300 repeat their order. */
const callsPerRound = 40;
const firstCalls = 4;
const callTimeoutMs = 5_000;
const restMs = 10;

export class Caller {
  readonly #host: Host;
  readonly #mesh: RouteMeshRuntime;
  readonly #channel = new CallTally();
  readonly #direct = new CallTally();
  readonly #rounds = new RoundTally();
  #loops: readonly Promise<void>[] = [];
  #isOn = true;
  #lastPlayer = 0;

  constructor(host: Host) {
    this.#host = host;
    this.#mesh = host.routeMesh(MESH);
  }

  /** The first calls to the channel, one by one; then all others begin. */
  async begin(rids: readonly string[]): Promise<readonly string[]> {
    const order: string[] = [];
    while (order.length < firstCalls) order.push((await this.#join())?.rid ?? 'nobody');
    this.#loops = [this.#repeat(() => this.#round()), ...rids.map((rid) => this.#repeat(() => this.#load(rid)))];
    return order;
  }

  /** No new calls; resolves when every call has ended (L1). */
  async finish(): Promise<void> {
    this.#isOn = false;
    await Promise.all(this.#loops);
  }

  counts(): CallerCounts {
    return { channel: this.#channel.counts(), direct: this.#direct.counts(), rounds: this.#rounds.counts() };
  }

  /** @param step - resolves with whether all went well */
  async #repeat(step: () => Promise<boolean>): Promise<void> {
    while (this.#isOn) if (!(await step())) await delay(restMs); // L2
  }

  async #round(): Promise<boolean> {
    const before = this.#weights();
    const calls = Array.from({ length: callsPerRound }, () => this.#join()); // L3
    const answers = (await Promise.all(calls)).filter((answer) => answer !== undefined);
    if (answers.length < callsPerRound) return false;
    if (Object.keys(before).length === 2 && isSame(before, this.#weights())) this.#rounds.add(answers, before);
    return true;
  }

  /** Of the servers that are ready, by RID. */
  #weights(): Readonly<Record<string, number>> {
    const weights: Record<string, number> = {};
    for (const { routingId, state, draining, channels } of this.#mesh.peers.list()) {
      const weight = channels.find(({ name }) => name === MATCH)?.weight ?? 0;
      if (routingId !== undefined && state === 'ready' && !draining && weight > 0) weights[routingId] = weight;
    }
    return weights;
  }

  /** `undefined` if it failed, which the tally knows. */
  async #join(): Promise<Answer | undefined> {
    const asked = { player: ++this.#lastPlayer };
    this.#channel.accept();
    try {
      const join = this.#host.routeClient.requestToChannel(MATCH, Join(asked));
      const answer = await join.timeoutMs(callTimeoutMs).submit();
      if (answer.player === asked.player) this.#channel.answer(answer.name);
      else this.#channel.answerWrongly();
      return answer;
    } catch (error) {
      this.#channel.fail(error);
      return undefined;
    }
  }

  async #load(rid: string): Promise<boolean> {
    this.#direct.accept();
    try {
      const load = this.#host.routeClient.requestToNode(MESH, rid, Load({}));
      const answer = await load.timeoutMs(callTimeoutMs).submit();
      if (answer.rid === rid) this.#direct.answer(answer.name);
      else this.#direct.answerWrongly();
      return true;
    } catch (error) {
      this.#direct.fail(error);
      return false;
    }
  }
}

function isSame(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): boolean {
  const rids = Object.keys(before);
  return rids.length === Object.keys(after).length && rids.every((rid) => before[rid] === after[rid]);
}
