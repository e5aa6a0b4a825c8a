/** Fixed limits of the wire and of links. `docs/limits.md` is checked against this list. */

/** Version that both sides of a connection must share (WIRE-001). */
export const WIRE_MAJOR = 1;
export const WIRE_MINOR = 1;

/** Size of the fixed part of every record. */
export const HEADER_BYTES = 16;

/** What a record costs in a window beside payload and metadata, so that empty records are not free (CORE-004). */
export const RECORD_COST_BYTES = 64;

/** A batch that has reached this size leaves at once instead of at the end of the turn (CORE-001). */
export const FLUSH_BYTES = 65_536;

/** A payload of this size or more is not copied into the batch: it travels as a message part of its own (CORE-001). */
export const EXTERNAL_BYTES = 32_768;

/** Names per link and direction; further names travel inline (WIRE-004). */
export const NAME_LIMIT = 4_096;

export { METADATA_BYTES } from '../../message/metadata.ts';

/** Largest message of a fanout publisher: a mark counts messages, and this makes it a bound in bytes (CORE-016). */
export const EVENT_FRAME_BYTES = 65_536;

/** Largest payload of one event. */
export const EVENT_BYTES = 16_777_216;

/** Encoded trace context of one record (WIRE-007). */
export const TRACE_BYTES = 1_024;

/** Largest hello, admit or update (SEC-002). */
export const HELLO_BYTES = 65_536;

/** Smallest window of a link (CORE-007). */
export const MIN_WINDOW_BYTES = 65_536;

/** Records of one link that may wait for credit; the next one is refused `CapacityExceeded`. */
export const WAITING_LIMIT = 65_536;

/** Requests of one link that may wait for their reply; the next one is refused `CapacityExceeded`. */
export const PENDING_LIMIT = 1_048_576;

/** Connections of one listener that may be in their handshake at the same time (SEC-002). */
export const HANDSHAKE_LIMIT = 1_024;

/** Time from connecting to admission (CORE-009). */
export const HANDSHAKE_TIMEOUT_MS = 5_000;

/** Interval of probes and the silence after which a link is dead (LIVE-001). */
export const PROBE_INTERVAL_MS = 5_000;
export const LIVENESS_DEADLINE_MS = 15_000;
