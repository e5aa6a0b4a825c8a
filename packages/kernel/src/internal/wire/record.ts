/**
 * The record: unit of everything that travels on a link.
 *
 * ```text
 *  0        1        2            4                8             12              16
 * +--------+--------+------------+----------------+-------------+---------------+----------+
 * | kind   | flags  | name id    | correlation    | aux         | payload length| sections |
 * | u8     | u8     | u16        | u32            | u32         | u32           | …        |
 * +--------+--------+------------+----------------+-------------+---------------+----------+
 * sections, each if its flag is set: u16 length + inline name · u16 length + metadata · u16 length + trace
 * then the payload, unless it travels as the next message part (flag external)
 * ```
 * All numbers are little-endian. `aux`: remaining ms of a request, ErrorKind of an error, bytes of a credit, phase of a
 * goodbye, otherwise 0. The whole description with examples is WIRE.md of `@zlink/core-binding`.
 */

export const RecordKind = {
  send: 0x01,
  request: 0x02,
  reply: 0x03,
  error: 0x04,
  hello: 0x10,
  admit: 0x11,
  reject: 0x12,
  update: 0x13,
  goodbye: 0x14,
  name: 0x20,
  credit: 0x21,
  probe: 0x22,
  ack: 0x23,
  cancel: 0x24,
} as const;
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

export const RecordFlag = { inlineName: 0x01, metadata: 0x02, trace: 0x04, external: 0x08 } as const;

/** Replies and error replies: completions of a request. */
export function isAnswer(kind: RecordKind): boolean {
  return kind === RecordKind.reply || kind === RecordKind.error;
}

/** Phases of an orderly end: no new work will come from this side; nothing at all will come from this side. */
export const GoodbyePhase = { finishing: 1, finished: 2 } as const;

const applicationFlags = RecordFlag.inlineName | RecordFlag.metadata | RecordFlag.trace | RecordFlag.external;

/** Flags that a record of each kind may carry; -1: no such kind. */
export const allowedFlags: Int8Array = (() => {
  const flags = new Int8Array(256).fill(-1);
  for (const kind of Object.values(RecordKind)) flags[kind] = 0;
  flags[RecordKind.send] = applicationFlags;
  flags[RecordKind.request] = applicationFlags;
  flags[RecordKind.reply] = RecordFlag.inlineName | RecordFlag.external;
  return flags;
})();
