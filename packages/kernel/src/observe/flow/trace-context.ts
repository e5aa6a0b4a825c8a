/**
 * A W3C trace context: which trace a message belongs to, and which span sent it.
 *
 * Owns both of its forms, the 25 bytes that travel (trace id, span id, flags) and the text of a `traceparent` header. Leaves
 * what spans are to whoever implements the span port.
 *
 * 1. Immutable, and always valid: what is not cannot be made (TRACE-023).
 * 2. `tracestate` is text of at most 512 visible ASCII characters, carried unseen; what is none is left out.
 */

/** Of trace id, span id and flags. */
export const TRACE_CONTEXT_BYTES = 25;
const TRACE_STATE_BYTES = 512;

const TRACE_ID_BYTES = 16;
const SPAN_END = 24;

/** Version, trace id, span id and flags; another version than ff, whose text has the same length, is read alike. */
const PATTERN = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export class TraceContext {
  /** Whoever reads them changes nothing. */
  readonly bytes: Uint8Array;
  /** Empty: none. */
  readonly traceState: string;

  private constructor(bytes: Uint8Array, traceState: string) {
    this.bytes = bytes;
    this.traceState = traceState;
    Object.freeze(this); // 1: handlers hold it by their flow
  }

  /** Of the texts of both headers; undefined if the first is no `traceparent` of at most 55 bytes. */
  static fromTexts(traceParent: string, traceState = ''): TraceContext | undefined {
    const [, traceId, spanId, flags] = PATTERN.exec(traceParent) ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
    const hex = traceId + spanId + flags;
    const bytes = new Uint8Array(TRACE_CONTEXT_BYTES);
    for (let at = 0; at < TRACE_CONTEXT_BYTES; at++) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
    return isValid(bytes) ? new TraceContext(bytes, isTraceState(traceState) ? traceState : '') : undefined; // 2
  }

  /** Of what travelled, from `start` to the end of the section; undefined if it is invalid. Nothing is kept of `source`. */
  static read(source: Uint8Array, start: number, end: number): TraceContext | undefined {
    const stateStart = start + TRACE_CONTEXT_BYTES;
    if (end < stateStart) return undefined;
    const bytes = Uint8Array.prototype.slice.call(source, start, stateStart); // a Buffer's own slice copies nothing
    return isValid(bytes) ? new TraceContext(bytes, readTraceState(source, stateStart, end)) : undefined;
  }

  get traceParent(): string {
    let text = '00-';
    for (let at = 0; at < TRACE_CONTEXT_BYTES; at++) {
      if (at === TRACE_ID_BYTES || at === SPAN_END) text += '-';
      text += this.bytes[at]!.toString(16).padStart(2, '0');
    }
    return text;
  }
}

/** Neither id may be all zeros. */
function isValid(bytes: Uint8Array): boolean {
  let [trace, span] = [0, 0];
  for (let at = 0; at < TRACE_ID_BYTES; at++) trace |= bytes[at]!;
  for (let at = TRACE_ID_BYTES; at < SPAN_END; at++) span |= bytes[at]!;
  return trace !== 0 && span !== 0;
}

function isTraceState(text: string): boolean {
  return text.length <= TRACE_STATE_BYTES && /^[\x20-\x7e]*$/.test(text);
}

function readTraceState(source: Uint8Array, start: number, end: number): string {
  if (end - start > TRACE_STATE_BYTES) return ''; // 2
  let text = '';
  for (let at = start; at < end; at++) text += String.fromCharCode(source[at]!);
  return isTraceState(text) ? text : '';
}
