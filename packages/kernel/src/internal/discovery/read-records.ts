/** The records of any number of keys, as many per read as one answer carries (LOC-011). */
import { isStoreError, maxReadKeys, type StoreRecord } from '../../location/index.ts';
import type { ReadingCalls } from './store-calls.ts';

/**
 * One observation only as long as one read is enough.
 *
 * @returns those that are there, by their keys
 * @throws StoreError
 */
export async function readRecords(
  calls: Pick<ReadingCalls, 'read'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, StoreRecord>> {
  const found = new Map<string, StoreRecord>();
  let atOnce = maxReadKeys;
  for (let at = 0; at < keys.length;) {
    const part = keys.slice(at, at + atOnce);
    try {
      const { records } = await calls.read({ records: part });
      for (const [index, key] of part.entries()) {
        const record = records[index];
        if (record !== undefined) found.set(key, record);
      }
      at += part.length;
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'tooLarge' || part.length === 1) throw error;
      atOnce = Math.ceil(part.length / 2);
    }
  }
  return found;
}
