import {
  checkBatch,
  checkNotAborted,
  checkPayload,
  checkRead,
  checkReadBytes,
  checkRef,
  checkRetention,
  checkScan,
  isStoreError,
  type StoreBatch,
  StoreError,
  type StoreMutation,
} from '../../src/location/index.ts';

/** Code, outcome and text of what `check` throws; undefined if it throws nothing. */
function refusal(check: () => void): readonly string[] | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return [error.code, error.outcome, error.message];
  }
}

const invalid = (text: string): readonly string[] => ['invalidArgument', 'notApplied', text];
const put = (key: string, bytes = 0): StoreMutation => ({ kind: 'put', key, value: new Uint8Array(bytes) });
const batch = (mutations: readonly StoreMutation[]): StoreBatch => ({
  operationId: '0123456789abcdef'.repeat(2),
  conditions: [],
  mutations,
});

test('[LOC-010] a refusal says what is wrong and shows no key', () => {
  expect(refusal(() => checkRead({ records: ['secret\ud800'] }))).toEqual(
    invalid('key of a record is not 1..1536 bytes of UTF-8'),
  );
  expect(refusal(() => checkRead({ counters: ['x'.repeat(1_537)] }))).toEqual(
    invalid('key of a counter is not 1..1536 bytes of UTF-8'),
  );
  expect(refusal(() => checkBatch(batch([put('k', 1_048_577)])))).toEqual(
    invalid('value of a record has 1048577 bytes, allowed: 1048576'),
  );
  expect(refusal(() => checkBatch(batch([{ kind: 'touch', key: 'k', ttlMs: 0 }])))).toEqual(
    invalid('ttlMs: 0 is not allowed, allowed: 1..2592000000'),
  );
  expect(refusal(() => checkBatch(batch([{ kind: 'add', counter: 'n', delta: 0.5 }])))).toEqual(
    invalid('delta of a counter: 0.5 is not allowed, allowed: an integer up to 2^53-1 either way'),
  );
});

test('[LOC-010] what plain JavaScript can get wrong is refused like a wrong range', () => {
  const wrong = <T>(value: unknown): T => value as T; // what types would have kept out
  expect(refusal(() => checkRead(wrong({ records: 'k' })))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkRead(wrong({ counters: {} })))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkRead({ records: [wrong(1)] }))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkBatch(wrong({ ...batch([put('k')]), conditions: undefined })))?.[0]).toBe(
    'invalidArgument',
  );
  expect(refusal(() => checkBatch({ ...batch([put('k')]), operationId: wrong(1) }))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkScan({ prefix: '', limit: 1, keysOnly: wrong('no') }))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkScan({ prefix: wrong(1), limit: 1 }))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkRef(wrong(1)))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkRetention(wrong('1')))?.[0]).toBe('invalidArgument');
  expect(refusal(() => checkPayload(wrong('x'), 10))?.[0]).toBe('invalidArgument');
});

test('[LOC-011] too much for one read is tooLarge, before and after it was found', () => {
  const keys = Array.from({ length: 1_025 }, (_, index) => `k${index}`);
  expect(refusal(() => checkRead({ records: keys.slice(1) }))).toBeUndefined();
  expect(refusal(() => checkRead({ records: keys }))).toEqual([
    'tooLarge',
    'notApplied',
    'a read of 1025 keys is larger than 1024',
  ]);
  expect(refusal(() => checkReadBytes(4_194_304))).toBeUndefined();
  expect(refusal(() => checkReadBytes(4_194_305))).toEqual([
    'tooLarge',
    'notApplied',
    'a read of 4194305 bytes is larger than 4194304',
  ]);
});

test('[LOC-015] keys count once, records and counters apart, and values with the keys', () => {
  const puts = Array.from({ length: 2_048 }, (_, index) => put(`k${index}`));
  expect(refusal(() => checkBatch(batch(puts)))).toBeUndefined();
  const conditions = puts.map(
    (mutation) => ({ kind: 'absent', key: mutation.kind === 'put' ? mutation.key : '' }) as const,
  );
  expect(refusal(() => checkBatch({ ...batch(puts), conditions }))).toBeUndefined();
  expect(refusal(() => checkBatch({ ...batch([{ kind: 'add', counter: 'k0', delta: 1 }]), conditions }))).toEqual(
    invalid('a commit of 2049 different keys, allowed: 2048'),
  );
  const large = ['a', 'b', 'c', '€'].map((key) => put(key, 1_048_576 - 65));
  expect(refusal(() => checkBatch(batch(large)))).toEqual(invalid('a commit of 4194306 bytes, allowed: 4194304'));
  expect(refusal(() => checkBatch(batch([...large.slice(0, 3), put('€', 1_048_576 - 67)])))).toBeUndefined();
});

test('[LOC-017] a scan may have no prefix', () => {
  expect(refusal(() => checkScan({ prefix: '', limit: 1_000, keysOnly: true, after: 'k' }))).toBeUndefined();
  expect(refusal(() => checkScan({ prefix: '', limit: 0 }))).toEqual(
    invalid('limit of a scan: 0 is not allowed, allowed: 1..1000'),
  );
});

test('[LOC-018] a call whose signal is aborted is refused with the reason as cause', () => {
  expect(refusal(() => checkNotAborted(undefined))).toBeUndefined();
  expect(refusal(() => checkNotAborted(new AbortController().signal))).toBeUndefined();
  const reason = new Error('enough');
  expect(refusal(() => checkNotAborted(AbortSignal.abort(reason)))).toEqual([
    'timeout',
    'notApplied',
    'aborted before the call',
  ]);
  expect(() => checkNotAborted(AbortSignal.abort(reason))).toThrow(
    new StoreError('timeout', 'notApplied', 'aborted before the call', { cause: reason }),
  );
});

test('[LOC-018] a StoreError is known by its brand, in every copy of the package', () => {
  const cause = new Error('driver');
  const error = new StoreError('unavailable', 'unknown', 'connection lost', { cause });
  expect([error.name, error.message, error.code, error.outcome, error.cause]).toEqual([
    'StoreError',
    'connection lost',
    'unavailable',
    'unknown',
    cause,
  ]);
  expect(Object.keys(error)).toEqual(['code', 'outcome']);
  expect('cause' in new StoreError('timeout', 'unknown', 'no reply')).toBe(false);
  expect(isStoreError(error)).toBe(true);
  expect(isStoreError({ [Symbol.for('zlink.StoreError')]: true })).toBe(true);
  for (const other of [undefined, null, 'StoreError', new Error('StoreError'), {}])
    expect(isStoreError(other)).toBe(false);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(isStoreError(proxy)).toBe(false);
});

test('[RSTORE-001] refs, payloads and retention have their own limits', () => {
  expect(refusal(() => checkRef('r'.repeat(512)))).toBeUndefined();
  expect(refusal(() => checkRef('r'.repeat(513)))).toEqual(invalid('ref of a blob is not 1..512 ASCII characters'));
  expect(refusal(() => checkPayload(new Uint8Array(10), 10))).toBeUndefined();
  expect(refusal(() => checkPayload(new Uint8Array(11), 10))).toEqual(
    invalid('payload of a blob has 11 bytes, allowed: 10'),
  );
  expect(refusal(() => checkRetention(2_592_000_000))).toBeUndefined();
  expect(refusal(() => checkRetention(2_592_000_001))?.[0]).toBe('invalidArgument');
});
