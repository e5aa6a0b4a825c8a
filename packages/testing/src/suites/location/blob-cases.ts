/** What a Relocation Store does with blobs (RSTORE-001..006). */
import assert from 'node:assert/strict';
import { assertPresence, type BlobCase, newRef, payloadOf } from './blob-rig.ts';
import { assertBytes, bytesOf } from './location-rig.ts';
import { failureOf, refuses } from './store-refusals.ts';

const mostMs = 2_592_000_000;
const aborted = AbortSignal.abort();

const badRefs: readonly string[] = ['', 'r'.repeat(513), 'é', 'a\u0080', '\u{1f511}'];
const badRetentions: readonly number[] = [0, -1, 1.5, NaN, Infinity, mostMs + 1];

export const blobCases: readonly BlobCase[] = [
  {
    title: '[RSTORE-001] a ref is opaque ASCII of 1..512 bytes',
    act: async (rig) => {
      for (const ref of ['r', 'R', 'r'.repeat(512), '{a}:*?[b]/~%"\\|', 'a b\n\0', '__proto__']) {
        await rig.stored(ref, bytesOf(`of ${ref}`));
        assertBytes(await rig.bytes(ref), bytesOf(`of ${ref}`));
      }
      for (const ref of badRefs) {
        await refuses('invalidArgument', () => rig.store.put(ref, bytesOf('x'), 1_000), `put "${ref}"`);
        await refuses('invalidArgument', () => rig.store.read(ref), `read "${ref}"`);
        await refuses('invalidArgument', () => rig.store.renew(ref, 1_000), `renew "${ref}"`);
        await refuses('invalidArgument', () => rig.store.delete(ref), `delete "${ref}"`);
      }
    },
  },
  {
    title: '[RSTORE-001] a payload has 0..maxBlobBytes',
    act: async (rig) => {
      const { maxBlobBytes } = rig.store.capabilities;
      assert(maxBlobBytes >= 1_048_576);
      for (const byteCount of [0, 1, maxBlobBytes]) {
        const ref = newRef();
        await rig.stored(ref, payloadOf(byteCount));
        assertBytes(await rig.bytes(ref), payloadOf(byteCount));
      }
      const ref = newRef();
      await refuses('invalidArgument', () => rig.store.put(ref, new Uint8Array(maxBlobBytes + 1), 1_000));
      const text = 'text' as unknown as Uint8Array; // plain JavaScript may do so
      await refuses('invalidArgument', () => rig.store.put(ref, text, 1_000));
      assert.equal(await rig.bytes(ref), undefined);
    },
  },
  {
    title: '[RSTORE-001] retention is 1..2,592,000,000 ms',
    act: async (rig) => {
      const ref = newRef();
      await rig.stored(newRef(), bytesOf('x'), 1);
      await rig.stored(ref, bytesOf('x'), mostMs);
      for (const retentionMs of badRetentions) {
        const put = newRef();
        await refuses('invalidArgument', () => rig.store.put(put, bytesOf('x'), retentionMs), `put ${retentionMs}`);
        await refuses('invalidArgument', () => rig.store.renew(ref, retentionMs), `renew ${retentionMs}`);
        assert.equal(await rig.bytes(put), undefined);
      }
    },
  },
  {
    title: '[RSTORE-002] stored means readable, by every store',
    act: async (rig) => {
      const others = await rig.others(2);
      for (let time = 0; time < 10; time++) {
        const ref = newRef();
        const expiresAtMs = await rig.stored(ref, payloadOf(1_000, time));
        for (const other of others) {
          const result = await other.read(ref);
          assertBytes(result.bytes, payloadOf(1_000, time));
          assertPresence(result, expiresAtMs);
        }
      }
    },
  },
  {
    title: '[RSTORE-002] the same bytes again are alreadyStored and keep their expiry',
    act: async (rig) => {
      const other = await rig.another();
      for (const byteCount of [0, 1, 100_000]) {
        const ref = newRef();
        const expiresAtMs = await rig.stored(ref, payloadOf(byteCount));
        for (const retentionMs of [1, 600_000, mostMs]) {
          const again = await other.put(ref, payloadOf(byteCount), retentionMs);
          assert.deepEqual([again.kind, again.expiresAtMs], ['alreadyStored', expiresAtMs]);
        }
        assertPresence(await rig.store.read(ref), expiresAtMs);
      }
    },
  },
  {
    title: '[RSTORE-002] other bytes are a conflict and change nothing',
    act: async (rig) => {
      const ref = newRef();
      const payload = payloadOf(10_000);
      const expiresAtMs = await rig.stored(ref, payload);
      const flipped = payload.slice();
      flipped[9_999] = (flipped[9_999] ?? 0) ^ 1;
      for (const other of [flipped, payload.slice(1), payload.slice(0, -1), new Uint8Array(0), payloadOf(10_001)])
        assert.equal((await rig.store.put(ref, other, mostMs)).kind, 'conflict');
      const result = await rig.store.read(ref);
      assertBytes(result.bytes, payload);
      assertPresence(result, expiresAtMs);
    },
  },
  {
    title: '[RSTORE-002] of 16 stores that race with different bytes one stores, and all see its bytes',
    act: async (rig) => {
      const stores = await rig.others(16);
      const ref = newRef();
      const results = await Promise.all(stores.map((store, seed) => store.put(ref, payloadOf(5_000, seed), 600_000)));
      const winners = results.flatMap(({ kind }, seed) => (kind === 'stored' ? [seed] : []));
      assert.equal(winners.length, 1, `${winners.length} stored`);
      assert.equal(results.filter(({ kind }) => kind === 'conflict').length, 15);
      for (const store of stores) assertBytes((await store.read(ref)).bytes, payloadOf(5_000, winners[0]));
    },
  },
  {
    title: '[RSTORE-002] where a blob has expired or was deleted nothing live is in the way',
    act: async (rig) => {
      const expired = newRef();
      const deleted = newRef();
      const expiresAtMs = await rig.stored(expired, bytesOf('old'), rig.shortMs);
      await rig.stored(deleted, bytesOf('old'));
      await rig.store.delete(deleted);
      await rig.passUntil(expiresAtMs);
      for (const ref of [expired, deleted]) {
        await rig.stored(ref, bytesOf('new'));
        assertBytes(await rig.bytes(ref), bytesOf('new'));
      }
    },
  },
  {
    title: '[RSTORE-003] read returns the exact bytes, or missing for what was never there',
    act: async (rig) => {
      const refs = [3, 256, 65_537, 1_048_576].map((byteCount) => ({ ref: newRef(), payload: payloadOf(byteCount) }));
      for (const { ref, payload } of refs) await rig.stored(ref, payload);
      for (const { ref, payload } of refs) assertBytes(await rig.bytes(ref), payload);
      const missing = await rig.store.read(newRef());
      assert.equal(missing.bytes, undefined);
      assert(Number.isSafeInteger(missing.nowMs));
    },
  },
  {
    title:
      '[RSTORE-003] expired is missing, by the clock of the store: present exactly while nowMs is below the expiry',
    act: async (rig) => {
      const other = await rig.another();
      const ref = newRef();
      const expiresAtMs = await rig.stored(ref, bytesOf('x'), rig.seenMs);
      let sightings = 0;
      await rig.passUntil(expiresAtMs, async () => {
        for (const store of [rig.store, other]) {
          const seen = await store.read(ref);
          assertPresence(seen, expiresAtMs);
          if (seen.bytes !== undefined) sightings += 1;
        }
      });
      assert(sightings > 0, 'the blob was never there');
      assert.equal(await rig.bytes(ref), undefined);
    },
  },
  {
    title: '[RSTORE-004] renew sets the expiry to the later of the old one and now + retention',
    act: async (rig) => {
      const ref = newRef();
      const first = await rig.stored(ref, payloadOf(100), 600_000);
      const shorter = await rig.store.renew(ref, 1_000);
      assert.deepEqual([shorter.kind, shorter.expiresAtMs], ['renewed', first]);
      const longer = await rig.store.renew(ref, 900_000);
      assert.deepEqual([longer.kind, longer.expiresAtMs], ['renewed', longer.nowMs + 900_000]);
      const result = await rig.store.read(ref);
      assertBytes(result.bytes, payloadOf(100));
      assertPresence(result, longer.nowMs + 900_000);
    },
  },
  {
    title: '[RSTORE-004] a renewed blob outlives its first expiry and ends at the new one',
    act: async (rig) => {
      const ref = newRef();
      const firstMs = await rig.stored(ref, payloadOf(100), rig.seenMs);
      const { expiresAtMs } = await rig.store.renew(ref, rig.seenMs + rig.shortMs);
      assert(expiresAtMs !== undefined && expiresAtMs > firstMs);
      await rig.passUntil(firstMs);
      assertPresence(await rig.store.read(ref), expiresAtMs);
      await rig.passUntil(expiresAtMs);
      assert.equal(await rig.bytes(ref), undefined);
    },
  },
  {
    title: '[RSTORE-004] missing stays missing: never put, deleted, expired',
    act: async (rig) => {
      const expired = newRef();
      const deleted = newRef();
      const expiresAtMs = await rig.stored(expired, bytesOf('x'), rig.shortMs);
      await rig.stored(deleted, bytesOf('x'));
      await rig.store.delete(deleted);
      await rig.passUntil(expiresAtMs);
      for (const ref of [newRef(), deleted, expired]) {
        assert.equal((await rig.store.renew(ref, mostMs)).kind, 'missing');
        assert.equal(await rig.bytes(ref), undefined);
        await rig.stored(ref, bytesOf('new')); // nothing had been left behind
      }
    },
  },
  {
    title: '[RSTORE-005] delete is idempotent and takes one blob only',
    act: async (rig) => {
      const other = await rig.another();
      const ref = newRef();
      const kept = newRef();
      await rig.stored(ref, bytesOf('x'));
      await rig.stored(kept, bytesOf('kept'));
      await rig.store.delete(ref);
      await other.delete(ref);
      await rig.store.delete(newRef());
      assert.deepEqual([await rig.bytes(ref), (await other.read(ref)).bytes], [undefined, undefined]);
      assertBytes(await rig.bytes(kept), bytesOf('kept'));
    },
  },
  {
    title: '[RSTORE-005] the store deletes no live blob by itself, however many follow',
    act: async (rig) => {
      const refs = Array.from({ length: 300 }, newRef);
      for (const [seed, ref] of refs.entries()) await rig.stored(ref, payloadOf(10_000, seed));
      for (const [seed, ref] of refs.entries()) assertBytes(await rig.bytes(ref), payloadOf(10_000, seed));
    },
  },
  {
    title: '[RSTORE-005] the store deletes no blob before its expiry, however much time passes',
    needs: 'advance',
    act: async (rig) => {
      const ref = newRef();
      const expiresAtMs = await rig.stored(ref, bytesOf('x'), mostMs);
      for (let day = 1; day <= 30; day++) {
        assertPresence(await rig.store.read(ref), expiresAtMs);
        await rig.stored(newRef(), payloadOf(1_000), 1_000);
        await rig.harness.advance?.(mostMs / 30);
      }
      assert.equal(await rig.bytes(ref), undefined);
    },
  },
  {
    title: '[RSTORE-006] a call that is aborted beforehand does nothing',
    act: async (rig) => {
      const closed = await rig.closed();
      const ref = newRef();
      const kept = newRef();
      const expiresAtMs = await rig.stored(kept, bytesOf('x'));
      await refuses('timeout', () => closed.open(aborted));
      await refuses('timeout', () => rig.store.put(ref, bytesOf('x'), 1_000, aborted));
      await refuses('timeout', () => rig.store.read(kept, aborted));
      await refuses('timeout', () => rig.store.renew(kept, mostMs, aborted));
      await refuses('timeout', () => rig.store.delete(kept, aborted));
      assert.equal(await rig.bytes(ref), undefined);
      assertPresence(await rig.store.read(kept), expiresAtMs);
      assertBytes(await rig.bytes(kept), bytesOf('x'));
    },
  },
  {
    title: '[RSTORE-006] a put that is aborted later is settled by the same put',
    act: async (rig) => {
      for (let time = 0; time < 10; time++) {
        const ref = newRef();
        const abort = new AbortController();
        const call = rig.store.put(ref, payloadOf(1_000, time), 600_000, abort.signal);
        if (time % 2 === 1) await Promise.resolve();
        abort.abort();
        const error = await failureOf(call);
        const again = await rig.store.put(ref, payloadOf(1_000, time), 600_000);
        if (error === undefined) assert.equal(again.kind, 'alreadyStored');
        else if (error.outcome === 'notApplied') assert.equal(again.kind, 'stored');
        else assert(again.kind !== 'conflict');
        assertBytes(await rig.bytes(ref), payloadOf(1_000, time));
      }
    },
  },
  {
    title: '[RSTORE-006] after a lost reply put answers alreadyStored, renew and delete do what they did',
    needs: 'loseNextReply',
    act: async (rig) => {
      const lost = async (call: () => Promise<unknown>): Promise<void> => {
        await rig.harness.loseNextReply?.(rig.store);
        const error = await failureOf(call());
        assert.equal(error?.outcome, 'unknown');
      };
      const ref = newRef();
      await lost(() => rig.store.put(ref, bytesOf('x'), 600_000));
      assert.equal((await rig.store.put(ref, bytesOf('x'), 600_000)).kind, 'alreadyStored');
      await lost(() => rig.store.renew(ref, 900_000));
      const { kind, expiresAtMs = 0, nowMs } = await rig.store.renew(ref, 1);
      assert.equal(kind, 'renewed');
      assert(expiresAtMs - nowMs > 600_000, 'the renewal whose reply was lost had not happened');
      assertPresence(await rig.store.read(ref), expiresAtMs);
      await lost(() => rig.store.delete(ref));
      await rig.store.delete(ref);
      assert.equal(await rig.bytes(ref), undefined);
    },
  },
  {
    title: '[RSTORE-006] buffers are not shared: neither inputs nor results',
    act: async (rig) => {
      for (const payload of [bytesOf('text'), Buffer.from('text')]) {
        const ref = newRef();
        await rig.stored(ref, payload);
        assertBytes(payload, bytesOf('text'));
        payload.fill(0x21);
        const first = await rig.bytes(ref);
        const second = await rig.bytes(ref);
        assertBytes(first, bytesOf('text'));
        first?.fill(0x3f);
        assertBytes(second, bytesOf('text'));
        assertBytes(await rig.bytes(ref), bytesOf('text'));
      }
    },
  },
  {
    title: '[RSTORE-006] a store that is disposed refuses every call as unavailable; the others and the data go on',
    act: async (rig) => {
      const other = await rig.another();
      const ref = newRef();
      await rig.stored(ref, bytesOf('x'));
      await other.dispose();
      await refuses('unavailable', () => other.put(newRef(), bytesOf('x'), 1_000));
      await refuses('unavailable', () => other.read(ref));
      await refuses('unavailable', () => other.renew(ref, 1_000));
      await refuses('unavailable', () => other.delete(ref));
      assertBytes(await rig.bytes(ref), bytesOf('x'));
    },
  },
];
