/** Relocation Stores that break one sentence of the contract each, and the case that must notice. */
import type { RelocationStore } from '@zlink/kernel/location';
import type { BrokenStore } from './broken-location-stores.ts';
import { alteredBlobs } from './memory-harnesses.ts';

const otherRef = (ref: string): string => (ref.length < 500 ? `${ref}+` : ref);

export const brokenRelocationStores: readonly BrokenStore<RelocationStore>[] = [
  {
    what: 'takes refs of any length',
    caughtBy: '[RSTORE-001] a ref is opaque ASCII of 1..512 bytes',
    alter: (inner) => alteredBlobs(inner, { read: (ref, signal) => inner.read(ref.slice(0, 512) || 'none', signal) }),
  },
  {
    what: 'cuts a payload that is too large',
    caughtBy: '[RSTORE-001] a payload has 0..maxBlobBytes',
    alter: (inner) =>
      alteredBlobs(inner, {
        put: (ref, payload, ...rest) => inner.put(ref, payload.slice(0, inner.capabilities.maxBlobBytes), ...rest),
      }),
  },
  {
    what: 'takes any retention',
    caughtBy: '[RSTORE-001] retention is 1..2,592,000,000 ms',
    alter: (inner) =>
      alteredBlobs(inner, {
        renew: (ref, retentionMs, signal) => inner.renew(ref, Math.min(retentionMs, 2_592_000_000) || 1, signal),
      }),
  },
  {
    what: 'extends the expiry with the same bytes',
    caughtBy: '[RSTORE-002] the same bytes again are alreadyStored',
    alter: (inner) =>
      alteredBlobs(inner, {
        put: async (ref, payload, retentionMs, signal) => {
          const result = await inner.put(ref, payload, retentionMs, signal);
          return result.kind === 'alreadyStored'
            ? { ...result, expiresAtMs: (await inner.renew(ref, retentionMs)).expiresAtMs ?? 0 }
            : result;
        },
      }),
  },
  {
    what: 'takes blobs of one length for the same',
    caughtBy: '[RSTORE-002] other bytes are a conflict',
    alter: (inner) =>
      alteredBlobs(inner, {
        put: async (ref, payload, retentionMs, signal) => {
          const result = await inner.put(ref, payload, retentionMs, signal);
          if (result.kind !== 'conflict') return result;
          const { bytes } = await inner.read(ref);
          return bytes?.length === payload.length ? { ...result, kind: 'alreadyStored' } : result;
        },
      }),
  },
  {
    what: 'overwrites',
    caughtBy: '[RSTORE-002] of 16 stores that race',
    alter: (inner) =>
      alteredBlobs(inner, {
        put: async (ref, payload, retentionMs, signal) => {
          const result = await inner.put(ref, payload, retentionMs, signal);
          if (result.kind !== 'conflict') return result;
          await inner.delete(ref);
          return inner.put(ref, payload, retentionMs, signal);
        },
      }),
  },
  {
    what: 'says stored before others can read it',
    caughtBy: '[RSTORE-002] stored means readable',
    alter: (inner) => {
      const later: (() => Promise<unknown>)[] = [];
      return alteredBlobs(inner, {
        put: async (ref, payload, retentionMs, signal) => {
          const { nowMs } = await inner.read(ref, signal);
          later.push(() => inner.put(ref, payload, retentionMs));
          return { kind: 'stored', nowMs, expiresAtMs: nowMs + retentionMs };
        },
        read: async (ref, signal) => {
          for (const put of later.splice(0)) await put();
          return inner.read(ref, signal);
        },
      });
    },
  },
  {
    what: 'keeps text instead of bytes',
    caughtBy: '[RSTORE-003] read returns the exact bytes',
    alter: (inner) =>
      alteredBlobs(inner, {
        read: async (ref, signal) => {
          const result = await inner.read(ref, signal);
          if (result.bytes === undefined) return result;
          return { ...result, bytes: new TextEncoder().encode(new TextDecoder().decode(result.bytes)) };
        },
      }),
  },
  {
    what: 'shows what has expired for another 2 s',
    caughtBy: '[RSTORE-003] expired is missing, by the clock of the store',
    alter: (inner) =>
      alteredBlobs(inner, {
        put: async (ref, payload, retentionMs, signal) => {
          const result = await inner.put(ref, payload, retentionMs + 2_000, signal);
          return { ...result, expiresAtMs: (result.expiresAtMs ?? 0) - 2_000 };
        },
        read: async (ref, signal) => {
          const result = await inner.read(ref, signal);
          return result.bytes === undefined ? result : { ...result, expiresAtMs: result.expiresAtMs - 2_000 };
        },
      }),
  },
  {
    what: 'shortens a life by renewing it',
    caughtBy: '[RSTORE-004] renew sets the expiry to the later',
    alter: (inner) =>
      alteredBlobs(inner, {
        renew: async (ref, retentionMs, signal) => {
          const { bytes, nowMs } = await inner.read(ref, signal);
          if (bytes === undefined) return { kind: 'missing', nowMs };
          await inner.delete(ref);
          const { expiresAtMs = 0 } = await inner.put(ref, bytes, retentionMs);
          return { kind: 'renewed', expiresAtMs, nowMs };
        },
      }),
  },
  {
    what: 'renews what is missing',
    caughtBy: '[RSTORE-004] missing stays missing',
    alter: (inner) =>
      alteredBlobs(inner, {
        renew: async (ref, retentionMs, signal) => {
          const result = await inner.renew(ref, retentionMs, signal);
          if (result.kind === 'missing') await inner.put(ref, new Uint8Array(0), retentionMs);
          return result;
        },
      }),
  },
  {
    what: 'fails to delete what is not there',
    caughtBy: '[RSTORE-005] delete is idempotent',
    failsWith: 'StoreError',
    alter: (inner) =>
      alteredBlobs(inner, {
        delete: async (ref, signal) => {
          if ((await inner.read(ref, signal)).bytes === undefined) await inner.delete('', signal); // rejects
          await inner.delete(ref, signal);
        },
      }),
  },
  {
    what: 'makes room by deleting the oldest',
    caughtBy: '[RSTORE-005] the store deletes no live blob by itself',
    alter: (inner) => {
      const refs: string[] = [];
      return alteredBlobs(inner, {
        put: async (ref, payload, retentionMs, signal) => {
          refs.push(ref);
          const oldest = refs.length > 100 ? refs.shift() : undefined;
          if (oldest !== undefined) await inner.delete(oldest);
          return inner.put(ref, payload, retentionMs, signal);
        },
      });
    },
  },
  {
    what: 'deletes although the caller has given up beforehand',
    caughtBy: '[RSTORE-006] a call that is aborted beforehand does nothing',
    alter: (inner) =>
      alteredBlobs(inner, {
        delete: async (ref, signal) => {
          await inner.delete(ref);
          await inner.delete(ref, signal);
        },
      }),
  },
  {
    what: 'takes a repeated put for another one',
    caughtBy: '[RSTORE-006] after a lost reply put answers alreadyStored',
    alter: (inner) => {
      const aliases = new Map<string, string>();
      const alias = (ref: string): string => aliases.get(ref) ?? ref;
      return alteredBlobs(inner, {
        put: async (ref, ...rest) => {
          const result = await inner.put(alias(ref), ...rest);
          if (result.kind === 'stored') return result;
          aliases.set(ref, otherRef(alias(ref)));
          return inner.put(alias(ref), ...rest);
        },
      });
    },
  },
  {
    what: 'gives the same bytes to all readers',
    caughtBy: '[RSTORE-006] buffers are not shared',
    alter: (inner) => {
      const shared = new Map<string, Uint8Array>();
      return alteredBlobs(inner, {
        read: async (ref, signal) => {
          const result = await inner.read(ref, signal);
          if (result.bytes === undefined) return result;
          const bytes = shared.get(ref) ?? result.bytes;
          shared.set(ref, bytes);
          return { ...result, bytes };
        },
      });
    },
  },
  {
    what: 'goes on after its end',
    caughtBy: '[RSTORE-006] a store that is disposed refuses every call',
    alter: (inner) => alteredBlobs(inner, { dispose: async () => undefined }),
  },
];
