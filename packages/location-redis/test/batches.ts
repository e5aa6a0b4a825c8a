/** Batches and outcomes in few words. */
import type { CommitResult, StoreBatch, StoreCondition, StoreMutation } from '@zlink/kernel/location';
import { isStoreError } from '@zlink/kernel/location';

export function batch(mutations: readonly StoreMutation[], conditions: readonly StoreCondition[] = []): StoreBatch {
  return { operationId: crypto.randomUUID().replaceAll('-', ''), conditions, mutations };
}

export function put(key: string, text = 'x', ttlMs?: number): StoreMutation {
  return { kind: 'put', key, value: Buffer.from(text), ...(ttlMs === undefined ? {} : { ttlMs }) };
}

export function versionOf(result: CommitResult): bigint {
  if (result.kind !== 'applied') throw new Error(`the commit ended as ${result.kind}`);
  return result.version;
}

/** `code/outcome` of a call that fails; `done` otherwise. */
export async function endOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return `${error.code}/${error.outcome}`;
  }
}
