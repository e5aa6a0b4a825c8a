/**
 * The client role of one channel: a call path whose targets are the channel's ready servers.
 *
 * Owns the intents of configured addresses, and what target set, discovered servers, waiting calls and phase make of each
 * other. Leaves messages and time to the calls, dialling and duplicates to the transport.
 *
 * C1 Selection and submission are one step; the chosen server is shown to nobody (CHAN-004).
 * C2 A call without candidate waits at most min(request timeout, 5 s); waiting dials nothing (CHAN-003).
 * C3 While the host drains only calls of handlers that still run are taken, and nobody waits for servers (CALL-005).
 * C4 All intents are of one link group: whoever names a server, configuration, discovery or this process, it has one link
 *    and is one candidate (CS-002). One that was configured is not left out for what the store says.
 */
import { type CallPath, type CallTerms, callTerms, OutboundPhase, type RoutableCall } from '@zlink/kernel/call';
import { ZLinkError } from '@zlink/kernel/errors';
import { newGeneration, newRid, type NodeIdentity } from '@zlink/kernel/identity';
import { ReadinessWaiters } from '@zlink/kernel/internal/completion';
import type { HostParts } from '@zlink/kernel/internal/host';
import type { DialOptions, InboundRecord, Intent, Link, LinkSink } from '@zlink/kernel/internal/transport';
import {
  type Descriptor,
  DescriptorState,
  EndpointKind,
  ObjectRole,
  type OutboundName,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import { type CallMeter, clientServerPlace, type FlowPlace, type MessageCounters } from '@zlink/kernel/observe';
import type { LocalServer } from '../local-server.ts';
import { type ServerRow, type ServerStatus, serverStatus } from '../server-status.ts';
import { DiscoveredServers } from './discovered-servers.ts';
import { type RowSources, serverRows, serverRowsAbout, type ServerSubject } from './server-rows.ts';
import { StrayMessages } from './stray-messages.ts';
import { Target, type TargetOwner } from './target.ts';
import { TargetSet } from './target-set.ts';
import type { ClientOptions } from './client-options.ts';
import { WaitingCalls } from './waiting-calls.ts';
import { selectionFailure, whyNoServer } from './why-no-server.ts';

/** Longest wait for a first target, whatever the request timeout is (CHAN-003). */
const TARGET_WAIT_MS = 5_000;

export class ChannelClient implements CallPath, TargetOwner {
  readonly label: string;
  readonly terms: CallTerms;
  readonly place: FlowPlace;
  readonly meter: CallMeter | undefined;
  readonly #parts: HostParts;
  readonly #phase: OutboundPhase;
  readonly #targets: TargetSet;
  readonly #waiting = new WaitingCalls();
  readonly #readiness = new ReadinessWaiters();
  readonly #strays: StrayMessages;
  /** The same for every address. */
  readonly #dialOptions: Omit<DialOptions, 'address' | 'onState'>;
  readonly #onServer: OnServer;
  /** By address, the one of the local server included. */
  readonly #configured = new Map<string, Intent>();
  #local: LocalServer | undefined;
  /** Undefined without a Location Store. */
  #discovered: DiscoveredServers | undefined;

  /** @param onServer - told of every change of a server; undefined: of any */
  constructor(channelName: string, options: ClientOptions, parts: HostParts, onServer: OnServer) {
    this.label = `channel "${channelName}"`;
    this.terms = callTerms(parts, options);
    this.#parts = parts;
    this.#onServer = onServer;
    this.#phase = new OutboundPhase(this.label);
    this.#targets = new TargetSet(parts.clock, (server) => this.#isLeftOut(server));
    const identity = { rid: newRid('client'), generation: newGeneration() };
    this.place = clientServerPlace('source', channelName, identity.rid);
    this.meter = parts.meter?.forCalls({ topology: 'client_server', channelName });
    this.#strays = new StrayMessages(channelName, this.place, parts);
    this.#dialOptions = {
      kind: EndpointKind.channelClient,
      expects: EndpointKind.channelServer,
      scope: channelName,
      identity,
      descriptor: CLIENT_DESCRIPTOR,
      group: {
        policy: 'firstAdmitted',
        refuse: (peer, descriptor) => this.#targets.objection(peer, descriptor),
        open: (link) => this.#openTarget(link),
      },
    };
  }

  get rebuilds(): number {
    return this.#targets.rebuilds;
  }

  start(endpoints: readonly string[], local: LocalServer | undefined): void {
    this.#local = local;
    if (local !== undefined) {
      const { rid: expectedRid, generation: expectedGeneration } = local;
      this.#configure({ address: local.address, expectedRid, expectedGeneration });
    }
    for (const address of endpoints) if (!this.#configured.has(address)) this.#configure({ address });
  }

  /** Begins to look for servers that others publish; without a Location Store there are none. */
  discover(): void {
    const { discovery } = this.#parts;
    if (discovery === undefined) return;
    this.#discovered = new DiscoveredServers(discovery, {
      channelName: this.#dialOptions.scope,
      local: this.#local,
      dial: ({ endpoint, rid, generation }, onState) =>
        this.#dial({ address: endpoint, expectedRid: rid, expectedGeneration: generation }, onState),
      onView: () => this.#onAnyChanged(),
    });
  }

  nameOf(contentType: string, packetName: string): OutboundName {
    return this.#parts.names.get('', contentType, packetName);
  }

  route(call: RoutableCall): void {
    this.#phase.requireTaken(call); // C3
    const link = this.#targets.choose();
    if (link !== undefined) return call.takeLink(link); // C1
    this.#waiting.add(call);
    const isSend = call.kind === RecordKind.send; // has no request timeout of its own
    call.awaitTarget(isSend ? Math.min(TARGET_WAIT_MS, this.terms.requestTimeoutMs) : TARGET_WAIT_MS); // C2
  }

  unroute(call: RoutableCall): void {
    this.#waiting.delete(call);
  }

  noTarget(waitedMs: number): ZLinkError {
    const servers = this.servers();
    this.meter?.selectionFailed(selectionFailure(servers));
    const why = whyNoServer(this.#dialOptions.scope, servers, this.#discovered);
    const text = `${this.label} had no ready server for ${waitedMs} ms: ${why}`;
    return new ZLinkError('NotFound', text); // also when the request timeout was the limit (CHAN-003)
  }

  servers(): readonly ServerStatus[] {
    return this.rows().map(serverStatus);
  }

  /** All, or those that the subject has to do with. */
  rows(subject?: ServerSubject): readonly ServerRow[] {
    const sources: RowSources = {
      configured: this.#configured,
      discovered: this.#discovered,
      targets: this.#targets,
      localAddress: this.#local?.address,
    };
    return subject === undefined ? serverRows(sources) : serverRowsAbout(subject, sources);
  }

  /** Servers that can be called now. */
  get candidateCount(): number {
    return this.#targets.candidateCount;
  }

  /** Why the Location Store cannot be asked, for people. */
  get storeProblem(): string | undefined {
    return this.#discovered?.problem;
  }

  /** Of messages that matched no waiting request of ours (CS-006). */
  counters(): MessageCounters {
    return this.#strays.counters();
  }

  whenReady(count: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#phase.isOpen) return Promise.reject(this.#phase.shuttingDown()); // C3
    return this.#readiness.wait(count, this.#targets.readyCount, signal);
  }

  drain(): void {
    this.#phase.drain();
    this.#waiting.refuseUntaken(this.#phase);
    this.#readiness.fail(this.#phase.shuttingDown()); // C3
  }

  async close(lingerMs: number): Promise<void> {
    this.#phase.close();
    this.#waiting.refuseUntaken(this.#phase);
    this.#readiness.fail(this.#phase.shuttingDown());
    const intents = [...this.#configured.values()];
    await Promise.all([this.#discovered?.close(lingerMs), ...intents.map((intent) => intent.close(lingerMs))]);
    this.#configured.clear();
    this.#onServer(undefined);
  }

  onTargetChanged(target: Target): void {
    this.#onServerChanged(target.link.peer.rid);
  }

  onTargetClosed(target: Target): void {
    this.#targets.remove(target);
    queueMicrotask(() => this.#onServer({ rid: target.link.peer.rid })); // once its intent has heard of it, too
  }

  onStrayMessage(record: InboundRecord, link: Link): void {
    this.#strays.noteMessage(record, link);
  }

  onStrayReply(record: InboundRecord, link: Link): void {
    this.#strays.noteReply(record, link);
  }

  #openTarget(link: Link): LinkSink {
    const target = new Target(link, this.#parts.permits, this);
    this.#targets.add(target);
    // The transport is still admitting this link: calls that wait for it go once it is done.
    queueMicrotask(() => this.#serveWaiting());
    return target;
  }

  #configure(to: DialTo): void {
    let rid: string | undefined;
    const intent = this.#dial(to, (dialed) => {
      if (dialed.rid === rid) return;
      const led = rid;
      rid = dialed.rid;
      // Whom the address leads to is one that was configured, and whom it led to is so no more (C4).
      queueMicrotask(() => {
        for (const changed of [led, dialed.rid]) if (changed !== undefined) this.#onServerChanged(changed);
      });
    });
    this.#configured.set(to.address, intent);
  }

  /** A target of that RID has changed, or who is left out. */
  #onServerChanged(rid: string): void {
    this.#targets.refresh(rid);
    this.#onServer({ rid });
    this.#serveWaiting();
  }

  #onAnyChanged(): void {
    this.#targets.refreshAll();
    this.#onServer(undefined);
    this.#serveWaiting();
  }

  #dial(to: DialTo, onState: (intent: Intent) => void): Intent {
    let isMade = false;
    const tell = ({ rid }: Intent): void => this.#onServer({ rid: to.expectedRid ?? rid, address: to.address });
    const made = this.#parts.transport.dial({
      ...this.#dialOptions,
      ...to,
      onState: (intent) => {
        onState(intent);
        if (isMade) tell(intent);
        this.#readiness.settle(this.#targets.readyCount);
      },
    });
    isMade = true;
    queueMicrotask(() => tell(made)); // once whoever dials knows the intent, too
    return made;
  }

  #isLeftOut(server: NodeIdentity): boolean {
    if (this.#discovered?.isLeftOut(server) !== true) return false;
    for (const { rid } of this.#configured.values()) if (rid === server.rid) return false; // C4
    return true;
  }

  #serveWaiting(): void {
    this.#readiness.settle(this.#targets.readyCount);
    this.#waiting.serve(() => this.#targets.choose());
  }
}

type OnServer = (subject: ServerSubject | undefined) => void;

type DialTo = Pick<DialOptions, 'address' | 'expectedRid' | 'expectedGeneration'>;

/** Clients publish nothing. */
const CLIENT_DESCRIPTOR: Descriptor = {
  revision: 1n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.none,
  channels: [],
};
