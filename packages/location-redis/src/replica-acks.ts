/**
 * Writes that count only once replicas have them.
 *
 * Owns WAIT. Leaves the write to whoever gives it.
 *
 * 1. WAIT follows its write over the same connection with nothing in between: both are written in one step (REDIS-008).
 * 2. A repeated write that changed nothing waits just as well: WAIT covers all that the server had written by then.
 */
import type { Redis } from 'ioredis';
import { command } from './command.ts';
import { tooFewAcks } from './redis-errors.ts';

export interface ReplicaAcks {
  readonly count: number;
  readonly timeoutMs: number;
}

/**
 * @param needsAcks - whether this answer of the write stands for a change
 * @throws StoreError `unavailable`, `unknown` if too few replicas confirmed
 */
export async function withReplicaAcks<T>(
  node: Redis,
  { count, timeoutMs }: ReplicaAcks,
  write: () => Promise<T>,
  needsAcks: (answer: T) => boolean,
): Promise<T> {
  const writing = write();
  if (count === 0) return writing;
  const waiting = command(node, 'WAIT', [count, timeoutMs]).then(Number, () => 0);
  const answer = await writing;
  if (!needsAcks(answer)) return answer;
  const acked = await waiting;
  if (acked < count) throw tooFewAcks(acked, count);
  return answer;
}
