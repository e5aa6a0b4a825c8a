/**
 * The exchange on a fresh pipe: hello one way, admit or reject the other, within a deadline (WIRE-001, CORE-009).
 *
 * Owns a pipe from its opening until it is a link or is closed. Leaves the checks to `admission`, and what follows to
 * its owner.
 *
 * H1 Nothing but the expected record is accepted; every other input ends the pipe with a counted reason.
 * H2 The pipe becomes a link by `onGreeting`, or `onFailed` is called once; never both.
 * H3 A first message of several parts, or larger than a hello or admit may be, is not even looked at (SEC-002): engines
 *    limit parts for the whole of a listener's life, and so let in what is meant for admitted peers.
 */
import type { Clock, DeadlineEntry, DeadlineWheel } from '../time/index.ts';
import type { Pipe, PipeSink } from '../transport/engine.ts';
import { BatchBuffer } from '../wire/batch-buffer.ts';
import {
  type DecodedHello,
  RejectReason,
  type Rejection,
  decodeHello,
  decodeRejection,
  encodeRejection,
} from '../wire/hello.ts';
import { HANDSHAKE_TIMEOUT_MS, HEADER_BYTES, HELLO_BYTES } from '../wire/limits.ts';
import { RecordReader } from '../wire/record-reader.ts';
import { RecordKind } from '../wire/record.ts';

/** Time for a rejection to reach the other side before the pipe closes. */
const REJECT_LINGER_MS = 1_000;

/** The two numbers that the header of a greeting has room for: whom a hello asks for, and what an admit calls the link. */
export interface GreetingNumbers {
  readonly correlation: number;
  readonly aux: number;
}

export interface HandshakeOwner {
  /** The other side said hello (accepting) or admitted us (dialing); the verdict comes back as sink or rejection. */
  onGreeting(decoded: DecodedHello, pipe: Pipe, numbers: GreetingNumbers): PipeSink | Rejection;
  onFailed(rejection: Rejection, byPeer: boolean): void;
}

export class Handshake implements PipeSink, DeadlineEntry {
  deadlineAtMs: number;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  readonly #owner: HandshakeOwner;
  readonly #wheel: DeadlineWheel;
  /** What this side says first; absent when it answers. */
  readonly #hello: (() => Uint8Array) | undefined;
  readonly #numbers: GreetingNumbers;
  #pipe: Pipe | undefined;
  /** The link that the pipe has become. */
  #next: PipeSink | undefined;
  #over = false;

  /** @param numbers - of the hello */
  constructor(
    owner: HandshakeOwner,
    hello: (() => Uint8Array) | undefined,
    wheel: DeadlineWheel,
    clock: Clock,
    numbers: GreetingNumbers = NONE,
  ) {
    this.#owner = owner;
    this.#hello = hello;
    this.#numbers = numbers;
    this.#wheel = wheel;
    this.deadlineAtMs = clock.nowMs() + HANDSHAKE_TIMEOUT_MS;
    wheel.add(this);
  }

  /** Gives the handshake its pipe; the engine may call the sink only after this. */
  attach(pipe: Pipe): void {
    this.#pipe = pipe;
  }

  /** Ends the exchange before the other side has said anything. */
  refuse(rejection: Rejection): void {
    this.#reject(rejection);
  }

  /** The owner no longer wants the connection. */
  cancel(): void {
    if (this.#over) return;
    this.#finish();
    this.#pipe?.close(0);
  }

  onPipeOpen(): void {
    if (this.#over || this.#hello === undefined) return;
    sendRecord(this.#pipe!, RecordKind.hello, this.#hello(), this.#numbers);
  }

  onPipeMessage(parts: readonly Uint8Array[], first: number): void {
    if (this.#next !== undefined) return this.#next.onPipeMessage(parts, first);
    if (this.#over) return;
    const record = readSingleRecord(parts, first);
    const expected = this.#hello === undefined ? RecordKind.hello : RecordKind.admit;
    if (record?.kind === RecordKind.reject && this.#hello !== undefined) {
      return this.#fail(decodeRejection(record.payloadView) ?? MALFORMED, true);
    }
    if (record?.kind !== expected) return this.#reject(MALFORMED); // H1
    const verdict = this.#owner.onGreeting(decodeHello(record.payloadView), this.#pipe!, record);
    if ('reason' in verdict) return this.#reject(verdict);
    this.#finish();
    this.#next = verdict;
  }

  onPipeClosed(reason: string): void {
    if (this.#next !== undefined) return this.#next.onPipeClosed(reason);
    if (this.#over) return;
    this.#finish();
    this.#owner.onFailed({ reason: RejectReason.malformed, text: reason }, false);
  }

  onDeadline(): void {
    const text = `no answer to the handshake within ${HANDSHAKE_TIMEOUT_MS} ms`;
    this.#fail({ reason: RejectReason.malformed, text }, false);
  }

  #reject(rejection: Rejection): void {
    sendRecord(this.#pipe!, RecordKind.reject, encodeRejection(rejection));
    this.#fail(rejection, false);
  }

  #fail(rejection: Rejection, byPeer: boolean): void {
    if (this.#over) return;
    this.#finish();
    this.#pipe?.close(REJECT_LINGER_MS);
    this.#owner.onFailed(rejection, byPeer); // H2
  }

  #finish(): void {
    this.#over = true;
    this.#wheel.remove(this);
  }
}

const NONE: GreetingNumbers = { correlation: 0, aux: 0 };

/** @param numbers - of a hello or an admit */
export function sendRecord(pipe: Pipe, kind: RecordKind, payload: Uint8Array, numbers = NONE): void {
  const batch = new BatchBuffer();
  batch.begin(kind, 0, numbers.correlation, numbers.aux);
  batch.writeInline(payload); // one part, whatever its size
  batch.commit();
  const parts: Uint8Array[] = [];
  batch.take(parts);
  pipe.send(parts);
}

const LARGEST_GREETING_BYTES = HEADER_BYTES + HELLO_BYTES;

const MALFORMED: Rejection = { reason: RejectReason.malformed, text: 'handshake is malformed' };

function readSingleRecord(parts: readonly Uint8Array[], first: number): RecordReader | undefined {
  const batch = parts[first];
  if (batch === undefined || parts.length !== first + 1 || batch.length > LARGEST_GREETING_BYTES) return undefined; // H3
  const record = new RecordReader([]);
  record.nextPart = first + 1;
  return record.read(batch, 0, parts) === batch.length ? record : undefined;
}
