/**
 * A link: one admitted connection to one peer, from admission to its single end.
 *
 * Owns the phases and the control records between two admitted peers. Leaves sending to `outbound`, receiving to
 * `inbound`, the exchange before admission to `handshake`, and which links live side by side to `peer-index`.
 *
 * K1 A link ends exactly once: pending requests fail with `submitted: true`, waiting records are refused with
 *    `submitted: false`, both sides' sinks hear the reason (CORE-008, C09).
 * K2 After `finish` no new ordinary record is accepted here. The last word is said when the other side has finished, too,
 *    and neither owes this one or is owed by it anything; the link closes when both have said it (CORE-010).
 * K3 A callback that throws costs its own link, never a record of another one: the error is reported, the link fails, and
 *    its end still reaches everyone.
 */
import { type ErrorKindName, ZLinkError } from '../../errors/index.ts';
import type { JobPermits } from '../execution/index.ts';
import type { Clock, DeadlineWheel } from '../time/index.ts';
import type { Pipe, PipeSink } from '../transport/engine.ts';
import type { LinkSink, OutboundRecord, OutboundRequest } from '../transport/records.ts';
import type { Link, LinkPhase, PeerFacts } from '../transport/transport.ts';
import {
  type Descriptor,
  decodeDescriptor,
  decodeRejection,
  encodeDescriptor,
  encodeRejection,
  RejectReason,
} from '../wire/hello.ts';
import type { RecordReader } from '../wire/record-reader.ts';
import { GoodbyePhase, isAnswer, RecordKind } from '../wire/record.ts';
import { boundedText } from '../../observe/index.ts';
import type { Flushable, Flusher } from './flusher.ts';
import { sendRecord } from './handshake.ts';
import { Inbound } from './inbound.ts';
import { Liveness, type LivenessTimes } from './liveness.ts';
import { Outbound } from './outbound.ts';
import type { WindowShare } from './window-budget.ts';

export interface LinkServices {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly permits: JobPermits;
  readonly flusher: Flusher;
  readonly liveness: LivenessTimes;
  /** A callback of the topic, or the engine, has thrown (K3). */
  readonly onFault: (error: unknown) => void;
  /** A peer has broken the protocol after it was admitted (WIRE-003). */
  readonly onViolation: (fault: string, address: string) => void;
}

export interface LinkFacts {
  readonly id: number;
  readonly pipe: Pipe;
  readonly dialed: boolean;
  readonly peer: PeerFacts;
  readonly descriptor: Descriptor;
  /** What the peer granted in its hello. */
  readonly sendWindowBytes: number;
  /** What this side grants. */
  readonly receiveWindow: WindowShare;
  readonly completionLane: boolean;
  readonly openSink: (link: PhysicalLink) => LinkSink;
  /** `droppedCount`: received records that will never have their turn. */
  readonly onClosed: (link: PhysicalLink, reason: string, droppedCount: number) => void;
}

export class PhysicalLink implements Link, PipeSink, Flushable {
  readonly id: number;
  readonly peer: PeerFacts;
  readonly dialed: boolean;
  readonly #facts: LinkFacts;
  readonly #services: LinkServices;
  readonly #outbound: Outbound;
  readonly #inbound: Inbound;
  readonly #liveness: Liveness;
  /** Undefined while `openSink` runs. */
  readonly #sink: LinkSink | undefined;
  #descriptor: Descriptor;
  #phase: LinkPhase = 'open';
  #endReason = '';
  #peerPhase: 0 | 1 | 2 = 0;
  #saidFinished = false;
  #unanswered = 0;
  #flushScheduled = false;

  constructor(facts: LinkFacts, services: LinkServices) {
    this.id = facts.id;
    this.peer = facts.peer;
    this.dialed = facts.dialed;
    this.#facts = facts;
    this.#services = services;
    this.#descriptor = facts.descriptor;
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
    this.#inbound = new Inbound(
      {
        permits: services.permits,
        window: facts.receiveWindow,
        completionLane: facts.completionLane,
        clock: services.clock,
      },
      {
        deliver: (record) => {
          if (record.kind === RecordKind.request) this.#unanswered++;
          try {
            this.#sink?.onRecord(record, this);
          } catch (error) {
            this.#faulted(error);
          }
        },
        complete: (record) => {
          const request = this.#outbound.takePending(record.correlation);
          try {
            if (request === undefined) this.#sink?.onUnmatched(record, this);
            else request.onReply(record);
          } catch (error) {
            this.#faulted(error);
          }
          this.#conclude();
        },
        control: (record) => {
          try {
            this.#onControl(record);
          } catch (error) {
            this.#faulted(error);
          }
        },
        drained: () => this.#conclude(),
        violated: (fault) => this.#violated(fault),
        onCreditDue: (urgent) => {
          if (urgent) this.#onBatched(false);
          else this.#services.flusher.scheduleIdle(this);
        },
      },
    );
    this.#liveness = new Liveness(services.liveness, services.clock, services.wheel, {
      sendProbe: (id) => this.#outbound.control(RecordKind.probe, id, 0),
      onSilence: (silentMs) => this.fail(`no answer to probes for ${Math.round(silentMs)} ms`),
    });
    this.#sink = this.#open();
    if (this.#phase === 'finishing') this.#tell((sink) => sink.onFinishing(this));
    if (this.#phase === 'closed') this.#tell((sink) => sink.onClosed(this, this.#endReason));
  }

  get descriptor(): Descriptor {
    return this.#descriptor;
  }

  get phase(): LinkPhase {
    return this.#phase;
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

  submit(record: OutboundRecord): boolean {
    const answers = isAnswer(record.kind);
    if (this.#phase === 'closed' || (this.#phase === 'finishing' && !answers))
      throw this.#error('Unavailable', false, 'takes no new work');
    const written = this.#outbound.submit(record);
    if (answers && written) this.forgo();
    return written;
  }

  withdraw(record: OutboundRecord): boolean {
    return this.#outbound.withdraw(record);
  }

  abandon(request: OutboundRequest, notify: boolean): void {
    this.#outbound.abandon(request, notify && this.#phase !== 'closed');
    this.#conclude();
  }

  forgo(): void {
    this.#unanswered--;
    this.#conclude();
  }

  finish(kind: ErrorKindName = 'Unavailable'): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'finishing';
    this.#outbound.goodbye(GoodbyePhase.finishing);
    this.#protect(() => this.#outbound.refuseWaiting(this.#error(kind, false, 'takes no new work'), true));
    if (this.#phase === 'finishing') this.#tell((sink) => sink.onFinishing(this)); // a callback may have ended the link
    this.#conclude();
  }

  fail(reason: string, kind: ErrorKindName = 'Unavailable'): void {
    if (this.#phase === 'closed') return;
    // The peer learns why, and a peer that dialled closes the connection, which not every engine lets us do.
    const rejection = encodeRejection({ reason: RejectReason.ended, text: boundedText(reason, REASON_LENGTH) });
    this.#protect(() => sendRecord(this.#facts.pipe, RecordKind.reject, rejection));
    this.#end(reason, CLOSE_LINGER_MS, kind);
  }

  /** Sends a new revision of this side's descriptor. */
  update(descriptor: Descriptor): void {
    if (this.#phase === 'closed') return;
    this.#outbound.control(RecordKind.update, 0, 0, encodeDescriptor(descriptor));
  }

  /** The receive window is larger now. */
  announceWindow(): void {
    if (this.#phase === 'closed') return;
    this.#outbound.credit(0, this.#facts.receiveWindow.grantedBytes);
    this.#onBatched(false);
  }

  onFlowRunning(): void {
    if (this.#phase !== 'closed') this.#inbound.onRunning();
  }

  flush(): void {
    this.#flushScheduled = false;
    if (this.#phase === 'closed') return;
    const creditBytes = this.#inbound.takeCredit();
    if (creditBytes > 0) this.#outbound.credit(creditBytes, this.#facts.receiveWindow.grantedBytes);
    try {
      this.#outbound.flush();
    } catch (error) {
      this.#faulted(error); // what was in the batch is lost, and the next one must not seem to follow it
    }
  }

  onPipeOpen(): void {
    // Links are made on open pipes.
  }

  onPipeMessage(parts: readonly Uint8Array[], first: number): void {
    if (this.#phase !== 'closed') this.#inbound.read(parts, first);
  }

  onPipeClosed(reason: string): void {
    // After our last word nothing is owed either way: the other side's last word may wait here behind a late reply.
    this.#end(this.#saidFinished ? 'closed' : reason, 0);
  }

  readonly #onBatched = (flushNow: boolean): void => {
    if (flushNow) return this.flush();
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#services.flusher.schedule(this);
  };

  #onControl(record: RecordReader): void {
    switch (record.kind) {
      case RecordKind.credit:
        if (!this.#outbound.onCredit(record.aux, record.correlation)) this.#violated('credit for nothing');
        return;
      case RecordKind.probe:
        return this.#outbound.control(RecordKind.ack, record.correlation, 0);
      case RecordKind.ack:
        return this.#liveness.onAck(record.correlation);
      case RecordKind.cancel:
        return this.#sink?.onCancel(record.correlation, this);
      case RecordKind.update:
        return this.#onUpdate(record);
      case RecordKind.goodbye:
        return this.#onGoodbye(record.aux);
      case RecordKind.reject: {
        const rejection = decodeRejection(record.payloadView);
        if (rejection === undefined) return this.#violated('malformed reject');
        return this.#end(`peer: ${boundedText(rejection.text, REASON_LENGTH)}`, 0);
      }
      default:
        this.#violated(`record kind ${record.kind} after admission`);
    }
  }

  #onUpdate(record: RecordReader): void {
    const next = decodeDescriptor(record.payloadView);
    if (next === undefined) return this.#violated('malformed update');
    if (next.revision <= this.#descriptor.revision) {
      return this.#violated(`update to revision ${next.revision} after ${this.#descriptor.revision}`);
    }
    if (!sameChannels(next, this.#descriptor)) return this.#violated('set of channels changed');
    this.#descriptor = next;
    this.#sink?.onUpdate(this);
  }

  #onGoodbye(phase: number): void {
    if (phase !== GoodbyePhase.finishing && phase !== GoodbyePhase.finished) {
      return this.#violated(`goodbye phase ${phase}`);
    }
    this.#peerPhase = phase;
    if (phase === GoodbyePhase.finished) {
      if (this.#phase === 'open') return this.#end('peer closed the link', 0);
      // The other side owes nothing any more: these will have no reply.
      this.#protect(() => this.#outbound.failPending(this.#error('Unavailable', true, 'ended without a reply')));
    }
    this.finish();
    this.#conclude();
  }

  /** Says the last word as soon as nothing is owed any more, and closes when both sides have (K2). */
  #conclude(): void {
    if (this.#phase !== 'finishing' || this.#peerPhase === 0) return;
    if (!this.#saidFinished) {
      // Pending requests, too: the other side may close on our word, with replies to us still waiting for their turn.
      if (this.#outbound.pendingCount > 0 || this.#unanswered > 0 || this.#inbound.stalledCount > 0) return;
      this.#saidFinished = true;
      this.#outbound.goodbye(GoodbyePhase.finished);
    }
    if (this.#peerPhase !== GoodbyePhase.finished) return;
    this.flush(); // the last word itself
    this.#end('closed', CLOSE_LINGER_MS);
  }

  #end(reason: string, lingerMs: number, kind: ErrorKindName = 'Unavailable'): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed'; // K1: nothing below runs twice
    this.#endReason = reason;
    this.#liveness.stop();
    const droppedCount = this.#inbound.close();
    this.#protect(() => this.#facts.pipe.close(lingerMs));
    this.#protect(() => this.#outbound.refuseWaiting(this.#error(kind, false, `ended: ${reason}`), false));
    this.#protect(() => this.#outbound.failPending(this.#error(kind, true, `ended: ${reason}`)));
    this.#tell((sink) => sink.onClosed(this, reason));
    this.#facts.onClosed(this, reason, droppedCount);
  }

  #open(): LinkSink | undefined {
    try {
      return this.#facts.openSink(this);
    } catch (error) {
      this.#faulted(error);
      return undefined;
    }
  }

  /** The peer broke the protocol: nothing it says can be trusted any more (WIRE-003). */
  #violated(fault: string): void {
    if (this.#phase === 'closed') return;
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

  #tell(call: (sink: LinkSink) => void): void {
    const sink = this.#sink;
    if (sink !== undefined) this.#protect(() => call(sink));
  }

  #error(kind: ErrorKindName, submitted: boolean, why: string): ZLinkError {
    return new ZLinkError(kind, `link to "${this.peer.scope}" at ${this.#facts.pipe.address} ${why}`, { submitted });
  }
}

/** Characters of a reason that the peer is told. */
const REASON_LENGTH = 200;

/** Time for the last words of a link to leave after it was closed in order. */
const CLOSE_LINGER_MS = 1_000;

function sameChannels(a: Descriptor, b: Descriptor): boolean {
  if (a.channels.length !== b.channels.length) return false;
  const names = new Set(a.channels.map((channel) => channel.name));
  return b.channels.every((channel) => names.has(channel.name));
}
