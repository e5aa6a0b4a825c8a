/** The trace section of a record on its way out: written in place, so that it costs no bytes of its own (WIRE-007). */
export interface OutboundTrace {
  /** 1..`TRACE_BYTES`. */
  readonly byteLength: number;
  /** Writes that many bytes from `at` on. */
  writeInto(target: Uint8Array, at: number): void;
}
