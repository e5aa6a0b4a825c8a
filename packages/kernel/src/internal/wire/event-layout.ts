/**
 * How the events of a fanout publisher lie in messages.
 *
 * Owns the layout that writer and reader share. Leaves the beacon to beacon.ts.
 *
 * ```text
 *  0        4       5            13     14       16           24
 * +--------+-------+------------+------+--------+------------+--------------------+------
 * | ZLNF   | major | generation | form | events | sequence   | u8 length, channel | …
 * | magic  | u8    | u64        | u8   | u16    | u64        |                    |
 * +--------+-------+------------+------+--------+------------+--------------------+------
 * batch    event · event · …                        `sequence` is that of the first event
 * piece    u32 total · u32 offset · bytes           of one event that is too large for a frame; `events` is 0
 * event    topic · content type · packet name · u32 payload length · [u16 length · trace] · payload
 * topic, content type, packet name:  u16 index [u8 length · bytes, if the index is new]
 * ```
 * All numbers are little-endian. The highest bit of the payload length says whether there is a trace section. A message has
 * one part. What stands before the form is the topic of the run, by which a subscription may ask for it (event-topics.ts).
 * The whole description with examples is WIRE.md of `@zlink/core-binding`.
 */
import { EVENT_BYTES, TRACE_BYTES } from './limits.ts';

export const EVENT_MAGIC = Uint8Array.of(0x5a, 0x4c, 0x4e, 0x46);

export const EventForm = { batch: 1, piece: 2, otherRun: 3 } as const;

export const GENERATION_AT = 5;

/** Offsets of what is filled in when a frame is complete, and size of the head without the channel's name. */
export const FORM_AT = 13;
export const EVENT_COUNT_AT = 14;
export const SEQUENCE_AT = 16;
export const CHANNEL_AT = 24;

/** Before the bytes of a piece. */
export const PIECE_FIELDS_BYTES = 8;

/** In the field of the payload length. */
export const HAS_TRACE = 0x8000_0000;

/** Payload length, and three names with their index that are all new, and a trace section, each as long as it may be. */
const EVENT_HEAD_BYTES = 4 + 3 * (2 + 1 + 255) + 2 + TRACE_BYTES;

/** Largest event as it is cut into pieces. */
export const EVENT_WITH_NAMES_BYTES = EVENT_BYTES + EVENT_HEAD_BYTES;
