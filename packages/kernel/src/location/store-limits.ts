/**
 * The numbers of both store contracts.
 *
 * Owns the numbers. Leaves their enforcement to store-arguments.ts, and of what only the store can count to the store.
 */

const mebibyte = 1_048_576;

/** Of a record or a counter, in UTF-8 (LOC-010). */
export const maxKeyBytes = 1_536;
export const maxValueBytes = mebibyte;
/** Of a record, and of a blob's retention: 30 days (LOC-010, RSTORE-001). */
export const maxTtlMs = 2_592_000_000;

/** Records and counters of one read (LOC-011). */
export const maxReadKeys = 1_024;
/** Values of one read (LOC-011) or one page of a scan (LOC-017). */
export const maxReadBytes = 4 * mebibyte;

/** Different keys of one commit (LOC-015). */
export const maxCommitKeys = 2_048;
/** Keys, values and `commitKeyOverheadBytes` for each different key of one commit (LOC-015). */
export const maxCommitBytes = 4 * mebibyte;
export const commitKeyOverheadBytes = 64;

/** Records of one page of a scan (LOC-017). */
export const maxScanLimit = 1_000;

/** How long an applied operation id is remembered at least (LOC-016). */
export const operationMemoryMs = 120_000;

/** The largest version (LOC-014). */
export const maxVersion = 2n ** 63n - 1n;

/** Of a reference to a blob, in ASCII (RSTORE-001). */
export const maxRefBytes = 512;
/** The smallest `maxBlobBytes` that a host accepts (LOC-020). */
export const minBlobLimitBytes = mebibyte;
