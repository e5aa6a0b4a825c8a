/**
 * Blobs of one memory backend.
 *
 * Owns the data. Leaves arguments and signals to the stores in front of it, and the time to whoever calls.
 *
 * 1. The bytes of a live blob never change (RSTORE-002).
 * 2. Bytes are copied on the way in and on the way out (RSTORE-006).
 */
import { areSameBytes } from '../internal/wire/same-bytes.ts';
import type { BlobPutResult, BlobReadResult, BlobRenewResult } from './relocation-store.ts';

/** Between two sweeps of what has expired. */
const sweepIntervalMs = 60_000;

interface KeptBlob {
  readonly bytes: Uint8Array;
  readonly expiresAtMs: number;
}

export class MemoryBlobs {
  readonly #blobs = new Map<string, KeptBlob>();
  #sweptAtMs = 0;

  put(ref: string, payload: Uint8Array, retentionMs: number, nowMs: number): BlobPutResult {
    this.#sweep(nowMs);
    const live = this.#live(ref, nowMs);
    if (live !== undefined) {
      if (!areSameBytes(live.bytes, payload)) return { kind: 'conflict', nowMs };
      return { kind: 'alreadyStored', expiresAtMs: live.expiresAtMs, nowMs };
    }
    const expiresAtMs = nowMs + retentionMs;
    this.#blobs.set(ref, { bytes: new Uint8Array(payload), expiresAtMs });
    return { kind: 'stored', expiresAtMs, nowMs };
  }

  read(ref: string, nowMs: number): BlobReadResult {
    const live = this.#live(ref, nowMs);
    if (live === undefined) return { nowMs };
    return { bytes: live.bytes.slice(), expiresAtMs: live.expiresAtMs, nowMs };
  }

  renew(ref: string, retentionMs: number, nowMs: number): BlobRenewResult {
    const live = this.#live(ref, nowMs);
    if (live === undefined) return { kind: 'missing', nowMs };
    const expiresAtMs = Math.max(live.expiresAtMs, nowMs + retentionMs);
    this.#blobs.set(ref, { bytes: live.bytes, expiresAtMs });
    return { kind: 'renewed', expiresAtMs, nowMs };
  }

  delete(ref: string): void {
    this.#blobs.delete(ref);
  }

  #live(ref: string, nowMs: number): KeptBlob | undefined {
    const blob = this.#blobs.get(ref);
    return blob === undefined || blob.expiresAtMs <= nowMs ? undefined : blob;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < sweepIntervalMs) return;
    this.#sweptAtMs = nowMs;
    for (const [ref, { expiresAtMs }] of this.#blobs) if (expiresAtMs <= nowMs) this.#blobs.delete(ref);
  }
}
