/**
 * A real link, as calls see it, and a server at its other end that answers as it likes.
 *
 * Owns the two ends, and what the server has been asked. Leaves when something arrives, or is answered, to the story.
 */
import type { Link, OutboundRecord } from '../../src/internal/transport/index.ts';
import { NameIndex, type OutboundName, RecordKind } from '../../src/internal/wire/index.ts';
import { joinLinks, type LinkPair, type LinkSide, type Received } from '../internal/link/link-side.ts';
import { say } from '../internal/link/raw-peer.ts';
import { TestRecord } from '../internal/link/test-record.ts';
import type { Stage } from './simulation.ts';

export interface PlayedLinkFlaws {
  /** Requests that are given up stay in its table. */
  readonly abandonsNothing: boolean;
  /** The server takes the correlation of another request. */
  readonly answersAnother: boolean;
}

const json = 'application/json';
/** Of the error replies: `Rejected`. */
const errorNumber = 4;

export class PlayedLink implements Link {
  readonly pair: LinkPair;
  readonly hasLane: boolean;
  /** Requests without an answer. */
  readonly asked: { readonly received: Received; readonly id: number }[] = [];
  readonly #stage: Stage;
  readonly #flaws: PlayedLinkFlaws;
  readonly #names = new NameIndex();
  readonly #fill: TestRecord[] = [];

  constructor(stage: Stage, flaws: PlayedLinkFlaws, onDelivered: (received: Received) => void) {
    this.#stage = stage;
    this.#flaws = flaws;
    this.hasLane = stage.chance(0.5);
    const permits = { max: 1 + stage.below(8), resumeThresholdPercent: stage.pick([0, 60]) };
    this.pair = joinLinks(stage.clock, { completionLane: this.hasLane, far: { permits } });
    this.pair.far.onDelivered = onDelivered;
  }

  get near(): Link {
    return this.pair.near.link;
  }

  get isOver(): boolean {
    return this.pair.near.link.phase === 'closed' && this.pair.far.link.phase === 'closed';
  }

  get state(): string {
    const { near, far } = this.pair;
    const words = ({ link, pipe }: LinkSide): string =>
      `${link.phase} ${link.outstandingBytes} B ${pipe.underWay} under way`;
    return `${words(near)} / ${words(far)}, ${this.asked.length} asked`;
  }

  /** Requests that are on it, pending or waiting. */
  get heldRequests(): number {
    return this.pendingRequests + this.waitingRecords - this.#fill.filter(({ isWaiting }) => isWaiting).length;
  }

  deliver(from: LinkSide, count: number): void {
    for (let left = count; left > 0 && from.pipe.deliver(); left--);
  }

  fill(count: number, bytes: number, name: OutboundName): void {
    if (this.phase !== 'open') return;
    for (let at = 0; at < count; at++)
      this.#fill.push(TestRecord.send({ name, payload: new Uint8Array(bytes) }).submit(this.pair.near.link));
  }

  /** The server answers one request in some way. */
  answer(): void {
    const { far } = this.pair;
    const stage = this.#stage;
    if (this.asked.length === 0) return;
    const [asked] = this.asked.splice(stage.below(this.asked.length), 1);
    if (asked === undefined || far.link.phase === 'closed') return;
    const { id, received } = asked;
    const other = this.#flaws.answersAnother ? this.asked[0] : undefined;
    const { correlation } = other?.received ?? received;
    const how = stage.below(10);
    stage.tell(`the server answers ${id} in way ${how}`);
    if (how === 0) return far.link.forgo();
    if (how === 1) return void new TestRecord(RecordKind.error, { correlation, errorNumber }).submit(far.link);
    const name = this.#names.get('', json, 'billing.charge');
    TestRecord.reply(correlation, { name, payload: Buffer.from(String(id)) }).submit(far.link);
    if (how === 2 && this.hasLane) this.#sayError(correlation); // once more
  }

  /** The server answers what nobody has asked, or not on this link. */
  answerStranger(): void {
    if (!this.hasLane || this.pair.far.link.phase !== 'open') return; // without a lane it would have to take credit for it
    this.#stage.tellFault('the server answers nobody');
    this.#sayError(1_000_000 + this.#stage.below(100));
  }

  #sayError(correlation: number): void {
    const { near, far } = this.pair;
    say({ ...this.pair, near: far, far: near }, { kind: RecordKind.error, correlation, aux: errorNumber });
  }

  // As calls see it.

  get id(): number {
    return this.near.id;
  }

  get correlationScope(): Link['correlationScope'] {
    return this.near.correlationScope;
  }

  get peer(): Link['peer'] {
    return this.near.peer;
  }

  get descriptor(): Link['descriptor'] {
    return this.near.descriptor;
  }

  get phase(): Link['phase'] {
    return this.near.phase;
  }

  get outstandingBytes(): number {
    return this.near.outstandingBytes;
  }

  get waitingRecords(): number {
    return this.near.waitingRecords;
  }

  get pendingRequests(): number {
    return this.near.pendingRequests;
  }

  get unansweredRequests(): number {
    return this.near.unansweredRequests;
  }

  get traffic(): Link['traffic'] {
    return this.near.traffic;
  }

  submit(record: OutboundRecord): boolean {
    return this.near.submit(record);
  }

  withdraw(record: OutboundRecord): boolean {
    return this.near.withdraw(record);
  }

  abandon(...call: Parameters<Link['abandon']>): void {
    if (!this.#flaws.abandonsNothing) this.near.abandon(...call);
  }

  forgo(): void {
    this.near.forgo();
  }

  finish(): void {
    this.near.finish();
  }

  fail(reason: string): void {
    this.near.fail(reason);
  }
}
