import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { jsonCodec } from '../../src/codec/index.ts';
import { message, request, validateInbound } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';

const encode = (value: unknown): string => Buffer.from(jsonCodec.encode(value, undefined)).toString();
const decode = (text: string | Uint8Array): unknown =>
  jsonCodec.decode(typeof text === 'string' ? Buffer.from(text) : text, undefined);
const decodeHex = (hex: string): unknown => decode(Buffer.from(hex, 'hex'));

/** `levels` arrays, one in the other. */
function nested(levels: number, innermost: unknown[] = []): unknown {
  let value: unknown = innermost;
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

class Order {
  readonly id = 7;
  readonly #note = 'private';
  get note(): string {
    return this.#note;
  }
}

test('[CODEC-005] what JSON can say comes back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(decode(encode(value))).toEqual(value);
    }),
  );
});

test('[CODEC-005] plain values have their native form', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      fc.pre(!hasNegativeZero(value));
      expect(encode(value)).toBe(JSON.stringify(value));
    }),
  );
});

test('[CODEC-005] our own writer and the native one agree on what both can write', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!hasNegativeZero(value));
      // The bigint sends the whole value to our own writer.
      expect(encode({ value, tail: 1n })).toBe(`{"value":${JSON.stringify(value)},"tail":"1"}`);
    }),
  );
});

function hasNegativeZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasNegativeZero);
  return Object.is(value, -0);
}

test('[CODEC-005] no result is null on the wire', () => {
  expect(encode(undefined)).toBe('null');
  expect(encode(null)).toBe('null');
  expect(decode('null')).toBeNull();
});

test('[CODEC-005] undefined, functions and symbols follow the native encoder', () => {
  const value = { a: undefined, b: () => 1, c: Symbol('s'), d: [undefined, () => 1, Symbol('s')], e: 1 };
  expect(encode(value)).toBe('{"d":[null,null,null],"e":1}');
  expect(encode({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  expect(encode({ a: undefined, n: 1n })).toBe('{"n":"1"}');
  for (const whole of [() => 1, Symbol('s')]) expect(thrownBy(() => encode(whole)).kind).toBe('InvalidOperation');
});

test('[CODEC-005] bytes are padded base64', () => {
  const bytes = Buffer.from('fbff0001', 'hex');
  for (const value of [
    bytes,
    new Uint8Array(bytes),
    new Uint8Array(bytes).buffer,
    foreign('new Uint8Array([251,255,0,1])'),
  ]) {
    expect(encode(value)).toBe('"+/8AAQ=="');
    expect(encode({ value: [value] })).toBe('{"value":["+/8AAQ=="]}');
  }
  expect(encode(new Uint8Array([9, ...bytes, 9]).subarray(1, 5))).toBe('"+/8AAQ=="');
  expect(encode(new Uint8Array())).toBe('""');
});

test('[CODEC-005] a class instance is its own enumerable properties', () => {
  expect(encode(new Order())).toBe('{"id":7}');
  expect(encode({ order: new Order(), total: 1n })).toBe('{"order":{"id":7},"total":"1"}');
  class Tagged extends Order {
    get [Symbol.toStringTag](): string {
      return 'Tagged';
    }
  }
  expect(encode([new Tagged()])).toBe('[{"id":7}]');
  expect(encode(foreign('({ id: 7 })'))).toBe('{"id":7}');
});

test('[CODEC-005] toJSON of an application class is honoured, once', () => {
  const seen: unknown[] = [];
  class Money {
    toJSON(key: string): unknown {
      seen.push(key);
      return { cents: 5n, again: { toJSON: () => 'inner' }, toJSON: () => 'not called' };
    }
  }
  expect(encode({ price: new Money() })).toBe('{"price":{"cents":"5","again":"inner"}}');
  expect(encode([new Money()])).toBe('[{"cents":"5","again":"inner"}]');
  expect(seen).toEqual(['price', '0']);
  expect(encode({ a: { toJSON: () => undefined }, b: { toJSON: () => 7n } })).toBe('{"b":"7"}');
  expect(encode({ a: { toJSON: () => Buffer.from('ab') } })).toBe('{"a":"YWI="}');
});

const foreign = (source: string): unknown => runInNewContext(source) as unknown;

test.each([
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['Date', new Date(0)],
  ['Date', foreign('new Date(0)')],
  ['Map', new Map([['secret', 1]])],
  ['Map', foreign('new Map()')],
  ['Set', new Set(['secret'])],
  ['RegExp', /secret/],
  ['Promise', Promise.resolve('secret')],
  ['Error', new Error('secret')],
  ['WeakMap', new WeakMap()],
  ['Number', Object(5) as unknown],
  ['String', Object('secret') as unknown],
  ['Float64Array', new Float64Array(1)],
  ['DataView', new DataView(new ArrayBuffer(1))],
])('[CODEC-005] %s has no implicit form and is refused with the way to it', (type, value) => {
  const error = thrownBy(() => encode({ items: [1, 'two', null, { when: value }] }));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.message).toContain('items[3].when ');
  expect(error.message).toContain(type);
  expect(error.message).not.toContain('secret');
  expect(thrownBy(() => encode(value)).message).toContain('value cannot be encoded');
});

test('[CODEC-005] [ERR-002] a refusal names the packet, the way to the value, and what to send instead', () => {
  const Charge = request<unknown, unknown>('billing.charge');
  const refused = (value: unknown, declaredType: unknown = Charge): string =>
    thrownBy(() => jsonCodec.encode(value, declaredType)).message;
  const text = (rest: string): string => `[InvalidOperation] packet "billing.charge": ${rest}`;
  const ring: { self?: unknown } = {};
  ring.self = ring;
  expect([
    refused({ order: { at: new Date(0) } }),
    refused({ tags: new Map() }),
    refused({ tags: new Set() }),
    refused({ share: NaN }),
    refused({ later: Promise.resolve(1) }),
    refused({ samples: new Float64Array(1) }),
    refused(ring),
    refused(() => 1),
  ]).toEqual([
    text('order.at cannot be encoded as JSON: Date; send its toISOString() or getTime()'),
    text('tags cannot be encoded as JSON: Map; send Object.fromEntries(map) or [...map]'),
    text('tags cannot be encoded as JSON: Set; send [...set]'),
    text('share cannot be encoded as JSON: NaN; send null or a text'),
    text('later cannot be encoded as JSON: Promise; await it first'),
    text('samples cannot be encoded as JSON: Float64Array; send its bytes as a Uint8Array'),
    text('self cannot be encoded as JSON: object inside itself; send an id in its place'),
    text('value cannot be encoded as JSON: function; send data'),
  ]);
  expect(refused({ at: new Date(0) }, message('system.notice'))).toContain('packet "system.notice": at cannot');
  expect(refused({ at: new Date(0) }, Order)).toContain('packet "Order": at cannot');
  expect(refused({ at: new Date(0) }, () => 1)).toContain('[InvalidOperation] function: at cannot');
  expect(thrownBy(() => encode({ at: new Date(0) })).message).toContain('[InvalidOperation] at cannot'); // a reply
});

test('[CODEC-005] a toJSON does not smuggle a refused value in', () => {
  expect(thrownBy(() => encode({ a: { toJSON: () => new Date(0) } })).message).toContain('a cannot');
  expect(thrownBy(() => encode({ a: { toJSON: () => NaN } })).message).toContain('NaN');
  class Later extends Date {}
  expect(thrownBy(() => encode({ a: new Later(0) })).message).toContain('Date');
});

test('[CODEC-005] the way to a refused value is exact and bounded', () => {
  expect(thrownBy(() => encode({ 'two words': [{ naïve: NaN }] })).message).toContain('["two words"][0].naïve ');
  const error = thrownBy(() => encode({ ['k'.repeat(100_000)]: NaN }));
  expect(error.message.length).toBeLessThan(400);
});

test('[CODEC-005] cycles are refused, however many ways lead round', () => {
  const ring: Record<string, unknown> = {};
  ring['left'] = ring;
  ring['right'] = [ring];
  const error = thrownBy(() => encode({ ring }));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.message).toContain('ring.left ');
  const shared = { id: 1n };
  expect(encode([shared, shared])).toBe('[{"id":"1"},{"id":"1"}]');
});

test('[CODEC-005] 512 levels are encoded, 513 are refused', () => {
  expect(encode(nested(512))).toBe('['.repeat(512) + ']'.repeat(512));
  expect(encode(nested(512, [1n]))).toBe(`${'['.repeat(512)}"1"${']'.repeat(512)}`);
  expect(thrownBy(() => encode(nested(513))).message).toContain('512');
  expect(thrownBy(() => encode(nested(513, [1n]))).kind).toBe('InvalidOperation');
  expect(thrownBy(() => encode(nested(1_000_000))).kind).toBe('InvalidOperation');
  const endless = { toJSON: (): unknown => ({ again: { ...endless } }) };
  expect(thrownBy(() => encode(endless)).kind).toBe('InvalidOperation');
});

test('[CODEC-005] a value that throws while it is read fails the call only', () => {
  const cause = new Error('secret');
  const fail = (): never => {
    throw cause;
  };
  for (const value of [{ toJSON: fail }, Object.defineProperty({}, 'a', { get: fail, enumerable: true })]) {
    const error = thrownBy(() => encode({ value }));
    expect([error.kind, error.cause]).toEqual(['InvalidOperation', cause]);
    expect(error.message).not.toContain('secret');
  }
});

test('[CODEC-005] a lone surrogate travels as an escape and comes back', () => {
  expect(encode('a\uD800')).toBe('"a\\ud800"');
  expect(encode({ 'k\uDC00': 1n })).toBe('{"k\\udc00":"1"}');
  expect(decode(encode({ 'k\uDC00': 'a\uD800' }))).toEqual({ 'k\uDC00': 'a\uD800' });
});

test('[CODEC-005] of duplicate keys the last wins', () => {
  expect(decode('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
});

test.each(['', ' ', '{', '[1,]', "{'a':1}", 'NaN', 'undefined', '01', '1 2', '"secret', '\u00a01', '{"a":secret}'])(
  '[CODEC-005] %j is no JSON: ProtocolError, without a word of the payload',
  (text) => {
    const error = thrownBy(() => decode(text));
    expect(error.kind).toBe('ProtocolError');
    expect(error.message).toBe('[ProtocolError] payload is not JSON');
    expect(error.cause).toBeUndefined();
  },
);

test('[CODEC-005] a byte order mark is refused', () => {
  expect(thrownBy(() => decodeHex('efbbbf7b7d')).kind).toBe('ProtocolError');
});

test.each(['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff', 'e282'])(
  '[CODEC-005] [C22] bytes %s in a body are a ProtocolError',
  (hex) => {
    expect(thrownBy(() => decodeHex(hex)).kind).toBe('ProtocolError');
    expect(thrownBy(() => decodeHex(`22${hex}22`)).kind).toBe('ProtocolError');
    expect(thrownBy(() => decodeHex(`7b2261223a22${hex}227d`)).kind).toBe('ProtocolError');
    expect(thrownBy(() => decodeHex(`22${hex}`)).kind).toBe('ProtocolError');
  },
);

test('[C22] a body with the replacement character passes', () => {
  expect(decodeHex('22efbfbd22')).toBe('\uFFFD');
});

test('[CODEC-005] a megabyte of brackets ends in an error or a value, never the process', () => {
  const megabyte = 1_048_576;
  expect(thrownBy(() => decode('['.repeat(megabyte))).kind).toBe('ProtocolError');
  expect(thrownBy(() => decode('{"a":'.repeat(megabyte / 4))).kind).toBe('ProtocolError');
  const deep = decode('['.repeat(megabyte / 2) + ']'.repeat(megabyte / 2));
  expect(Array.isArray(deep)).toBe(true);
  expect(thrownBy(() => encode(deep)).kind).toBe('InvalidOperation');
});

test('[CODEC-007] a payload is read from its range and written as text', () => {
  const source = Buffer.from('xx{"a":1}yy');
  expect(jsonCodec.decodeRange?.(source, 2, 9, undefined)).toEqual({ a: 1 });
  const written: string[] = [];
  const sink = { writeText: (text: string) => void written.push(text), writeBytes: () => undefined };
  jsonCodec.encodeInto?.({ a: 1n }, undefined, sink);
  expect(written).toEqual(['{"a":"1"}']);
});

test('[CODEC-001] JSON serves every declared type', () => {
  expect(jsonCodec.contentType).toBe('application/json');
  expect(jsonCodec.matches(undefined)).toBe(true);
  expect(Object.isFrozen(jsonCodec)).toBe(true);
});

describe('numbers beyond 53 bits', () => {
  const integers = [
    9007199254740993n,
    -9007199254740993n,
    9223372036854775807n,
    -9223372036854775808n,
    18446744073709551615n,
    6221929103415579899n,
    0n,
  ];
  const bigintSchema = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => ({ value: { id: BigInt((value as { id: string }).id) } }),
    },
  };

  test.each(integers)('[CODEC-005] [C23] %d is a decimal text and a bigint again by the schema', (id) => {
    expect(encode({ id })).toBe(`{"id":"${id}"}`);
    expect(validateInbound(bigintSchema, decode(encode({ id })), 'a')).toEqual({ id });
  });

  test.each([0, -0, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 5e-324, Number.MAX_VALUE])(
    '[CODEC-005] [C23] the number %d comes back as it was',
    (value) => {
      expect(Object.is(decode(encode(value)), value)).toBe(true);
      expect(Object.is((decode(encode({ value, id: 1n })) as { value: unknown }).value, value)).toBe(true);
    },
  );

  test('[CODEC-005] [C23] -0 keeps its sign on the wire', () => {
    expect(encode([-0, 0])).toBe('[-0,0]');
  });

  test.each([NaN, Infinity, -Infinity])('[CODEC-005] [C23] %d is an error before anything is sent', (value) => {
    expect(thrownBy(() => encode({ value })).kind).toBe('InvalidOperation');
  });
});

describe('keys that aim at the prototype', () => {
  test.each([
    ['{"__proto__":{"polluted":1}}', '__proto__'],
    ['{"constructor":{"prototype":{"polluted":1}}}', 'constructor'],
    ['{"a":{"__proto__":null}}', 'a'],
    ['{"toString":"x","hasOwnProperty":1}', 'toString'],
  ])('[CODEC-005] [C24] %s stays own data', (text, key) => {
    const before = Reflect.ownKeys(Object.prototype);
    const value = decode(text) as Record<string, unknown>;
    expect(Object.hasOwn(value, key)).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys({ ...value })).toContain(key);
    expect(encode(value)).toBe(text);
    expect(encode([value, 1n])).toBe(`[${text},"1"]`);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(typeof {}.toString).toBe('function');
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  });
});
