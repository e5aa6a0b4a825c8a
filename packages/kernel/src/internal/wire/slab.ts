/**
 * Memory that outgoing bytes are written into, one batch after another.
 *
 * Owns its sizes, and moving to a larger piece. Leaves positions in it to each batch: they are the hot path, and its own.
 */
const SMALLEST_SLAB_BYTES = 2_048;
/** One that is larger served one large record, and shall not be kept for what comes later. */
export const LARGEST_SLAB_BYTES = 262_144;

export const EMPTY_SLAB = new Uint8Array(0);

/** A slab holds a few batches of the size before: few allocations under load, little memory where nothing happens. */
export function slabBytesAfter(batchBytes: number): number {
  return Math.min(LARGEST_SLAB_BYTES, Math.max(SMALLEST_SLAB_BYTES, batchBytes * 4));
}

/** A new slab that begins with `kept` and has room for so much more, and for `slabBytes` at least. */
export function roomier(kept: Uint8Array, moreBytes: number, slabBytes: number): Uint8Array {
  const wanted = kept.length + moreBytes;
  // Half as much again, also for the largest records: many small pieces are not copied over and over.
  const slab = allocate(Math.max(slabBytes, wanted + (wanted >>> 1)));
  slab.set(kept, 0);
  return slab;
}

/** Not zeroed and not from a shared pool where Node offers it: the memory goes to the engine by reference. */
export function allocate(bytes: number): Uint8Array {
  return typeof Buffer === 'undefined' ? new Uint8Array(bytes) : Buffer.allocUnsafeSlow(bytes);
}
