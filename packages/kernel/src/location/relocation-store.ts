/**
 * The port for payloads of activations and moves: blobs under references that the host makes up.
 *
 * Owns the contract of a Relocation Store. Leaves chunks, digests and the order between both stores to those who
 * store payloads. The suite `relocationStoreSuite` of `@zlink/testing` is the proof that a store keeps it.
 *
 * 1. A reference names one content for ever; it is never used again (RSTORE-001).
 * 2. A live blob is never changed and never deleted by the store (RSTORE-002, RSTORE-005).
 * 3. Repeating a call is safe; errors say what is known (RSTORE-006).
 */

export interface RelocationStoreCapabilities {
  readonly spiVersion: 1;
  readonly scope: 'shared' | 'process';
  /** The largest payload; a host needs 1,048,576 at least. */
  readonly maxBlobBytes: number;
}

export interface BlobPutResult {
  /**
   * `stored`: readable from now on. `alreadyStored`: the same bytes are there, with their old expiry. `conflict`: other
   * bytes are there, unchanged.
   */
  readonly kind: 'stored' | 'alreadyStored' | 'conflict';
  readonly expiresAtMs?: number;
  readonly nowMs: number;
}

export type BlobReadResult =
  | { readonly bytes: Uint8Array; readonly expiresAtMs: number; readonly nowMs: number }
  | { readonly bytes?: undefined; readonly nowMs: number };

export interface BlobRenewResult {
  readonly kind: 'renewed' | 'missing';
  readonly expiresAtMs?: number;
  readonly nowMs: number;
}

/** Every call but `open` and `dispose` rejects with a `StoreError` alone. */
export interface RelocationStore {
  readonly capabilities: RelocationStoreCapabilities;
  open(signal?: AbortSignal): Promise<void>;
  put(ref: string, payload: Uint8Array, retentionMs: number, signal?: AbortSignal): Promise<BlobPutResult>;
  read(ref: string, signal?: AbortSignal): Promise<BlobReadResult>;
  /** Moves the expiry to the later of the old one and now + `retentionMs`. */
  renew(ref: string, retentionMs: number, signal?: AbortSignal): Promise<BlobRenewResult>;
  /** Also succeeds when nothing is there. */
  delete(ref: string, signal?: AbortSignal): Promise<void>;
  dispose(): Promise<void>;
}
