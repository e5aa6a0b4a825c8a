/**
 * A peer that writes its records by hand, and what is expected of a link that it talks to.
 *
 * Owns records that no link of ours would send, and the checks that tests of the link protocol share.
 */
import { ManualClock } from '@zlink/testing';
import { BatchBuffer } from '../../../src/internal/wire/batch-buffer.ts';
import type { NameTable } from '../../../src/internal/wire/record-reader.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { decodeMessage, type PlainRecord } from '../wire/message-codec.ts';
import { joinLinks, type JoinOptions, leftovers, type LinkPair, pass, settle } from './link-side.ts';

export const shapes = [
  { title: 'ClientServer', completionLane: false },
  { title: 'RouteMesh', completionLane: true },
] as const;

export const join = (options: Partial<JoinOptions> = {}): LinkPair =>
  joinLinks(new ManualClock(), { completionLane: false, ...options });

export interface RawRecord {
  readonly kind: RecordKind;
  readonly nameId?: number;
  readonly correlation?: number;
  readonly aux?: number;
  readonly payload?: Uint8Array;
}

/** What a peer would send that does not keep the rules. */
export function say({ near }: LinkPair, ...records: readonly RawRecord[]): void {
  const buffer = new BatchBuffer();
  for (const { kind, nameId = 0, correlation = 0, aux = 0, payload } of records) {
    buffer.begin(kind, nameId, correlation, aux);
    if (payload !== undefined) buffer.writeInline(payload);
    buffer.commit();
  }
  const parts: Uint8Array[] = [];
  buffer.take(parts);
  near.pipe.send(parts);
}

export function recordsIn(messages: readonly Uint8Array[][]): PlainRecord[] {
  const names: NameTable = [];
  return messages.flatMap((parts) => {
    const batches = decodeMessage(parts, names);
    if (typeof batches === 'string') throw new Error(batches);
    return batches.flat();
  });
}

const nameBody = Buffer.from('\0\x03a/bpacket', 'latin1');
export const introduction: RawRecord = { kind: RecordKind.name, nameId: 1, payload: nameBody };

/** A single record without payload, as it arrives. */
export function message(kind: RecordKind, correlation: number, aux: number): Uint8Array {
  const buffer = new BatchBuffer();
  buffer.begin(kind, 0, correlation, aux);
  buffer.commit();
  const parts: Uint8Array[] = [];
  buffer.take(parts);
  return parts[0] as Uint8Array; // one record makes one part
}

export const creditMessage = (bytes: number, windowBytes: number): Uint8Array =>
  message(RecordKind.credit, windowBytes, bytes);

/** Ends the pair in order and looks for what is left. */
export async function finish(pair: LinkPair): Promise<void> {
  pair.near.letGo();
  pair.far.letGo();
  pair.near.link.finish();
  await pass(pair, 100);
  expect(leftovers(pair)).toEqual([]);
}

export async function expectViolation(pair: LinkPair, fault: string | RegExp): Promise<void> {
  await settle(pair);
  expect(pair.far.closed).toHaveLength(1);
  expect(pair.far.closed[0]).toMatch(fault);
  expect(pair.far.closed[0]).toMatch(/^protocol error: /);
  expect(pair.far.violations.map((violation) => `protocol error: ${violation}`)).toEqual(pair.far.closed); // recorded once
  expect(pair.near.closed[0]).toMatch(/^peer: protocol error: /); // the other side is told why
  expect(pair.far.faults).toEqual([]);
  pair.far.letGo();
  expect(leftovers(pair)).toEqual([]);
}
