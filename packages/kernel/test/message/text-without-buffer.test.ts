// What a browser has: no Buffer while the modules load.
const NodeBuffer = globalThis.Buffer;

async function loadWithoutBuffer() {
  Reflect.deleteProperty(globalThis, 'Buffer');
  try {
    const text = await import('../../src/message/text.ts');
    const { encodeBase64 } = await import('../../src/codec/base64.ts');
    return { ...text, encodeBase64 };
  } finally {
    globalThis.Buffer = NodeBuffer;
  }
}

const portable = await loadWithoutBuffer();

const decodeHex = (hex: string): string | undefined => {
  const bytes = new Uint8Array(NodeBuffer.from(hex, 'hex'));
  return portable.decodeUtf8(bytes, 0, bytes.byteLength);
};

test('[WIRE-003] [C22] without Buffer, text is decoded as strictly', () => {
  for (const hex of ['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff'])
    expect(decodeHex(hex)).toBeUndefined();
  expect(decodeHex('efbbbf41')).toBe('\uFEFFA');
  expect(decodeHex('efbfbd')).toBe('\uFFFD');
  expect(portable.decodeUtf8(new Uint8Array([0xff, 0x41, 0xff]), 1, 2)).toBe('A');
});

test('[WIRE-002] without Buffer, text is encoded to plain bytes', () => {
  const bytes = portable.encodeUtf8('hé');
  expect(NodeBuffer.isBuffer(bytes)).toBe(false);
  expect([...bytes]).toEqual([0x68, 0xc3, 0xa9]);
  const target = portable.newBytes(6);
  expect(NodeBuffer.isBuffer(target)).toBe(false);
  expect(portable.writeUtf8(target, 'hé', 2)).toBe(3);
  expect([...target]).toEqual([0, 0, 0x68, 0xc3, 0xa9, 0]);
});

test('[CODEC-005] without Buffer, base64 is the same text', () => {
  for (const length of [0, 1, 2, 3, 12_287, 12_288, 12_289, 30_000]) {
    const bytes = NodeBuffer.from(Array.from({ length }, (_, index) => (index * 7) % 256));
    expect(portable.encodeBase64(bytes)).toBe(bytes.toString('base64'));
  }
});
