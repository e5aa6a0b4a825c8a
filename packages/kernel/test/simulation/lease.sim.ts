/**
 * Hosts that live by their leases, and want seats of which there are too few: routing ids of mesh nodes.
 *
 * A host opens, claims a seat, and keeps it, or ends sooner or later when it is taken. Meanwhile the store answers late or
 * never, fails, comes back empty or forgets; hosts stand still for longer than their leases, are killed, or leave in order.
 *
 * At every moment: rules R1 and R2 of the mirror, L1 and L2 of each host (cluster.ts), and no host that is not admitted
 * changes anything but its own lease (LOC-052). When faults have ended:
 *
 * L3 Every host that lives is admitted within 12 s (LOC-053, C13).
 * L4 One host at most takes a seat for its own, and it is the one whose descriptor stands there; who does not live has no
 *    seat (C14).
 * L5 When all have left, neither a lease nor a descriptor is left, and no timer (LOC-055).
 */
import type { EndpointPublication } from '../../src/internal/discovery/publication.ts';
import { descriptorKey, type LocationStore } from '../../src/location/index.ts';
import { Ending, live, meshNode } from '../discovery/runtime-rig.ts';
import { Cluster, type ClusterHost, type HostFlaws } from './cluster.ts';
import { ensure, play, type Stage, type Story, type Trace } from './simulation.ts';
import { breakStore } from './store-weather.ts';

export type LeaseFlaw = 'none' | 'clocksStopInFrozenHosts' | 'storeKeepsNoConditions' | 'losesRenewals';

export const simulateLease = (seed: number, flaw: LeaseFlaw = 'none'): Promise<Trace> =>
  play(seed, 60, async (stage) => new LeaseStory(await Cluster.create(stage), flaw));

const arena = { kind: 'mesh', name: 'arena' } as const;
const seats = ['a', 'b'];
const placeCount = 4;
const longestPassMs = 15_000;
const backWithinMs = 12_000;
/** Longer than any absence is doubted, and anything is repeated, audited or jittered. */
const allOverMs = 80_000;

class LeaseStory implements Story {
  readonly #stage: Stage;
  readonly #cluster: Cluster;
  readonly #flaw: LeaseFlaw;
  /** Half of the seeds never lose what was acknowledged: then nothing excuses an uncovered host. */
  readonly #mayLose: boolean;
  readonly #players: (Player | undefined)[] = new Array<undefined>(placeCount).fill(undefined);
  #playedCount = 0;

  constructor(cluster: Cluster, flaw: LeaseFlaw) {
    this.#stage = cluster.stage;
    this.#cluster = cluster;
    this.#flaw = flaw;
    this.#mayLose = this.#stage.chance(0.5);
  }

  async act(): Promise<void> {
    const stage = this.#stage;
    const place = stage.below(placeCount);
    const player = this.#players[place];
    if (stage.chance(0.35)) return stage.passTold(stage.someMs(longestPassMs));
    if (this.#mayLose && stage.chance(0.12)) return this.#lose();
    if (player === undefined) return this.#enter(place);
    const { host } = player;
    if (host.process.isFrozen) return stage.chance(0.5) ? undefined : host.goOn();
    if (player.isOver && stage.chance(0.4)) return this.#leave(place, player);
    switch (stage.below(10)) {
      case 0:
      case 1:
      case 2:
        return breakStore(stage, host.name, host.store);
      case 3:
      case 4:
        return host.healStore();
      case 5:
      case 6:
        return host.standStill();
      case 7:
        return host.hearOfLoss();
      case 8:
        return stage.chance(0.7) ? this.#kill(place, player) : undefined;
      default:
        return stage.chance(0.5) ? this.#leave(place, player) : undefined;
    }
  }

  check(): void {
    this.#cluster.check();
    for (const { host } of this.#living()) host.check();
  }

  state(): string {
    return this.#players.map((player) => (player === undefined ? '-' : player.state)).join(' ');
  }

  async end(): Promise<void> {
    const stage = this.#stage;
    stage.tell('faults end');
    for (const { host } of this.#living()) await host.recover();
    await stage.pass(backWithinMs);
    this.#expectAdmitted();
    this.#players.forEach((player, place) => player?.state === 'over' && this.#leave(place, player));
    if (this.#living().length === 0) this.#enter(0, true); // who is gone tidies nothing up
    await stage.pass(allOverMs);
    this.#expectAdmitted();
    for (const seat of seats) this.#expectOneOn(seat);
    this.#players.forEach((player, place) => player !== undefined && this.#leave(place, player));
    await stage.pass(allOverMs);
    await this.#cluster.checkNothingIsLeft(); // L5
  }

  async #lose(): Promise<void> {
    const stage = this.#stage;
    if (stage.chance(0.4)) return this.#cluster.save();
    if (stage.chance(0.5)) {
      await this.#cluster.rollBack();
      this.#tellOfLoss(); // LOC-019
    } else {
      await this.#cluster.loseAll();
      if (stage.chance(0.5)) this.#tellOfLoss(); // else hosts find out
    }
  }

  #tellOfLoss(): void {
    for (const { host } of this.#living()) host.store.disrupt();
  }

  #enter(place: number, isWell = false): void {
    const host = this.#cluster.host(`h${place}.${++this.#playedCount}`, this.#flaws());
    const seat = this.#stage.pick(seats);
    this.#stage.tell(`${host.name} opens and wants ${seat}`);
    if (!isWell && this.#stage.chance(0.3)) breakStore(this.#stage, host.name, host.store);
    this.#players[place] = new Player(host, seat, BigInt(this.#playedCount));
  }

  #leave(place: number, player: Player): void {
    this.#players[place] = undefined;
    player.host.leave();
  }

  #kill(place: number, player: Player): void {
    this.#players[place] = undefined;
    player.host.kill();
  }

  #expectAdmitted(): void {
    for (const { host, state } of this.#living()) {
      if (state === 'opening' || state === 'over') continue; // its start has failed, or will
      ensure(host.isAdmitted, `${host.name} is not admitted although its store works`); // L3
    }
  }

  #expectOneOn(seat: string): void {
    const seated = this.#living().filter((player) => player.seat === seat && player.isSeated);
    ensure(seated.length <= 1, `on ${seat} sit ${seated.map(({ host }) => host.name).join()}`); // L4
    const owner = this.#cluster.mirror.ownerOf(descriptorKey(arena, seat));
    for (const { host } of seated) ensure(host.lease.ownerId === owner, `${host.name} is not the owner of ${seat}`); // L4
    const isOurs = owner === undefined || this.#living().some(({ host }) => host.lease.ownerId === owner);
    ensure(isOurs, `${owner} has ${seat} and does not live`); // L4
  }

  #living(): Player[] {
    return this.#players.filter((player) => player !== undefined);
  }

  #flaws(): HostFlaws {
    switch (this.#flaw) {
      case 'clocksStopInFrozenHosts':
        return { stopsItsClock: true };
      case 'storeKeepsNoConditions':
        return { alter: withoutConditions };
      case 'losesRenewals':
        return { alter: withoutTouch };
      case 'none':
        return {};
    }
  }
}

/** One run of a host, from its start to its end. */
class Player {
  readonly host: ClusterHost;
  readonly seat: string;
  readonly #opened: Ending;
  #claimed: Ending | undefined;
  #publication: EndpointPublication<'mesh'> | undefined;

  constructor(host: ClusterHost, seat: string, generation: bigint) {
    this.host = host;
    this.seat = seat;
    this.#opened = new Ending(host.runtime.open(live()).then(() => this.#claim(generation)));
  }

  get state(): string {
    const { state } = this.#opened;
    return state === 'pending' ? 'opening' : state === 'rejected' ? 'over' : this.#claimState();
  }

  /** It could not be opened, or the seat is taken. */
  get isOver(): boolean {
    return this.state === 'over' || this.state === 'refused';
  }

  get isSeated(): boolean {
    return this.#publication?.isPublished === true;
  }

  #claim(generation: bigint): void {
    this.host.runtime.watch(arena, () => {});
    const source = meshNode(this.seat, arena.name, generation);
    const publishing = this.host.runtime.publish(source, live());
    // The simulation looks at it more closely than topics do.
    this.#claimed = new Ending(publishing.then((found) => (this.#publication = found as EndpointPublication<'mesh'>)));
  }

  #claimState(): string {
    const admission = this.host.isAdmitted ? '' : '!';
    const state = this.#claimed?.state;
    if (state === 'rejected') return 'refused';
    return admission + (state === 'pending' ? 'claiming' : this.isSeated ? 'seated' : 'superseded');
  }
}

function withoutConditions(store: LocationStore): LocationStore {
  return { ...store, commit: (batch, signal) => store.commit({ ...batch, conditions: [] }, signal) };
}

/** Says that it has renewed, and does not. */
function withoutTouch(store: LocationStore): LocationStore {
  const isKept = ({ kind }: { readonly kind: string }): boolean => kind !== 'touch';
  return {
    ...store,
    commit: (batch, signal) => {
      const mutations = batch.mutations.filter(isKept);
      const nothing = { kind: 'delete', key: 'nothing' } as const;
      return store.commit({ ...batch, mutations: mutations.length === 0 ? [nothing] : mutations }, signal);
    },
  };
}
