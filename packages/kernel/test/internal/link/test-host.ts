/**
 * A host on a memory network: one transport with its permits, and a topic that remembers.
 *
 * Owns what a test of intents and listeners needs; hosts of one network share its clock.
 */
import { createMemoryEngine, ManualClock, MemoryNetwork, loopTurns } from '@zlink/testing';
import { JobPermits } from '../../../src/internal/execution/index.ts';
import { createLinkTransport, type LinkTransportSettings } from '../../../src/internal/link/index.ts';
import type {
  DialOptions,
  DuplicatePolicy,
  Intent,
  IntentState,
  Link,
  LinkGroup,
  LinkSink,
  Listener,
  ListenOptions,
  PeerFacts,
  PipeEngine,
  Transport,
} from '../../../src/internal/transport/index.ts';
import { EndpointKind } from '../../../src/internal/wire/index.ts';
import { DESCRIPTOR } from './link-side.ts';

const TURNS = 12;

export class TestNetwork {
  readonly clock = new ManualClock();
  readonly network = new MemoryNetwork({ clock: this.clock });
  readonly #hosts: TestHost[] = [];

  host(rid: string, options: Partial<HostOptions> = {}): TestHost {
    const host = new TestHost(this, rid, { generation: 1n, policy: 'firstAdmitted', ...options });
    this.#hosts.push(host);
    return host;
  }

  /** Lets everything under way arrive; time stands still. */
  async settle(): Promise<void> {
    await loopTurns(TURNS);
  }

  async pass(ms: number, stepMs = 20): Promise<void> {
    await this.settle();
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      this.clock.advance(Math.min(stepMs, leftMs));
      await this.settle();
    }
  }

  /** Closes all hosts and returns what they leave behind. */
  async close(): Promise<string[]> {
    let isClosed = false;
    const closing = Promise.all(this.#hosts.map((host) => host.transport.close())).then(() => (isClosed = true));
    for (let step = 0; step < 200 && !isClosed; step++) await this.pass(20);
    if (!isClosed) return ['the transports do not close'];
    await closing;
    const found: string[] = [];
    for (const { rid, transport, permits } of this.#hosts) {
      const { links, grantedBytes } = transport.status;
      if (links !== 0 || grantedBytes !== 0) found.push(`${rid}: ${links} links, ${grantedBytes} bytes granted`);
      if (permits.inUse !== 0) found.push(`${rid}: ${permits.inUse} permits`);
    }
    if (this.clock.pendingTimers !== 0) found.push(`${this.clock.pendingTimers} timers`);
    if (this.network.openConnections !== 0) found.push(`${this.network.openConnections} connections`);
    return found;
  }
}

export interface HostOptions {
  readonly generation: bigint;
  readonly policy: DuplicatePolicy;
  readonly settings?: Partial<LinkTransportSettings>;
}

export class TestHost implements LinkGroup {
  readonly rid: string;
  readonly policy: DuplicatePolicy;
  readonly permits = new JobPermits({ max: 64, pauseThresholdPercent: 100, resumeThresholdPercent: 60 });
  readonly engine: PipeEngine;
  readonly transport: Transport;
  readonly opened: Link[] = [];
  readonly closed: string[] = [];
  readonly states: IntentState[] = [];
  readonly logged: object[] = [];
  received = 0;
  greeted = 0;
  onOpen: ((link: Link) => void) | undefined;
  onState: ((intent: Intent) => void) | undefined;
  onRefuse: (() => string | undefined) | undefined;
  onClosed: (() => void) | undefined;
  readonly #generation: bigint;

  constructor(on: TestNetwork, rid: string, options: HostOptions) {
    this.rid = rid;
    this.policy = options.policy;
    this.#generation = options.generation;
    this.engine = createMemoryEngine(on.network, { name: rid });
    const log = (record: object): void => void this.logged.push(record);
    this.transport = createLinkTransport(this.engine, {
      clock: on.clock,
      permits: this.permits,
      budgetBytes: 67_108_864,
      maxWindowBytes: 1_048_576,
      random: () => 0.5,
      logger: { debug: log, info: log, warn: log, error: log },
      ...options.settings,
    });
  }

  get openLinks(): Link[] {
    return this.opened.filter((link) => link.phase === 'open');
  }

  refuse(_peer: PeerFacts): string | undefined {
    this.greeted++;
    return this.onRefuse?.();
  }

  open(link: Link): LinkSink {
    this.opened.push(link);
    this.onOpen?.(link);
    return {
      onRecord: () => {
        this.received++;
        this.permits.release();
      },
      onUnmatched: () => undefined,
      onCancel: () => undefined,
      onUpdate: () => undefined,
      onFinishing: () => undefined,
      onClosed: (_link, reason) => {
        this.closed.push(reason);
        this.onClosed?.();
      },
    };
  }

  listen(overrides: Partial<ListenOptions> = {}): Promise<Listener> {
    const isMesh = this.policy === 'smallerRid';
    return this.transport.listen({
      kind: isMesh ? EndpointKind.meshNode : EndpointKind.channelServer,
      accepts: isMesh ? EndpointKind.meshNode : EndpointKind.channelClient,
      scope: 'billing',
      identity: { rid: this.rid, generation: this.#generation },
      bindAddress: 'tcp://node:0',
      maxMessageBytes: 0,
      descriptor: DESCRIPTOR,
      group: this,
      ...overrides,
    });
  }

  dial(address: string, overrides: Partial<DialOptions> = {}): Intent {
    const isMesh = this.policy === 'smallerRid';
    return this.transport.dial({
      kind: isMesh ? EndpointKind.meshNode : EndpointKind.channelClient,
      expects: isMesh ? EndpointKind.meshNode : EndpointKind.channelServer,
      scope: 'billing',
      identity: { rid: this.rid, generation: this.#generation },
      descriptor: DESCRIPTOR,
      address,
      group: this,
      onState: (intent) => {
        this.states.push(intent.state);
        this.onState?.(intent);
      },
      ...overrides,
    });
  }
}
