/**
 * One run of a host that publishes a server and a mesh node, and watches both topologies.
 *
 * Owns its endpoints, what it has seen, and the intents and links that follow from it. Leaves its process and its store to
 * the cluster, and what happens to it to the story.
 *
 * M1 While an endpoint is in view its revision never goes down (LOC-062).
 * M2 Whatever is in view was true at some time, word for word, and of the owner that said it (LOC-061).
 * M3 Nobody is taken for absent whose lease was never absent (LOC-063, C15).
 * M4 The view of a host whose store never failed, and that never stood still, is never stale or in trouble (LOC-064).
 * M5 There is one intent for each node that this host is to dial, and none beside but those that have a link; what left the
 *    view is remembered while it has a link, and no longer (LOC-063, C10).
 */
import type { View } from '../../src/internal/discovery/discovery.ts';
import { type DialTarget, DiscoveredEndpoints } from '../../src/internal/discovery/discovered-endpoints.ts';
import type { Intent, IntentState } from '../../src/internal/transport/index.ts';
import { Ending, live } from '../discovery/runtime-rig.ts';
import type { Cluster, ClusterHost } from './cluster.ts';
import { arena, Endpoint, games, nodeFacts, serverFacts, type Truths } from './endpoint.ts';
import { ensure } from './simulation.ts';
import { Watched, type Watching } from './watched.ts';

export interface MemberFlaws {
  /** Topics are not told when a link ends. */
  readonly forgetsLinkEnds?: boolean;
  /** Applies every view but the last. */
  readonly isOneViewBehind?: boolean;
}

/** As a transport would have it: one dialled address. */
class PlayedIntent implements Intent {
  readonly target: DialTarget;
  readonly onState: () => void;
  state: IntentState = 'connecting';
  readonly reason = undefined;
  readonly link = undefined;

  constructor(target: DialTarget, onState: () => void) {
    this.target = target;
    this.onState = onState;
  }

  get address(): string {
    return this.target.endpoint;
  }

  get rid(): string {
    return this.target.rid;
  }

  async close(): Promise<void> {
    this.state = 'closed';
  }
}

export class Member implements Watching {
  readonly host: ClusterHost;
  readonly cluster: Cluster;
  readonly truths: Truths;
  readonly server: Endpoint<'clientServer'>;
  readonly node: Endpoint<'mesh'>;
  readonly servers: Watched<'clientServer'>;
  readonly nodes: Watched<'mesh'>;
  /** Its store has failed, or it stood still. */
  wasHurt = false;
  readonly #flaws: MemberFlaws;
  readonly #endpoints: DiscoveredEndpoints<'mesh', PlayedIntent>;
  #intents: PlayedIntent[] = [];
  /** Links that others have dialled: RID and generation. */
  readonly #inbound = new Map<string, DialTarget>();
  readonly #applied: View<'mesh'>[] = [];
  readonly #started: Ending;

  constructor(
    host: ClusterHost,
    cluster: Cluster,
    truths: Truths,
    place: number,
    generation: bigint,
    flaws: MemberFlaws,
  ) {
    this.host = host;
    this.cluster = cluster;
    this.truths = truths;
    this.#flaws = flaws;
    const { ownerId } = host.lease;
    this.server = new Endpoint('clientServer', serverFacts(`s${place}`, generation), ownerId, truths);
    this.node = new Endpoint('mesh', nodeFacts(`n${place}-${generation}`, generation), ownerId, truths);
    this.#endpoints = new DiscoveredEndpoints<'mesh', PlayedIntent>({
      dials: ({ rid }) => this.#dials(rid),
      dial: (target, onState) => this.#dial(target, onState),
      hasLink: (rid, at) => this.#hasLink(rid, at),
      onChanged: () => {},
    });
    this.servers = new Watched(games, this, () => {});
    this.nodes = new Watched(arena, this, (view) => this.#apply(view));
    this.#started = new Ending(this.#start());
  }

  get state(): 'starting' | 'serving' | 'failed' {
    const { state } = this.#started;
    return state === 'pending' ? 'starting' : state === 'resolved' ? 'serving' : 'failed';
  }

  get shown(): string {
    const intents = this.#intents.filter(({ state }) => state !== 'closed').length;
    return `${this.state}[${this.servers.rids}|${this.nodes.rids}|${intents}]`;
  }

  /** Something happens to a connection of this host. */
  stirLinks(pick: <T>(from: readonly T[]) => T): void {
    const open = this.#intents.filter(({ state }) => state !== 'closed');
    if (open.length > 0) this.#move(pick(open), pick(['admitted', 'reconnecting', 'connecting', 'rejected'] as const));
    const callers = this.#endpoints
      .all()
      .filter(({ rid, isListed }) => isListed && !this.#dials(rid) && !this.#isOwn(rid));
    if (callers.length === 0) return;
    const caller = pick(callers);
    this.#inbound.set(`${caller.rid}/${caller.generation}`, caller);
  }

  endInbound(pick: <T>(from: readonly T[]) => T): void {
    if (this.#inbound.size === 0) return;
    const { rid, generation } = pick([...this.#inbound.values()]);
    this.#inbound.delete(`${rid}/${generation}`);
    this.#linkClosed(rid);
  }

  /** M5 */
  check(): void {
    if (this.#flaws.isOneViewBehind !== true) this.#checkEntries();
    const kept = this.#endpoints.all().flatMap(({ intent }) => (intent === undefined ? [] : [intent]));
    const open = this.#intents.filter(({ state }) => state !== 'closed');
    const isSame = kept.length === open.length && open.every((intent) => kept.includes(intent));
    ensure(isSame, `${this.host.name} has ${open.length} open intents and knows of ${kept.length}`);
  }

  /** Every node but itself that this one is to dial has its intent, and nothing is kept that is over. */
  checkDials(nodes: readonly Member[]): void {
    const wanted = nodes.filter(({ node }) => this.#dials(node.facts().rid) && node.facts().state !== 'draining');
    const dialled = this.#endpoints.all().filter(({ intent }) => intent !== undefined);
    const names = (rids: string[]): string => rids.sort().join();
    const due = names(wanted.map(({ node }) => node.facts().rid));
    const done = names(dialled.filter(({ isListed, isDraining }) => isListed && !isDraining).map(({ rid }) => rid));
    ensure(due === done, `${this.host.name} dials ${done}, and should ${due}`);
  }

  leave(): void {
    this.host.leave(() => {
      this.servers.end();
      this.nodes.end();
      void this.#endpoints.close(0);
    });
  }

  async #start(): Promise<void> {
    const { runtime } = this.host;
    await runtime.open(live());
    this.server.publication = await runtime.publish(this.server, live());
    this.node.publication = await runtime.publish(this.node, live());
    this.server.change({ state: 'serving' });
    this.node.change({ state: 'serving' });
  }

  #apply(view: View<'mesh'>): void {
    this.#applied.push(view);
    const at = this.#applied.length - (this.#flaws.isOneViewBehind === true ? 2 : 1);
    const applied = this.#applied[at];
    if (applied !== undefined) this.#endpoints.apply(applied);
    this.#applied.splice(0, at);
  }

  #checkEntries(): void {
    const view = this.nodes.last;
    for (const { rid, generation, intent } of this.#endpoints.all()) {
      const found = view?.endpoints.get(rid);
      const isListed = found?.descriptor.lifecycleGeneration === generation;
      const isAllowed =
        isListed && view?.isCurrent === true && found.isOwnerPresent && found.descriptor.state !== 'draining';
      const isDue = isAllowed && this.#dials(rid);
      ensure(!isDue || intent !== undefined, `${this.host.name} does not dial ${rid}/${generation}`);
      ensure(
        isDue || intent === undefined || intent.state === 'admitted',
        `${this.host.name} dials ${rid}/${generation}`,
      );
      ensure(isListed || this.#hasLink(rid, generation), `${this.host.name} remembers ${rid}/${generation}`);
    }
  }

  #dials(rid: string): boolean {
    return this.node.facts().rid < rid;
  }

  #isOwn(rid: string): boolean {
    return rid === this.node.facts().rid;
  }

  #dial(target: DialTarget, onState: () => void): PlayedIntent {
    const { rid, generation, endpoint } = target;
    const intent = new PlayedIntent({ rid, generation, endpoint }, onState);
    this.#intents = [...this.#intents.filter(({ state }) => state !== 'closed'), intent];
    return intent;
  }

  #move(intent: PlayedIntent, state: IntentState): void {
    const wasAdmitted = intent.state === 'admitted';
    if (intent.state === state) return;
    intent.state = state;
    intent.onState();
    if (wasAdmitted) this.#linkClosed(intent.rid);
  }

  #linkClosed(rid: string): void {
    if (this.#flaws.forgetsLinkEnds !== true) this.#endpoints.linkClosed(rid);
  }

  #hasLink(rid: string, generation: bigint): boolean {
    const isDialled = this.#intents.some(
      ({ state, target }) => state === 'admitted' && target.rid === rid && target.generation === generation,
    );
    return isDialled || this.#inbound.has(`${rid}/${generation}`);
  }
}
