/**
 * The fleet: hosts that know a store and no address of each other; one joins, one leaves, one is killed, the store is away.
 *
 * Owns the order of events, and what of them is measured. Leaves hosts and the store to the venue, pictures to `screening`
 * and `scene`, the arithmetic to `proof`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { soFarLine } from '../accounts.ts';
import type { Act, Proof, Stage } from '../act.ts';
import { sum, sumErrors } from '../calls.ts';
import { seconds, span } from '../numbers.ts';
import { showDuring } from '../show.ts';
import type { Frame } from '../view.ts';
import { allCalls, type Discoveries, type HostEvidence, type Killing, type Outage } from './evidence.ts';
import type { CallerPlayer, HostPlayer, Role } from './players.ts';
import { findProblems } from './proof.ts';
import type { CallerCounts } from './reports.ts';
import { frameOf } from './scene.ts';
import { Screening } from './screening.ts';
import { find, isForgotten, isFound, isLeftOut, isOut, type Sight } from './sights.ts';
import { summaryLines } from './summary.ts';
import { defaultLeaseMs, loadMs, location, longestOutageMs, outageAnswers, outageMs } from './timing.ts';
import { openVenue, type Venue } from './venue.ts';

const callerName = 'owl';
const cast = ['crane', 'heron', 'ibis'].map((name): Role => ({ name, weight: 100 }));
const joiner: Role = { name: 'kite', weight: 100 };
const craneWeight = 300;

const seenWithinMs = 20_000;
/** Between two events, for those who watch. */
const restMs = 700;
const countAgainMs = 100;

export function createDiscoveryAct(): Act {
  return new DiscoveryAct();
}

type Hosts = readonly [crane: HostPlayer, heron: HostPlayer, ibis: HostPlayer];

class DiscoveryAct implements Act {
  #caller: CallerPlayer | undefined;

  async play(stage: Stage): Promise<Proof> {
    stage.view.tell(['', 'Discovery: hosts that find each other']);
    const venue = await stage.wait(openVenue(stage));
    const run = await Run.begin(stage, venue);
    this.#caller = run.caller;
    return run.play();
  }

  soFar(): readonly string[] {
    const counts = this.#caller?.progress?.counts;
    return [soFarLine(counts && allCalls(counts))];
  }
}

class Run {
  readonly caller: CallerPlayer;
  readonly #stage: Stage;
  readonly #venue: Venue;
  readonly #hosts: Hosts;
  readonly #foundMs: number;
  readonly #screening = new Screening();
  readonly #fates = new Map<string, string>();
  #isStoreAway = false;
  #sceneCount = 1;

  private constructor(stage: Stage, venue: Venue, caller: CallerPlayer, hosts: Hosts, foundMs: number) {
    this.#stage = stage;
    this.#venue = venue;
    this.caller = caller;
    this.#hosts = hosts;
    this.#foundMs = foundMs;
  }

  /** Starts the first hosts and the caller; calls begin when all have found each other. */
  static async begin(stage: Stage, venue: Venue): Promise<Run> {
    const { wait, view } = stage;
    view.tell(venue.lines.map((line) => `   ${line}`));
    const { ownerLeaseTtlMs, pollingIntervalMs } = location;
    view.tell([
      `   Hosts look for others every ${seconds(pollingIntervalMs)}, as by default. Their leases end after ` +
        `${seconds(ownerLeaseTtlMs)} instead of ${seconds(defaultLeaseMs)}, lest you wait.`,
      `   Two kinds of calls: rides go over a mesh, answered at once; loads over a channel, and take ${loadMs} ms. Shares count both.`,
      '   A host is left out when nobody chooses or dials it any more, forgotten when its record in the store is gone, too.',
      `1  ${callerName} starts, which calls, and ${cast.length} hosts, each a node of a mesh and a server of a channel.`,
    ]);
    const starting = Promise.all(cast.map((role) => venue.startHost(role)));
    const [caller, hosts] = await wait(Promise.all([venue.startCaller(callerName), starting]));
    const startedAtMs = performance.now();
    const found = seen(caller, 'all hosts', (sights) => cast.every(({ name }) => isFound(sights, name)));
    const foundAtMs = await wait(found);
    await wait(Promise.all(hosts.map((host) => host.meet(cast.length)))); // the other hosts and the caller
    const foundMs = Math.max(0, foundAtMs - startedAtMs);
    const pids = [...hosts, { name: callerName, pid: caller.pid }].flatMap(({ name, pid }) =>
      pid === undefined ? [] : [`${name} (process ${pid})`],
    );
    if (pids.length > 0) view.tell([`   They are ${pids.join(', ')}.`]);
    view.tell([
      `   ${callerName} saw all of them ${span(foundMs)} after the last had started; all nodes are connected.`,
    ]);
    caller.begin();
    return new Run(stage, venue, caller, hosts as [HostPlayer, HostPlayer, HostPlayer], foundMs); // as many as the cast has
  }

  async play(): Promise<Proof> {
    const [crane, heron, ibis] = this.#hosts;
    await this.#show(delay(restMs));
    const outage = await this.#outage();
    const killing = await this.#kill(ibis);
    const weight = await this.#weigh(crane, craneWeight);
    const { kite, joined } = await this.#join();
    const { heronEnd, left } = await this.#leave(heron);
    const killed = killing && (await this.#forget(killing.watched)); // its lease has run out meanwhile, or nearly

    const { calls, callerOutcome } = await this.#finish();
    const ends = [await this.#stop(crane), heronEnd, ...(killing ? [killing.end] : []), await this.#stop(kite)];
    await this.#stage.wait(this.#venue.close());
    const discoveries: Discoveries = { foundMs: this.#foundMs, weight, joined, left, killed };
    const evidence = { calls, callerOutcome, hosts: ends, discoveries, outage };
    const problems = findProblems(evidence);
    return { lines: summaryLines(evidence, problems), problems };
  }

  async #outage(): Promise<Outage> {
    const { storeName, outageText } = this.#venue;
    this.#tellScene(`For ${seconds(outageMs)} ${storeName} is away: ${outageText}. Calls go on.`);
    const before = await this.#stage.wait(this.caller.counts());
    const beganAtMs = performance.now();
    this.#isStoreAway = true;
    this.#venue.pauseStore();
    await this.#show(delay(outageMs));
    let after = await this.#stage.wait(this.caller.counts());
    while (answersOf(after) - answersOf(before) < outageAnswers && performance.now() - beganAtMs < longestOutageMs) {
      await this.#show(delay(countAgainMs));
      after = await this.#stage.wait(this.caller.counts());
    }
    this.#venue.resumeStore();
    this.#isStoreAway = false;
    const elapsedMs = performance.now() - beganAtMs;
    return {
      storeName,
      ms: elapsedMs,
      answered: answersOf(after) - answersOf(before),
      failed: errorsOf(after) - errorsOf(before),
    };
  }

  /** `undefined` where no host can be killed. */
  async #kill(
    ibis: HostPlayer,
  ): Promise<{ readonly end: HostEvidence; readonly watched: Promise<Killing> } | undefined> {
    const { name, kill } = ibis;
    if (kill === undefined) {
      this.#tellScene(`No host is killed here: ${this.#venue.whyNoKill}.`);
      return undefined;
    }
    this.#tellScene(
      `${name} is killed (SIGKILL): calls in its hands fail at once with typed errors. Its lease still runs.`,
    );
    this.#fates.set(name, 'killed');
    const killedAtMs = performance.now();
    const watched = this.#watchKilled(name, killedAtMs);
    watched.catch(() => undefined); // another event may end the demo before anybody waits for it
    const counts = await this.#show(kill());
    await this.#show(delay(restMs));
    return { end: { name, end: 'killed', outcome: undefined, counts }, watched };
  }

  async #watchKilled(name: string, killedAtMs: number): Promise<Killing> {
    const [lostAtMs, leftOutAtMs, forgottenAtMs] = await Promise.all([
      this.#seen(`that ${name} is gone`, (sights) => isOut(sights, name)),
      this.#seen(`that ${name} has no lease`, (sights) => isLeftOut(sights, name)),
      this.#seen(`that ${name} is forgotten`, (sights) => isForgotten(sights, name)),
    ]);
    return {
      name,
      lostMs: lostAtMs - killedAtMs,
      leftOutMs: leftOutAtMs - killedAtMs,
      forgottenMs: forgottenAtMs - killedAtMs,
    };
  }

  async #weigh(crane: HostPlayer, to: number): Promise<Discoveries['weight']> {
    const { name, weight: from } = crane;
    this.#tellScene(`${name} changes its weight in the mesh from ${from} to ${to}: who is connected is told at once.`);
    const toldAtMs = performance.now();
    const change = this.#seen(`the weight of ${name}`, (sights) => find(sights, name)?.weight === to);
    const [seenAtMs] = await this.#show(Promise.all([change, crane.weigh(to)]));
    const seenMs = seenAtMs - toldAtMs;
    this.#tell(`   ${callerName} knew it ${span(seenMs)} later.`);
    return { name, from, to, seenMs };
  }

  async #join(): Promise<{ readonly kite: HostPlayer; readonly joined: Discoveries['joined'] }> {
    const { name } = joiner;
    this.#tellScene(`${name} joins: it publishes itself, and nobody is told.`);
    const kite = await this.#show(this.#venue.startHost(joiner));
    const startedAtMs = performance.now();
    const seenAtMs = await this.#show(this.#seen(name, (sights) => isFound(sights, name)));
    const seenMs = Math.max(0, seenAtMs - startedAtMs);
    const process = kite.pid === undefined ? '' : ` (process ${kite.pid})`;
    this.#tell(`   ${callerName} saw ${name}${process} ${span(seenMs)} after it had started, and calls it.`);
    return { kite, joined: { name, seenMs } };
  }

  async #leave(heron: HostPlayer) {
    const { name } = heron;
    this.#tellScene(
      `${name} leaves in order: it gets nothing new, ends what it has, and removes what it had published.`,
    );
    this.#fates.set(name, 'leaving');
    const toldAtMs = performance.now();
    const [outAtMs, forgottenAtMs, departure] = await this.#show(
      Promise.all([
        this.#seen(`that ${name} leaves`, (sights) => isOut(sights, name)),
        this.#seen(`that ${name} is forgotten`, (sights) => isForgotten(sights, name)),
        heron.leave(),
      ]),
    );
    this.#fates.set(name, 'left');
    const left = { name, outMs: outAtMs - toldAtMs, forgottenMs: forgottenAtMs - toldAtMs };
    this.#tell(
      `   ${callerName} chose it no more after ${span(left.outMs)}, and had forgotten it after ${span(left.forgottenMs)}.`,
    );
    const heronEnd: HostEvidence = { name, end: 'left', ...departure };
    return { heronEnd, left };
  }

  async #forget(watched: Promise<Killing>): Promise<Killing> {
    this.#tellScene(
      'The lease of the killed host ends: it is left out. After another lease anybody removes what it had published.',
    );
    const killing = await this.#show(watched);
    const { name, leftOutMs, forgottenMs } = killing;
    this.#tell(
      `   ${name} was left out ${seconds(leftOutMs)} after its end, and forgotten after ${seconds(forgottenMs)}.`,
    );
    return killing;
  }

  async #finish() {
    const { wait } = this.#stage;
    this.#tellScene(`No new calls. ${callerName} waits until each one has ended; then everybody leaves.`);
    const calls = await wait(this.caller.finish());
    return { calls, callerOutcome: await wait(this.caller.leave()) };
  }

  async #stop(host: HostPlayer): Promise<HostEvidence> {
    return { name: host.name, end: 'stopped', ...(await this.#stage.wait(host.leave())) };
  }

  #tellScene(text: string): void {
    this.#stage.view.tell([`${++this.#sceneCount}  ${text}`]);
  }

  #tell(line: string): void {
    this.#stage.view.tell([line]);
  }

  #seen(what: string, isSeen: (sights: readonly Sight[]) => boolean): Promise<number> {
    return seen(this.caller, what, isSeen);
  }

  #show<T>(work: Promise<T>): Promise<T> {
    return showDuring(this.#stage, () => this.#frame(), work);
  }

  #frame(): Frame | undefined {
    const { progress, board } = this.caller;
    if (progress === undefined) return undefined;
    const store = `${this.#venue.storeName} ${this.#isStoreAway ? 'is away' : 'answers'}`;
    return frameOf(this.#screening.sceneOf({ progress, sights: board.sights, fates: this.#fates, store }));
  }
}

function seen({ board }: CallerPlayer, what: string, isSeen: (sights: readonly Sight[]) => boolean): Promise<number> {
  return board.seen(what, isSeen, seenWithinMs);
}

function answersOf(counts: CallerCounts): number {
  return sum(allCalls(counts).answered);
}

function errorsOf(counts: CallerCounts): number {
  return sumErrors(allCalls(counts).errors);
}
