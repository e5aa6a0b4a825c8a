/**
 * A transport with its permits, and a topic that sends, keeps permits and keeps account.
 *
 * Owns one host of the simulation of credit. Leaves what happens to the story, and what a link has carried to link-end.ts.
 */
import { createMemoryEngine, type MemoryNetwork } from '@zlink/testing';
import { JobPermits } from '../../src/internal/execution/index.ts';
import { createLinkTransport } from '../../src/internal/link/index.ts';
import type { Intent, Link, LinkGroup, LinkSink, Listener, Transport } from '../../src/internal/transport/index.ts';
import { EndpointKind, MIN_WINDOW_BYTES, NameIndex } from '../../src/internal/wire/index.ts';
import { DESCRIPTOR } from '../internal/link/link-side.ts';
import { breakContract, type EngineFlaw } from './broken-engine.ts';
import { LinkEnd, maxWindowBytes } from './link-end.ts';
import { ensure, type Stage } from './simulation.ts';

/** What the network, or a topic, does against its contract. */
export type CreditFlaw = 'none' | 'topicMissesMessages' | EngineFlaw;

export const address = 'tcp://server:7000';
/** Too little for all largest windows: they shrink and grow as clients come and go. */
const budgetBytes = 4 * MIN_WINDOW_BYTES;

export interface CreditHostParts {
  readonly stage: Stage;
  readonly network: MemoryNetwork;
  readonly flaw: CreditFlaw;
  readonly clientCount: number;
  readonly ends: Map<number, LinkEnd>;
}

export class CreditHost implements LinkGroup {
  readonly rid: string;
  readonly policy: LinkGroup['policy'];
  readonly permits: JobPermits;
  readonly transport: Transport;
  isHolding = false;
  readonly #parts: CreditHostParts;
  readonly #faults: unknown[] = [];
  readonly #names = new NameIndex();
  readonly #own: LinkEnd[] = [];
  #held = 0;
  #intent: Intent | undefined;
  #listener: Listener | undefined;

  constructor(rid: string, isServer: boolean, parts: CreditHostParts) {
    const { stage, network, flaw } = parts;
    this.rid = rid;
    this.policy = isServer ? 'every' : 'firstAdmitted';
    this.#parts = parts;
    this.permits = new JobPermits({ max: 1 + stage.below(6), pauseThresholdPercent: 100, resumeThresholdPercent: 50 });
    const engine = createMemoryEngine(network, { name: rid });
    const breaks = flaw !== 'none' && flaw !== 'topicMissesMessages';
    const log = (): void => {};
    this.transport = createLinkTransport(breaks ? breakContract(engine, stage, flaw) : engine, {
      clock: stage.clock,
      permits: this.permits,
      budgetBytes,
      maxWindowBytes,
      random: () => stage.random(),
      logger: { debug: log, info: log, warn: log, error: (record) => this.#faults.push(record) },
    });
  }

  get isDialling(): boolean {
    return this.#intent !== undefined;
  }

  get isConnected(): boolean {
    return this.#intent?.state === 'admitted';
  }

  get state(): string {
    const links = this.#own.filter(({ isOver }) => !isOver).map((end) => end.state);
    return `${this.rid}(${this.permits.inUse})[${links.join(', ')}]`;
  }

  // As a topic.

  open(link: Link): LinkSink {
    const { ends, flaw, stage } = this.#parts;
    const end = new LinkEnd(ends.size + 1, `${this.rid}/${link.id}`, link, ends);
    ends.set(end.id, end);
    this.#own.push(end);
    return {
      onRecord: (record) => {
        this.#held++;
        if (flaw !== 'topicMissesMessages' || !stage.chance(0.02)) end.receive(record);
        if (!this.isHolding) this.letGo();
      },
      onUnmatched: () => {},
      onCancel: () => {},
      onUpdate: () => {},
      onFinishing: () => {},
      onClosed: (_link, reason) => end.closed.push(reason),
    };
  }

  async listen(): Promise<void> {
    this.#listener = await this.transport.listen({
      kind: EndpointKind.channelServer,
      accepts: EndpointKind.channelClient,
      scope: 'billing',
      identity: { rid: this.rid, generation: 1n },
      bindAddress: address,
      maxMessageBytes: 0,
      descriptor: DESCRIPTOR,
      group: this,
    });
  }

  dial(): void {
    this.#intent = this.transport.dial({
      kind: EndpointKind.channelClient,
      expects: EndpointKind.channelServer,
      scope: 'billing',
      identity: { rid: this.rid, generation: 1n },
      descriptor: DESCRIPTOR,
      address,
      group: this,
      onState: () => {},
    });
  }

  hangUp(lingerMs: number): void {
    void this.#intent?.close(lingerMs);
    this.#intent = undefined;
  }

  async close(): Promise<void> {
    await this.#listener?.close(0);
    await this.transport.close();
  }

  // As the story says.

  sendSome(count: number): void {
    const { stage } = this.#parts;
    const open = this.#own.filter(({ link }) => link.phase === 'open');
    if (open.length === 0) return;
    const end = stage.pick(open);
    const name = this.#names.get('', 'a/b', stage.pick(['p', 'q', 'r']));
    const sizes = Array.from({ length: count }, () =>
      stage.pick([0, stage.below(200), stage.below(20_000), stage.below(90_000)]),
    );
    stage.tell(`${end.name} sends ${sizes.join()} bytes`);
    for (const bytes of sizes) end.send(bytes, name);
  }

  withdrawOne(): void {
    const waiting = this.#own.flatMap((end) =>
      end.sent.filter((record) => record.isWaiting).map((record) => ({ end, record })),
    );
    if (waiting.length === 0) return;
    const { end, record } = this.#parts.stage.pick(waiting);
    this.#parts.stage.tell(`${end.name} takes a message back`);
    ensure(record.withdraw(end.link), `${end.name} could not take back what waits`);
  }

  letGo(): void {
    this.isHolding = false;
    this.letGoSome(Infinity);
  }

  letGoSome(count: number): void {
    for (let left = count; left > 0 && this.#held > 0; left--) {
      this.#held--; // first: the release may bring the next record
      this.permits.release();
    }
  }

  /** C1 */
  check(): void {
    ensure(this.#faults.length === 0, `${this.rid} has failed within: ${JSON.stringify(this.#faults[0])}`);
    const { grantedBytes, links, refused } = this.transport.status;
    const protocolErrors = refused['protocolError'] ?? 0;
    ensure(
      protocolErrors === 0,
      `${this.rid} was sent more than it has granted, or something else against the protocol`,
    );
    const allowed = budgetBytes + (links + this.#parts.clientCount) * MIN_WINDOW_BYTES; // and of those in their handshake
    ensure(grantedBytes <= allowed, `${this.rid} grants ${grantedBytes} bytes`);
    ensure(this.permits.inUse <= this.permits.max, `${this.rid} uses ${this.permits.inUse} permits`);
  }

  /** C5 */
  checkOver(): void {
    const { links, grantedBytes } = this.transport.status;
    this.letGo();
    const left = `${links} links, ${grantedBytes} bytes, ${this.permits.inUse} permits`;
    ensure(left === '0 links, 0 bytes, 0 permits', `${this.rid} keeps ${left}`);
  }
}
