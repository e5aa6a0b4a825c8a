/** Stores that hosts share: their contracts, the ones in memory, and what the records in them look like. */

export type {
  CommitResult,
  LocationStore,
  LocationStoreCapabilities,
  StoreBatch,
  StoreCondition,
  StoreMutation,
  StoreRead,
  StoreReadResult,
  StoreRecord,
  StoreScan,
  StoreScanResult,
} from './location-store.ts';
export {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type MemoryStoreBackend,
  type MemoryStoreBackendOptions,
} from './memory-stores.ts';
export {
  type MeshDescriptor,
  meshDescriptor,
  type PublisherDescriptor,
  publisherDescriptor,
  type ServerDescriptor,
  serverDescriptor,
} from './records/descriptor-records.ts';
export { leaseGenerationOf, leaseRecord } from './records/lease-record.ts';
export type { JsonFields, RecordCodec } from './records/record-fields.ts';
export { descriptorKey, descriptorPrefix, leaseKey, stampKey, storeKey, type Topology } from './records/record-keys.ts';
export type {
  BlobPutResult,
  BlobReadResult,
  BlobRenewResult,
  RelocationStore,
  RelocationStoreCapabilities,
} from './relocation-store.ts';
export {
  checkBatch,
  checkNotAborted,
  checkPayload,
  checkRead,
  checkReadBytes,
  checkRef,
  checkRetention,
  checkScan,
} from './store-arguments.ts';
export { checkLocationCapabilities, checkRelocationCapabilities } from './store-capabilities.ts';
export { isStoreError, StoreError, type StoreErrorCode, type StoreErrorOutcome } from './store-error.ts';
export {
  commitKeyOverheadBytes,
  maxCommitBytes,
  maxCommitKeys,
  maxKeyBytes,
  maxReadBytes,
  maxReadKeys,
  maxRefBytes,
  maxScanLimit,
  maxTtlMs,
  maxValueBytes,
  maxVersion,
  operationMemoryMs,
} from './store-limits.ts';
