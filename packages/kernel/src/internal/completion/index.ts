/** Waiting for replies. */

export { type CorrelationRange, type PendingEntry, PendingTable } from './pending-table.ts';
