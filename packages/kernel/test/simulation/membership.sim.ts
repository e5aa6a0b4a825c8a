/**
 * Hosts that find each other through one store: each publishes a server and a mesh node, and watches those of all.
 *
 * Hosts change, drain, leave, are killed and come back as a new generation; meanwhile the store fails in every way, hosts
 * stand still, watches end and begin, connections come and go.
 *
 * At every moment: the rules of the mirror, of each host and of each member (member.ts). When faults have ended:
 *
 * N1 Every host sees exactly what is true, all owners present, and has an intent for each node it is to dial (LOC-062, C13).
 * N2 Who leaves in order is gone from all views within two polls (LOC-055).
 * N3 When all have left nothing is in the store, and no timer is left (LOC-055).
 */
import { leaseKey, type LocationStore } from '../../src/location/index.ts';
import { Cluster, type HostFlaws, timing } from './cluster.ts';
import type { Truths } from './endpoint.ts';
import { Member, type MemberFlaws } from './member.ts';
import { ensure, play, type Stage, type Story, type Trace } from './simulation.ts';
import { breakStore } from './store-weather.ts';

export type MembershipFlaw = 'none' | 'readsMissLeases' | 'scansMissARecord' | 'forgetsLinkEnds' | 'isOneViewBehind';

export const simulateMembership = (seed: number, flaw: MembershipFlaw = 'none'): Promise<Trace> =>
  play(seed, 45, async (stage) => new MembershipStory(await Cluster.create(stage), flaw));

const placeCount = 3;
const longestPassMs = 15_000;
/** Longer than anything is repeated, audited, doubted or waited for. */
const allOverMs = 110_000;

class MembershipStory implements Story {
  readonly #stage: Stage;
  readonly #cluster: Cluster;
  readonly #flaw: MembershipFlaw;
  readonly #truths: Truths = new Set();
  readonly #members: (Member | undefined)[] = new Array<undefined>(placeCount).fill(undefined);
  #generation = 0n;

  constructor(cluster: Cluster, flaw: MembershipFlaw) {
    this.#stage = cluster.stage;
    this.#cluster = cluster;
    this.#flaw = flaw;
  }

  async act(): Promise<void> {
    const stage = this.#stage;
    if (stage.chance(0.35)) return stage.passTold(stage.someMs(longestPassMs));
    if (stage.chance(0.06)) return this.#lose();
    const place = stage.below(placeCount);
    const member = this.#members[place];
    if (member === undefined) return this.#join(place);
    const { host } = member;
    if (host.process.isFrozen) return stage.chance(0.5) ? undefined : host.goOn();
    if (member.state === 'failed') return this.#leave(place, member);
    return this.#befall(place, member);
  }

  check(): void {
    this.#cluster.check();
    for (const member of this.#living()) {
      member.host.check();
      if (!member.host.process.isFrozen) member.check();
    }
  }

  state(): string {
    return this.#members.map((member) => member?.shown ?? '-').join(' ');
  }

  async end(): Promise<void> {
    const stage = this.#stage;
    stage.tell('faults end');
    for (const { host } of this.#living()) await host.recover();
    await stage.pass(allOverMs);
    for (const [place, member] of this.#members.entries()) if (member?.state === 'failed') this.#leave(place, member);
    for (let place = 0; place < placeCount; place++) if (this.#members[place] === undefined) this.#join(place, true);
    await stage.pass(3 * timing.pollingIntervalMs);
    this.#expectTruth();
    for (let place = 0; place < placeCount; place++) {
      const member = this.#members[place];
      if (member !== undefined) this.#leave(place, member);
      await stage.pass(2 * timing.pollingIntervalMs);
      this.#expectTruth(); // N2
    }
    await stage.pass(allOverMs);
    await this.#cluster.checkNothingIsLeft(); // N3
  }

  #befall(place: number, member: Member): void {
    const stage = this.#stage;
    const { host, server, node } = member;
    switch (stage.below(13)) {
      case 0:
      case 1:
      case 2:
        member.wasHurt = true;
        return breakStore(stage, host.name, host.store);
      case 3:
      case 4:
        return host.healStore();
      case 5:
        member.wasHurt = true;
        return host.standStill();
      case 6:
        return host.hearOfLoss();
      case 7:
        return stage.chance(0.5) ? this.#kill(place, member) : this.#leave(place, member);
      case 8:
        stage.tell(`${host.name} begins to watch anew`);
        member.servers.end();
        return member.servers.begin();
      case 9:
        return this.#changeState(member);
      case 10:
        stage.tell(`links of ${host.name} end`);
        return member.endInbound((from) => stage.pick(from));
      case 11:
        stage.tell(`links of ${host.name} come and go`);
        return member.stirLinks((from) => stage.pick(from));
      default: {
        const weight = stage.below(10_000);
        stage.tell(`weights of ${host.name} become ${weight}`);
        server.change({ weight });
        return node.change({ placementWeight: weight });
      }
    }
  }

  #changeState({ host, server, node }: Member): void {
    const stage = this.#stage;
    const state = stage.pick(['draining', 'serving'] as const);
    const isServer = stage.chance(0.5);
    stage.tell(`the ${isServer ? 'server' : 'node'} of ${host.name} is ${state}`);
    if (isServer) server.change({ state });
    else node.change({ state });
  }

  async #lose(): Promise<void> {
    const stage = this.#stage;
    if (stage.chance(0.4)) return this.#cluster.save();
    const isEmptied = stage.chance(0.5);
    if (isEmptied) await this.#cluster.loseAll();
    else await this.#cluster.rollBack();
    if (isEmptied && stage.chance(0.5)) return; // hosts find out
    for (const { host } of this.#living()) host.store.disrupt(); // LOC-019
  }

  #join(place: number, isWell = false): void {
    const generation = ++this.#generation;
    const host = this.#cluster.host(`h${place}.${generation}`, this.#hostFlaws());
    this.#stage.tell(`${host.name} joins`);
    const { mirror } = this.#cluster;
    ensure(mirror.leaseEndsAtMs(host.lease.ownerId) === -Infinity, `${leaseKey(host.lease.ownerId)} is not new`);
    const isBroken = !isWell && this.#stage.chance(0.2);
    if (isBroken) breakStore(this.#stage, host.name, host.store);
    const member = new Member(host, this.#cluster, this.#truths, place, generation, this.#memberFlaws());
    member.wasHurt = isBroken;
    this.#members[place] = member;
  }

  #leave(place: number, member: Member): void {
    this.#members[place] = undefined;
    member.leave();
  }

  #kill(place: number, member: Member): void {
    this.#members[place] = undefined;
    member.host.kill();
  }

  /** N1 */
  #expectTruth(): void {
    const living = this.#living();
    const truthOf = (kind: 'server' | 'node'): string =>
      living
        .map((member) => member[kind].words)
        .sort()
        .join('\n');
    for (const member of living) {
      const { host, servers, nodes } = member;
      ensure(member.state === 'serving' && host.isAdmitted, `${host.name} is ${member.state}`);
      for (const [what, watched, truth] of [
        ['servers', servers, truthOf('server')],
        ['nodes', nodes, truthOf('node')],
      ] as const) {
        const seen = watched.words.join('\n');
        ensure(seen === truth, `${host.name} sees of ${what}\n${seen}\ntrue is\n${truth}`);
        const { isCurrent, problem } = watched.last ?? {};
        ensure(isCurrent === true && problem === undefined, `${host.name} has a stale view of ${what}`);
      }
      member.checkDials(living);
    }
  }

  #living(): Member[] {
    return this.#members.filter((member) => member !== undefined);
  }

  #memberFlaws(): MemberFlaws {
    return {
      forgetsLinkEnds: this.#flaw === 'forgetsLinkEnds',
      isOneViewBehind: this.#flaw === 'isOneViewBehind',
    };
  }

  #hostFlaws(): HostFlaws {
    if (this.#flaw === 'readsMissLeases') return { alter: (store) => this.#missingLeases(store) };
    if (this.#flaw === 'scansMissARecord') return { alter: (store) => this.#missingRecords(store) };
    return {};
  }

  #missingLeases(store: LocationStore): LocationStore {
    return {
      ...store,
      read: async (...call) => {
        const found = await store.read(...call);
        const isMissed = (key: string | undefined): boolean =>
          key?.startsWith('l/') === true && this.#stage.chance(0.02);
        return { ...found, records: found.records.map((record) => (isMissed(record?.key) ? undefined : record)) };
      },
    };
  }

  #missingRecords(store: LocationStore): LocationStore {
    return {
      ...store,
      scan: async (...call) => {
        const found = await store.scan(...call);
        return this.#stage.chance(0.2) ? { ...found, items: found.items.slice(1) } : found;
      },
    };
  }
}
