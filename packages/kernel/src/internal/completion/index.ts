/** Waiting for replies, and until others are ready. */

export { PendingTable } from './pending-table.ts';
export { ReadinessWaiters } from './readiness-waiters.ts';
