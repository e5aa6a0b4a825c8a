/**
 * How the events of a fanout publisher lie in messages.
 *
 * Owns the layout that writer and reader share. Leaves the beacon to beacon.ts.
 *
 * ```text
 *  0        4       5      6        8            16           24
 * +--------+-------+------+--------+------------+------------+--------------------+------
 * | ZLNF   | major | form | events | generation | sequence   | u8 length, channel | …
 * | magic  | u8    | u8   | u16    | u64        | u64        |                    |
 * +--------+-------+------+--------+------------+------------+--------------------+------
 * batch    event · event · …                        `sequence` is that of the first event
 * piece    u32 total · u32 offset · bytes           of one event that is too large for a frame; `events` is 0
 * event    topic · content type · packet name · u32 payload length · payload
 * topic, content type, packet name:  u16 index [u8 length · bytes, if the index is new]
 * ```
 * All numbers are little-endian. A message has one part. The whole description with examples is WIRE.md of
 * `@zlink/core-binding`.
 */
import { EVENT_BYTES } from './limits.ts';

export const EVENT_MAGIC = Uint8Array.of(0x5a, 0x4c, 0x4e, 0x46);

export const EventForm = { batch: 1, piece: 2 } as const;

/** Offsets of what is filled in when a frame is complete, and size of the head without the channel's name. */
export const EVENT_COUNT_AT = 6;
export const SEQUENCE_AT = 16;
export const CHANNEL_AT = 24;

/** Before the bytes of a piece. */
export const PIECE_FIELDS_BYTES = 8;

/** Payload length, and three names with their index that are all new and as long as they may be. */
const EVENT_HEAD_BYTES = 4 + 3 * (2 + 1 + 255);

/** Largest event as it is cut into pieces. */
export const EVENT_WITH_NAMES_BYTES = EVENT_BYTES + EVENT_HEAD_BYTES;
