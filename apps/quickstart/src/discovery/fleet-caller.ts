/**
 * The host that calls the fleet, and looks at it: it knows the store and nobody else.
 *
 * Owns one host and its calls. It is the same whether the host has a process of its own or shares one. Leaves counting to
 * the tallies, and what it sees to `sights`.
 *
 * L1 Every call has a deadline, so `finish` ends.
 * L2 Calls keep a pace: what is measured here is how soon others are found, and machines at their limit find nobody soon.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '@zlink/framework';
import { type CallCounts, sum } from '../calls.ts';
import { CallTally } from '../tally.ts';
import { type Answer, Book, DEPOT, FLEET, Load, RIDE } from './contracts.ts';
import { describeHost, type FleetPartOptions } from './fleet-host.ts';
import type { CallerCounts, CallerNews } from './reports.ts';
import { sightsOf } from './sights.ts';

const rideCallers = 8;
const loadCallers = 12;
const paceMs = 4;
const callTimeoutMs = 5_000;
const lookEveryMs = 5;
const progressEveryMs = 250;

export class FleetCaller {
  readonly #host: Host;
  readonly #tell: (news: CallerNews) => void;
  readonly #rides = new CallTally();
  readonly #loads = new CallTally();
  readonly #timers: NodeJS.Timeout[] = [];
  #callers: readonly Promise<void>[] = [];
  #isOn = true;
  #lastId = 0;
  #lastLook = '';
  #last = { atMs: performance.now(), answered: 0 };

  constructor(part: FleetPartOptions, tell: (news: CallerNews) => void) {
    this.#host = describeHost(part);
    this.#host.addRouteMesh(FLEET).setRoutingIdPrefix(part.name).channel(RIDE).client();
    this.#host.addClientServerChannel(DEPOT).client();
    this.#tell = tell;
  }

  async start(): Promise<void> {
    await this.#host.start();
    this.#timers.push(setInterval(() => this.#look(), lookEveryMs));
  }

  /** Calls begin. */
  begin(): void {
    this.#callers = [
      ...Array.from({ length: rideCallers }, () => this.#repeat(this.#rides, (id) => this.#book(id))),
      ...Array.from({ length: loadCallers }, () => this.#repeat(this.#loads, (id) => this.#load(id))),
    ];
    this.#timers.push(setInterval(() => this.#tell({ kind: 'progress', ...this.#progress() }), progressEveryMs));
  }

  counts(): CallerCounts {
    return { rides: this.#rides.counts(), loads: this.#loads.counts() };
  }

  /** No new calls; resolves when every call has ended (L1). */
  async finish(): Promise<CallerCounts> {
    this.#isOn = false;
    await Promise.all(this.#callers);
    return this.counts();
  }

  async leave(): Promise<string> {
    for (const timer of this.#timers) clearInterval(timer);
    const { outcome } = await this.#host.shutdown();
    return outcome;
  }

  /** For when nobody waits for an orderly end any more. */
  async abandon(deadlineMs: number): Promise<void> {
    this.#isOn = false;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#host.shutdown({ deadlineMs });
  }

  async #repeat(tally: CallTally, call: (id: number) => Promise<Answer>): Promise<void> {
    while (this.#isOn) {
      const asked = ++this.#lastId;
      tally.accept();
      try {
        const { id, by } = await call(asked);
        if (id === asked) tally.answer(by);
        else tally.answerWrongly();
      } catch (error) {
        tally.fail(error);
      }
      await delay(paceMs); // L2
    }
  }

  #book(id: number): Promise<Answer> {
    return this.#host.routeClient.requestToChannel(RIDE, Book({ id })).timeoutMs(callTimeoutMs).submit();
  }

  #load(id: number): Promise<Answer> {
    return this.#host.routeClient.requestToChannel(DEPOT, Load({ id })).timeoutMs(callTimeoutMs).submit();
  }

  #look(): void {
    const sights = sightsOf(this.#host);
    const look = JSON.stringify(sights);
    if (look === this.#lastLook) return;
    this.#lastLook = look;
    this.#tell({ kind: 'sights', sights });
  }

  #progress() {
    const counts = this.counts();
    const now = { atMs: performance.now(), answered: answersOf(counts.rides) + answersOf(counts.loads) };
    const callsPerSecond = ((now.answered - this.#last.answered) / (now.atMs - this.#last.atMs)) * 1_000;
    this.#last = now;
    return { counts, callsPerSecond };
  }
}

function answersOf({ answered }: CallCounts): number {
  return sum(answered);
}
