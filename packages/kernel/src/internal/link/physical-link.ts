/**
 * A link: one admitted connection to one peer, from admission to its single end.
 *
 * Owns what joins its parts, and all that its end brings with it. Leaves sending to `outbound`, receiving to `inbound`,
 * control records of the peer to `peer-control`, the words of an orderly end to `farewell`, the exchange before admission
 * to `handshake`, and which links live side by side to `peer-index`.
 *
 * K1 A link ends exactly once: pending requests fail with `submitted: true`, waiting records are refused with
 *    `submitted: false`, both sides' sinks hear the reason (CORE-008, C09).
 * K2 After `finish` no new ordinary record is accepted here. The last word is said when the other side has finished, too,
 *    and neither owes this one or is owed by it anything; the link closes when both have said it (CORE-010).
 * K3 A callback that throws costs its own link, never a record of another one: the error is reported, the link fails, and
 *    its end still reaches everyone.
 */
import { type ErrorKindName, ZLinkError } from '../../errors/index.ts';
import type { PipeSink } from '../transport/engine.ts';
import type { OutboundRecord, OutboundRequest } from '../transport/records.ts';
import type { CorrelationScope, Link, LinkPhase, PeerFacts } from '../transport/transport.ts';
import { type Descriptor, encodeDescriptor, encodeRejection, RejectReason } from '../wire/hello.ts';
import { isAnswer, RecordKind } from '../wire/record.ts';
import { boundedText, type LinkTraffic } from '../../observe/index.ts';
import { Farewell } from './farewell.ts';
import type { Flushable } from './flusher.ts';
import { GuardedSink } from './guarded-sink.ts';
import { sendRecord } from './handshake.ts';
import { Inbound, type InboundOwner } from './inbound.ts';
import type { LinkFacts, LinkServices } from './link-parts.ts';
import { Liveness } from './liveness.ts';
import { Outbound } from './outbound.ts';
import { PeerControl, REASON_LENGTH } from './peer-control.ts';
import { Unread } from './unread.ts';

export class PhysicalLink implements Link, PipeSink, Flushable {
  readonly id: number;
  readonly peer: PeerFacts;
  readonly correlationScope: CorrelationScope;
  /** Whether this side dialled. */
  readonly dialed: boolean;
  readonly #facts: LinkFacts;
  readonly #services: LinkServices;
  readonly #outbound: Outbound;
  readonly #inbound: Inbound;
  readonly #liveness: Liveness;
  readonly #unread: Unread;
  readonly #sink: GuardedSink;
  readonly #farewell: Farewell;
  readonly #control: PeerControl;
  #unanswered = 0;
  #flushScheduled = false;

  constructor(facts: LinkFacts, services: LinkServices) {
    this.id = facts.id;
    this.peer = facts.peer;
    this.correlationScope = facts.correlationScope;
    this.dialed = facts.dialed;
    this.#facts = facts;
    this.#services = services;
    this.#outbound = new Outbound({
      pipe: facts.pipe,
      clock: services.clock,
      completionLane: facts.completionLane,
      windowBytes: facts.sendWindowBytes,
      maxMessageBytes: facts.peer.maxMessageBytes,
      peerText: `"${facts.peer.scope}" at ${facts.pipe.address}`,
      onAnswered: () => this.forgo(),
      onBatched: this.#onBatched,
    });
    const { permits, clock } = services;
    const { receiveWindow: window, completionLane } = facts;
    this.#inbound = new Inbound({ permits, window, completionLane, clock }, this.#inboundOwner());
    this.#unread = new Unread(services.budget.budgetBytes);
    this.#liveness = new Liveness(services.liveness, services, {
      sendProbe: (id, isNew) => {
        if (isNew) this.#unread.probed();
        this.#outbound.control(RecordKind.probe, id);
      },
      onAnswer: () => this.#unread.proven(),
      onSilence: (silentMs) => this.fail(`no answer to probes for ${Math.round(silentMs)} ms`),
    });
    this.#farewell = new Farewell({
      say: (phase) => this.#outbound.goodbye(phase),
      // Pending requests, too: the other side may close on our word, with replies to us still waiting for their turn.
      isOwing: () => this.#outbound.pendingCount > 0 || this.#unanswered > 0 || this.#inbound.stalledCount > 0,
      onFinishing: (kind) => this.#onFinishing(kind),
      onPeerFinished: () => {
        this.#protect(() => this.#outbound.failPending(this.#error('Unavailable', true, 'ended without a reply')));
      },
      onOver: () => {
        this.#send(); // the last word itself
        this.#end('closed', CLOSE_LINGER_MS);
      },
    });
    this.#sink = new GuardedSink(this, { onThrown: (error) => this.#faulted(error), onFault: services.onFault });
    this.#control = new PeerControl(facts.descriptor, {
      outbound: this.#outbound,
      liveness: this.#liveness,
      farewell: this.#farewell,
      sink: this.#sink,
      violated: (fault) => this.#violated(fault),
      ended: (reason) => this.#end(reason, 0),
    });
    this.#sink.open(() => facts.openSink(this));
    const { phase, state } = this.#farewell; // what the topic has missed while it opened its sink
    if (phase === 'finishing') this.#sink.finishing();
    if (state.kind === 'closed') this.#sink.closed(state.reason);
  }

  get descriptor(): Descriptor {
    return this.#control.descriptor;
  }

  get phase(): LinkPhase {
    return this.#farewell.phase;
  }

  get outstandingBytes(): number {
    return this.#outbound.outstandingBytes;
  }

  get waitingRecords(): number {
    return this.#outbound.waitingCount;
  }

  get pendingRequests(): number {
    return this.#outbound.pendingCount;
  }

  get unansweredRequests(): number {
    return this.#unanswered;
  }

  /** Received, and not yet returned as credit. */
  get queuedBytes(): number {
    return this.#inbound.outstandingBytes;
  }

  get traffic(): LinkTraffic {
    const { sentMessages, sentBytes, outstandingBytes, windowBytes, waitingCount: waitingMessages } = this.#outbound;
    const { receivedMessages, receivedBytes } = this.#inbound;
    const received = { receivedMessages, receivedBytes };
    return Object.freeze({ sentMessages, sentBytes, ...received, outstandingBytes, windowBytes, waitingMessages });
  }

  get #isClosed(): boolean {
    return this.#farewell.state.kind === 'closed';
  }

  submit(record: OutboundRecord): boolean {
    const { kind } = this.#farewell.state;
    const answers = isAnswer(record.kind);
    if (kind !== 'open' && (kind === 'closed' || !answers))
      throw this.#error('Unavailable', false, 'takes no new work');
    const written = this.#outbound.submit(record);
    if (answers && written) this.forgo();
    return written;
  }

  withdraw(record: OutboundRecord): boolean {
    return this.#outbound.withdraw(record);
  }

  abandon(request: OutboundRequest, notify: boolean): void {
    this.#outbound.abandon(request, notify && !this.#isClosed);
    this.#farewell.conclude();
  }

  forgo(): void {
    this.#unanswered--;
    this.#farewell.conclude();
  }

  /** @param kind - of the error of sends and requests that wait for credit */
  finish(kind: ErrorKindName = 'Unavailable'): void {
    this.#farewell.begin(kind);
  }

  /** @param kind - of the error of waiting records and pending requests */
  fail(reason: string, kind: ErrorKindName = 'Unavailable'): void {
    if (this.#isClosed) return;
    // The peer learns why, and a peer that dialled closes the connection, which not every engine lets us do.
    const rejection = encodeRejection({ reason: RejectReason.ended, text: boundedText(reason, REASON_LENGTH) });
    this.#protect(() => sendRecord(this.#facts.pipe, RecordKind.reject, rejection));
    this.#end(reason, CLOSE_LINGER_MS, kind);
  }

  /** Ends it with its host. What was written before leaves before: the flush that it waits for may come too late. */
  giveUp(): void {
    this.flush();
    this.fail('this host is shutting down', 'ShuttingDown');
  }

  /** Sends a new revision of this side's descriptor. */
  update(descriptor: Descriptor): void {
    if (this.#isClosed) return;
    this.#outbound.control(RecordKind.update, 0, encodeDescriptor(descriptor));
  }

  /** The receive window is larger now. */
  announceWindow(): void {
    if (this.#isClosed) return;
    this.#outbound.credit(0, this.#facts.receiveWindow.grantedBytes);
    this.#onBatched(false);
  }

  onFlowRunning(): void {
    if (!this.#isClosed) this.#inbound.onRunning();
  }

  flush(): void {
    this.#flushScheduled = false;
    if (this.#isClosed) return;
    const { excess } = this.#unread;
    // Here and not where a full batch leaves: that may be in the middle of admitting what waits.
    if (excess === undefined) this.#send();
    else this.fail(excess);
  }

  onPipeOpen(): void {
    // Links are made on open pipes.
  }

  onPipeMessage(parts: readonly Uint8Array[], first: number): void {
    if (!this.#isClosed) this.#inbound.read(parts, first);
  }

  onPipeClosed(reason: string): void {
    // After our last word nothing is owed either way: the other side's last word may wait here behind a late reply.
    this.#end(this.#farewell.state.kind === 'finished' ? 'closed' : reason, 0);
  }

  readonly #onBatched = (flushNow: boolean): void => {
    if (flushNow) return this.#send();
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#services.flusher.schedule(this);
  };

  #send(): void {
    if (this.#isClosed) return;
    const creditBytes = this.#inbound.takeCredit();
    if (creditBytes > 0) this.#outbound.credit(creditBytes, this.#facts.receiveWindow.grantedBytes);
    try {
      if (!this.#unread.add(this.#outbound.flush())) return;
      this.#liveness.probe();
      this.#onBatched(false); // if no proof comes, the next flush may have to end the link
    } catch (error) {
      this.#faulted(error); // what was in the batch is lost, and the next one must not seem to follow it
    }
  }

  #onFinishing(kind: ErrorKindName): void {
    this.#protect(() => this.#outbound.refuseWaiting(this.#error(kind, false, 'takes no new work'), true));
    if (this.phase !== 'finishing') return; // a callback may have ended the link
    this.#sink.finishing();
    this.#facts.onFinishing(this);
  }

  #end(reason: string, lingerMs: number, kind: ErrorKindName = 'Unavailable'): void {
    if (!this.#farewell.close(reason)) return; // K1: nothing below runs twice
    this.#liveness.stop();
    const droppedCount = this.#inbound.close();
    this.#protect(() => this.#facts.pipe.close(lingerMs));
    this.#protect(() => this.#outbound.refuseWaiting(this.#error(kind, false, `ended: ${reason}`), false));
    this.#protect(() => this.#outbound.failPending(this.#error(kind, true, `ended: ${reason}`)));
    this.#sink.closed(reason);
    this.#facts.onClosed(this, reason, droppedCount);
  }

  #inboundOwner(): InboundOwner {
    return {
      deliver: (record) => {
        if (record.kind === RecordKind.request) this.#unanswered++;
        this.#sink.record(record);
      },
      complete: (record) => {
        const request = this.#outbound.takePending(record.correlation);
        try {
          if (request === undefined) this.#sink.unmatched(record);
          else request.onReply(record);
        } catch (error) {
          this.#faulted(error);
        }
        this.#farewell.conclude();
      },
      control: (record) => {
        try {
          this.#control.onRecord(record);
        } catch (error) {
          this.#faulted(error);
        }
      },
      drained: () => this.#farewell.conclude(),
      violated: (fault) => this.#violated(fault),
      onCreditDue: (urgent) => {
        if (urgent) this.#onBatched(false);
        else this.#services.flusher.scheduleIdle(this);
      },
    };
  }

  /** The peer broke the protocol: nothing it says can be trusted any more (WIRE-003). */
  #violated(fault: string): void {
    if (this.#isClosed) return;
    this.#services.onViolation(fault, this.#facts.pipe.address);
    this.fail(`protocol error: ${fault}`);
  }

  /** K3 */
  #faulted(error: unknown): void {
    this.#services.onFault(error);
    this.fail('internal failure');
  }

  /** K3: for steps after which the link is past failing. */
  #protect(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#services.onFault(error);
    }
  }

  #error(kind: ErrorKindName, submitted: boolean, why: string): ZLinkError {
    return new ZLinkError(kind, `link to "${this.peer.scope}" at ${this.#facts.pipe.address} ${why}`, { submitted });
  }
}

/** Time for the last words of a link to leave after it was closed in order. */
const CLOSE_LINGER_MS = 1_000;
