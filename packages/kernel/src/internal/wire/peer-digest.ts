/**
 * Whom a hello expects at the endpoint it is said to, in the two numbers that the header of its record has room for.
 *
 * Owns how RID and generation become these numbers. Leaves the refusal to `internal/link/admission`, and certainty to the
 * dialling side, which sees the whole RID and generation in the admit: two endpoints may have one digest.
 */
import { encodeUtf8 } from '../../message/text.ts';

export interface PeerDigest {
  /** Of the RID; 0: any. */
  readonly rid: number;
  /** Of the generation; 0: any. */
  readonly generation: number;
}

export function peerDigest(rid: string | undefined, generation: bigint | undefined): PeerDigest {
  return {
    rid: rid === undefined ? 0 : fnv1a(encodeUtf8(rid)),
    generation: generation === undefined ? 0 : Number(BigInt.asUintN(32, generation)), // random in all its bits
  };
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

function fnv1a(bytes: Uint8Array): number {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}
