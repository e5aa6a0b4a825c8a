/** Filling a link's window, with a bound: an implementation without one fails a case instead of eating the memory. */
import assert from 'node:assert/strict';
import type { Link } from '@zlink/kernel/internal/transport';
import type { RigHost } from './rig-host.ts';
import type { RigRecord } from './rig-record.ts';

export const KIB = 1_024;

/** More records than fit into any window of the suite. */
const MANY = 5_000;

/** Submits records, sends of 1 KiB by default, until `count` wait for credit. */
export function fillUntilWaiting(
  host: RigHost,
  link: Link,
  count: number,
  make: (at: number) => RigRecord = (at) => host.send({ payload: `${at}`.padEnd(KIB, '.') }),
): RigRecord[] {
  const records: RigRecord[] = [];
  while (link.waitingRecords < count) {
    assert.ok(records.length < MANY, `${MANY} records were submitted and fewer than ${count} wait`);
    const record = make(records.length);
    records.push(record);
    record.submit(link);
  }
  return records;
}
