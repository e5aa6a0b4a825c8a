import fc from 'fast-check';
import {
  decodeDescriptor,
  decodeHello,
  decodeRejection,
  type Descriptor,
  DESCRIPTOR_BYTES,
  DescriptorState,
  encodeDescriptor,
  encodeHello,
  encodeRejection,
  EndpointKind,
  type Hello,
  ObjectRole,
  ownHello,
  RejectReason,
} from '../../../src/internal/wire/hello.ts';
import { HELLO_BYTES, WIRE_MAJOR, WIRE_MINOR } from '../../../src/internal/wire/limits.ts';
import { decodeMessage } from './message-codec.ts';
import { vectors } from './vectors.ts';

const descriptor: Descriptor = {
  revision: 4n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.server,
  channels: [
    { name: 'lobby', weight: 0 },
    { name: 'küche', weight: 10_000 },
  ],
};
const hello = ownHello({
  kind: EndpointKind.meshNode,
  generation: 1n,
  windowBytes: 65_536,
  maxMessageBytes: 1_000,
  rid: 'a',
  scope: 'world',
  endpoint: 'tcp://10.0.0.1:7200',
  publicKey: '',
  descriptor,
});
const proof = Uint8Array.of(1, 2, 3);
const encoded = encodeHello(hello, () => proof);

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((value) => !value.includes('\0'));
const text8 = fc.string({ unit: 'grapheme', maxLength: 30 });
const anyDescriptor: fc.Arbitrary<Descriptor> = fc.record({
  revision: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  state: fc.constantFrom(...Object.values(DescriptorState)),
  objectRole: fc.constantFrom(...Object.values(ObjectRole)),
  channels: fc.uniqueArray(fc.record({ name, weight: fc.integer({ min: 0, max: 10_000 }) }), {
    selector: (channel) => channel.name,
    maxLength: 60,
    size: 'max',
  }),
});
const anyHello: fc.Arbitrary<Hello> = fc.record({
  major: fc.constant(WIRE_MAJOR),
  minor: fc.integer({ min: 0, max: 255 }),
  kind: fc.constantFrom(...Object.values(EndpointKind)),
  capabilities: fc.integer({ min: 0, max: 0xffff_ffff }),
  generation: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
  windowBytes: fc.integer({ min: 0, max: 0xffff_ffff }),
  maxMessageBytes: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  rid: name,
  scope: text8,
  endpoint: text8,
  publicKey: text8,
  descriptor: anyDescriptor,
});

test('[WIRE-001] whatever a hello says arrives, with what its proof covers', () => {
  fc.assert(
    fc.property(anyHello, fc.uint8Array({ maxLength: 255 }), (said, itsProof) => {
      let signed: Uint8Array = new Uint8Array(0);
      const bytes = encodeHello(said, (message) => {
        signed = Uint8Array.from(message);
        return itsProof;
      });
      const heard = decodeHello(bytes);
      if (heard.kind !== 'hello') throw new Error(heard.kind);
      expect(heard.hello).toEqual(said);
      expect(heard.signed).toEqual(signed);
      expect(heard.proof).toEqual(itsProof);
    }),
  );
});

test('[WIRE-001] a hello without a signer has an empty proof', () => {
  expect(decodeHello(encodeHello(hello))).toMatchObject({ kind: 'hello', proof: new Uint8Array(0) });
});

test('[WIRE-001] a changed descriptor leaves what is signed as it is, a changed identity does not', () => {
  const signedOf = (said: Hello): Uint8Array => {
    const heard = decodeHello(encodeHello(said, () => proof));
    return heard.kind === 'hello' ? heard.signed : new Uint8Array(0);
  };
  expect(signedOf({ ...hello, descriptor: { ...descriptor, revision: 5n } })).toEqual(signedOf(hello));
  for (const change of [
    { rid: 'b' },
    { generation: 2n },
    { scope: 'w' },
    { endpoint: '' },
    { publicKey: 'k' },
  ] as const) {
    expect(signedOf({ ...hello, ...change })).not.toEqual(signedOf(hello));
  }
});

test('[WIRE-001] a hello that is cut off anywhere, or longer by a byte, is malformed', () => {
  for (let length = 0; length < encoded.length; length++) {
    expect([length, decodeHello(encoded.subarray(0, length)).kind]).toEqual([length, 'malformed']);
  }
  expect(decodeHello(Buffer.concat([encoded, Buffer.of(0)])).kind).toBe('malformed');
  expect(decodeHello(encoded).kind).toBe('hello');
});

test('[WIRE-001] another major version is told apart from garbage, whatever follows it', () => {
  for (const major of [0, 2, 255]) {
    const other = Uint8Array.from(encoded);
    other[4] = major;
    expect(decodeHello(other)).toEqual({ kind: 'otherVersion', major });
    expect(decodeHello(Buffer.from(`ZLNK${String.fromCharCode(major & 0x7f)}`))).toEqual({
      kind: 'otherVersion',
      major: major & 0x7f,
    });
  }
  expect(decodeHello(Buffer.from('ZLNK')).kind).toBe('malformed');
});

test('[WIRE-001] [C06] another magic is malformed', () => {
  for (const magic of ['ZLNk', 'zlnk', 'GET ', '\0\0\0\0']) {
    expect(decodeHello(Buffer.concat([Buffer.from(magic), encoded.subarray(4)])).kind).toBe('malformed');
  }
});

test('[WIRE-001] a later minor version with new capabilities is heard', () => {
  expect(decodeHello(encodeHello({ ...hello, minor: WIRE_MINOR + 1, capabilities: 0xffff_ffff })).kind).toBe('hello');
});

test.each<[string, Partial<Hello>]>([
  ['generation 0', { generation: 0n }],
  ['no RID', { rid: '' }],
  ['a RID with NUL', { rid: 'a\0b' }],
  ['an unknown endpoint kind', { kind: 4 as EndpointKind }],
  ['endpoint kind 0', { kind: 0 as EndpointKind }],
  ['an unknown state', { descriptor: { ...descriptor, state: 5 as DescriptorState } }],
  ['an unknown object role', { descriptor: { ...descriptor, objectRole: 3 as ObjectRole } }],
  ['a weight above 10,000', { descriptor: { ...descriptor, channels: [{ name: 'a', weight: 10_001 }] } }],
  ['a channel without a name', { descriptor: { ...descriptor, channels: [{ name: '', weight: 1 }] } }],
  [
    'a channel that stands twice',
    {
      descriptor: {
        ...descriptor,
        channels: [
          { name: 'a', weight: 1 },
          { name: 'b', weight: 1 },
          { name: 'a', weight: 2 },
        ],
      },
    },
  ],
])('[WIRE-001] a hello with %s is malformed', (_, change) => {
  expect(decodeHello(encodeHello({ ...hello, ...change })).kind).toBe('malformed');
});

test('[WIRE-001] a message limit that is no safe integer is malformed', () => {
  const bytes = Buffer.from(encoded);
  const at = 4 + 3 + 4 + 8 + 4; // behind magic, versions and kind, capabilities, generation and window
  expect(bytes.readBigUInt64LE(at)).toBe(1_000n);
  bytes.writeBigUInt64LE(2n ** 53n - 1n, at);
  expect(decodeHello(bytes)).toMatchObject({ hello: { maxMessageBytes: Number.MAX_SAFE_INTEGER } });
  bytes.writeBigUInt64LE(2n ** 53n, at);
  expect(decodeHello(bytes).kind).toBe('malformed');
});

test.each(['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff', 'e282'])(
  '[WIRE-001] [C22] bytes %s are no RID, scope, endpoint, key or channel',
  (hex) => {
    const bad = Buffer.from(hex, 'hex');
    const marker = 'x'.repeat(bad.length);
    const said = {
      ...hello,
      rid: marker,
      scope: marker,
      endpoint: marker,
      publicKey: marker,
      descriptor: { ...descriptor, channels: [{ name: marker, weight: 1 }] },
    };
    const good = Buffer.from(encodeHello(said));
    expect(decodeHello(good).kind).toBe('hello');
    let at = good.indexOf(marker);
    let found = 0;
    for (; at >= 0; at = good.indexOf(marker, at + bad.length), found++) {
      const spoilt = Buffer.from(good);
      bad.copy(spoilt, at);
      expect(decodeHello(spoilt).kind).toBe('malformed');
    }
    expect(found).toBe(5);
  },
);

const wide = (count: number): Descriptor => ({
  ...descriptor,
  channels: Array.from({ length: count }, (_, at) => ({ name: `${at}`.padEnd(253, '-'), weight: 1 })),
});

test('[SEC-002] a hello above 64 KiB is malformed, one just below is heard', () => {
  const fits = encodeHello({ ...hello, descriptor: wide(255) });
  expect(fits.length).toBeLessThanOrEqual(HELLO_BYTES);
  expect(decodeHello(fits).kind).toBe('hello');
  const tooLarge = encodeHello({ ...hello, rid: 'r'.repeat(255), descriptor: wide(255) });
  expect(tooLarge.length).toBeGreaterThan(HELLO_BYTES);
  expect(decodeHello(tooLarge).kind).toBe('malformed');
});

test('[SEC-002] a hello with its other fields at their longest has room for the largest descriptor, and no byte more', () => {
  const text = 'x'.repeat(255);
  const longest = { ...hello, rid: text, scope: text, endpoint: text, publicKey: text };
  const { length } = encodeHello(longest, () => new Uint8Array(255));
  expect(length - encodeDescriptor(hello.descriptor).length + DESCRIPTOR_BYTES).toBe(HELLO_BYTES);
});

test('[SEC-002] a descriptor of an update above 64 KiB is malformed, too', () => {
  expect(decodeDescriptor(encodeDescriptor(wide(255)))?.channels).toHaveLength(255);
  expect(decodeDescriptor(encodeDescriptor(wide(257)))).toBeUndefined();
});

test('[WIRE-003] a descriptor that is cut off anywhere or too long is malformed, whatever number of channels it claims', () => {
  const bytes = Buffer.from(encodeDescriptor(descriptor));
  for (let length = 0; length < bytes.length; length++) {
    expect(decodeDescriptor(bytes.subarray(0, length))).toBeUndefined();
  }
  expect(decodeDescriptor(Buffer.concat([bytes, Buffer.of(0)]))).toBeUndefined();
  const countAt = 10;
  expect(bytes.readUInt16LE(countAt)).toBe(2);
  bytes.writeUInt16LE(0xffff, countAt);
  expect(decodeDescriptor(bytes)).toBeUndefined();
});

test('[WIRE-001] each reason of a rejection has a number that arrives', () => {
  for (const reason of Object.values(RejectReason)) {
    expect(decodeRejection(encodeRejection({ reason, text: 'why' }))).toEqual({ reason, text: 'why' });
  }
  expect(decodeRejection(Uint8Array.of(0))).toBeUndefined();
  expect(decodeRejection(Uint8Array.of(Math.max(...Object.values(RejectReason)) + 1))).toBeUndefined();
  expect(decodeRejection(new Uint8Array(0))).toBeUndefined();
  expect(decodeRejection(Uint8Array.of(1))).toEqual({ reason: 1, text: '' });
  expect(decodeRejection(Uint8Array.of(1, 0xff))).toBeUndefined();
});

test('[WIRE-001] a wrong RID or generation may say who refuses, with any text', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(RejectReason.wrongRid, RejectReason.wrongGeneration, RejectReason.duplicate),
      text8.filter((text) => !text.includes('\0')),
      fc.option(name, { nil: undefined }),
      (reason, text, rid) => {
        const rejection = { reason, text, ...(rid === undefined ? {} : { rid }) };
        expect(decodeRejection(encodeRejection(rejection))).toEqual(rejection);
      },
    ),
  );
});

test('[CORE-010] a duplicate says who refuses, if it does; most reasons have no RID', () => {
  const { duplicate, busy } = RejectReason;
  for (const rid of ['b', 'é'.repeat(127)]) {
    const rejection = { reason: duplicate, text: '"a" is already connected', rid };
    expect(decodeRejection(encodeRejection(rejection))).toEqual(rejection);
    const long = encodeRejection({ ...rejection, text: '😀'.repeat(1_000) });
    expect(long.length).toBeLessThanOrEqual(1_025);
    expect(decodeRejection(long)).toMatchObject({ rid, text: expect.stringMatching(/^(😀){190,256}$/u) as string });
  }
  expect(decodeRejection(Buffer.from([duplicate]))).toEqual({ reason: duplicate, text: '' });
  expect(decodeRejection(Buffer.from(`${String.fromCharCode(duplicate)}\0b`))).toEqual({
    reason: duplicate,
    text: '',
    rid: 'b',
  });
  for (const tail of ['\0', '\0b\0', '\0b\0c', `\0${'é'.repeat(128)}`]) {
    expect(decodeRejection(Buffer.from(`${String.fromCharCode(duplicate)}text${tail}`))).toBeUndefined();
  }
  expect(decodeRejection(Buffer.from(`${String.fromCharCode(busy)}text\0b`))).toEqual({
    reason: busy,
    text: 'text\0b',
  });
});

test.each(['x', 'é', '€', '😀', 'a😀'])(
  '[WIRE-001] the text of a rejection is cut to 1,024 bytes, never inside %s',
  (unit) => {
    const text = unit.repeat(1_500);
    const bytes = encodeRejection({ reason: RejectReason.busy, text });
    expect(bytes.length).toBeLessThanOrEqual(1_025);
    expect(bytes.length).toBeGreaterThan(1_025 - 4);
    const heard = decodeRejection(bytes);
    expect(heard?.reason).toBe(RejectReason.busy);
    expect(text.startsWith(heard?.text ?? 'nothing')).toBe(true);
    expect(heard?.text.length).toBeGreaterThan(0);
    expect(decodeRejection(Buffer.concat([Buffer.of(1), Buffer.alloc(1_025, 0x61)]))).toBeUndefined();
  },
);

test('[WIRE-001] no other record passes for a hello', () => {
  for (const { name: vector, parts } of vectors) {
    const batches = decodeMessage(parts);
    if (typeof batches === 'string') throw new Error(batches);
    const isGreeting = ['hello', 'hello-expecting', 'hello-secured', 'admit'].includes(vector);
    for (const { payload } of batches.flat())
      expect([vector, decodeHello(payload).kind === 'hello']).toEqual([vector, isGreeting]);
  }
});
