/**
 * A flow: everything that one cause sets in motion, from message to message and from host to host (TRACE-021).
 *
 * Owns its id, its origin, and the section of a record that carries both:
 *
 * ```text
 *  0          1                17                        42
 * +----------+----------------+-------------------------+-------------+
 * | origin,  | id: UUIDv7     | W3C trace context, if   | tracestate, |
 * | flags u8 | 16 bytes       | flag 0x04: 25 bytes     | to the end  |
 * +----------+----------------+-------------------------+-------------+
 * ```
 * Leaves making ids to the flow source, and when a flow begins to calls and dispatches.
 *
 * 1. Immutable; a text is made when somebody asks for it. The id is kept as four numbers: there is one per message.
 * 2. Id and origin travel together or not at all; what does not fit is malformed (TRACE-021).
 * 3. A trace context that is invalid is left out, and the flow goes on without (TRACE-023).
 */
import { describeValue, ZLinkError } from '../../errors/index.ts';
import { TRACE_CONTEXT_BYTES, TraceContext } from './trace-context.ts';

/**
 * What a flow began with.
 * - `inbound`: a message that carried none
 * - `timer`, `lifecycle`: a callback of the framework
 * - `application`: a call outside of any callback
 */
export type FlowOrigin = 'inbound' | 'timer' | 'application' | 'lifecycle';

/** One flow, as applications hold it: given to a call, the call belongs to it. Never for matching or deduplication. */
export interface Flow {
  /** UUIDv7: 36 lowercase characters. */
  readonly id: string;
  readonly origin: FlowOrigin;
}

/** By its number on the wire. */
const ORIGINS = ['inbound', 'timer', 'application', 'lifecycle'] as const satisfies readonly FlowOrigin[];

type Words = readonly [w0: number, w1: number, w2: number, w3: number];

const ORIGIN_MASK = 0x03;
const HAS_TRACE_CONTEXT = 0x04;
const ID_END = 17;

export function originNumber(origin: FlowOrigin): number {
  return ORIGINS.indexOf(origin);
}

/** A record takes it as its trace section, as it is: `byteLength` and `writeInto` are what a batch asks for. */
export class CarriedFlow implements Flow {
  readonly traceContext: TraceContext | undefined;
  // The id in four words of 32 bits, the first one first: small integers, which take no memory of their own.
  readonly #w0: number;
  readonly #w1: number;
  readonly #w2: number;
  readonly #w3: number;
  readonly #origin: number;
  #id: string | undefined = undefined;

  /**
   * @param origin - its number, 0..3
   * @param words - the four of a UUIDv7, as signed integers: one by one, as one flow is made per message
   */
  constructor(origin: number, traceContext: TraceContext | undefined, ...words: Words) {
    this.#origin = origin;
    this.traceContext = traceContext;
    this.#w0 = words[0];
    this.#w1 = words[1];
    this.#w2 = words[2];
    this.#w3 = words[3];
  }

  /** Whether it is one itself: what merely inherits from one, or stands for one, has none of its numbers. */
  static isOne(value: unknown): value is CarriedFlow {
    return typeof value === 'object' && value !== null && #origin in value;
  }

  /** Of a section that was received; undefined: it is malformed (2). Nothing is kept of `source`. */
  static read(source: Uint8Array, start: number, end: number): CarriedFlow | undefined {
    if (end - start < ID_END) return undefined;
    const head = source[start]!;
    const hasContext = (head & HAS_TRACE_CONTEXT) !== 0;
    if (head > (ORIGIN_MASK | HAS_TRACE_CONTEXT) || (!hasContext && end - start !== ID_END)) return undefined;
    if (source[start + 7]! >>> 4 !== 7 || source[start + 9]! >>> 6 !== 2) return undefined; // version and variant
    return new CarriedFlow(
      head & ORIGIN_MASK,
      hasContext ? TraceContext.read(source, start + ID_END, end) : undefined, // 3
      readWord(source, start + 1),
      readWord(source, start + 5),
      readWord(source, start + 9),
      readWord(source, start + 13),
    );
  }

  get origin(): FlowOrigin {
    return ORIGINS[this.#origin]!; // two bits
  }

  get id(): string {
    return (this.#id ??= this.#text());
  }

  /** Where it falls in 0..1, the same on every host (TRACE-011). */
  get share(): number {
    return (this.#w3 >>> 0) / 0x1_0000_0000;
  }

  /** The same flow, sent on by another span. */
  withTraceContext(context: TraceContext | undefined): CarriedFlow {
    if (context === undefined) return this;
    return new CarriedFlow(this.#origin, context, this.#w0, this.#w1, this.#w2, this.#w3);
  }

  get byteLength(): number {
    const context = this.traceContext;
    return context === undefined ? ID_END : ID_END + TRACE_CONTEXT_BYTES + context.traceState.length;
  }

  writeInto(target: Uint8Array, at: number): void {
    const context = this.traceContext;
    target[at] = this.#origin | (context === undefined ? 0 : HAS_TRACE_CONTEXT);
    writeWord(target, at + 1, this.#w0);
    writeWord(target, at + 5, this.#w1);
    writeWord(target, at + 9, this.#w2);
    writeWord(target, at + 13, this.#w3);
    if (context === undefined) return;
    target.set(context.bytes, at + ID_END);
    const stateStart = at + ID_END + TRACE_CONTEXT_BYTES;
    const { traceState } = context; // ASCII
    for (let index = 0; index < traceState.length; index++) target[stateStart + index] = traceState.charCodeAt(index);
  }

  #text(): string {
    writeHex(0, this.#w0 >>> 16);
    writeHex(4, this.#w0);
    writeHex(9, this.#w1 >>> 16);
    writeHex(14, this.#w1);
    writeHex(19, this.#w2 >>> 16);
    writeHex(24, this.#w2);
    writeHex(28, this.#w3 >>> 16);
    writeHex(32, this.#w3);
    return String.fromCharCode(...idText);
  }
}

/** @throws ZLinkError `InvalidOperation` for what no context has given */
export function requireFlow(flow: Flow | undefined): CarriedFlow | undefined {
  if (flow === undefined || CarriedFlow.isOne(flow)) return flow;
  throw new ZLinkError('InvalidOperation', `flow: ${describeValue(flow)} is not the flow of a context`);
}

/** The first byte is the highest, as in the text. */
function readWord(source: Uint8Array, at: number): number {
  return (source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!;
}

function writeWord(target: Uint8Array, at: number, word: number): void {
  target[at] = word >>> 24;
  target[at + 1] = word >>> 16;
  target[at + 2] = word >>> 8;
  target[at + 3] = word;
}

const HEX = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** Of one id after another: a text made at once takes half the time and an eighth of the memory of one put together. */
const idText = Array.from('________-____-____-____-____________', (character) => character.charCodeAt(0));

/** Of the lower 16 bits. */
function writeHex(at: number, word: number): void {
  idText[at] = HEX[(word >>> 12) & 0xf]!;
  idText[at + 1] = HEX[(word >>> 8) & 0xf]!;
  idText[at + 2] = HEX[(word >>> 4) & 0xf]!;
  idText[at + 3] = HEX[word & 0xf]!;
}
