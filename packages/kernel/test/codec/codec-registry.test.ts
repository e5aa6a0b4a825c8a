import { CodecRegistry, jsonCodec } from '../../src/codec/index.ts';
import type { Codec, CodecTable, PayloadSink } from '../../src/codec/index.ts';
import { ConfigurationError, Problems } from '../../src/errors/index.ts';
import { message } from '../../src/message/index.ts';
import type { DeclaredType } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';

class Order {}
class BigOrder extends Order {}

/** A codec for some types, which counts how often it was asked. */
class CountingCodec implements Codec {
  readonly contentType: string;
  readonly #matching: (declaredType: DeclaredType | undefined) => boolean;
  asked = 0;

  constructor(contentType: string, matching: (declaredType: DeclaredType | undefined) => boolean) {
    this.contentType = contentType;
    this.#matching = matching;
  }

  matches(declaredType: DeclaredType | undefined): boolean {
    this.asked++;
    return this.#matching(declaredType);
  }

  encode(value: unknown): Uint8Array {
    return Buffer.from(`${this.contentType} ${String(value)} ${this.asked}`);
  }

  decode(bytes: Uint8Array): unknown {
    return `${Buffer.from(bytes).toString()} ${this.asked}`;
  }
}

const always = (): boolean => true;
const only =
  (...types: DeclaredType[]) =>
  (declaredType: DeclaredType | undefined): boolean =>
    declaredType !== undefined && types.includes(declaredType);

function tableOf(...codecs: Codec[]): CodecTable {
  const problems = new Problems();
  const registry = new CodecRegistry();
  for (const codec of codecs) registry.use({ register: (registrar) => void registrar.add(codec) });
  const table = registry.freeze(problems);
  problems.throwIfAny();
  return table;
}

function problemsOf(register: (registry: CodecRegistry) => void): readonly string[] {
  const problems = new Problems();
  const registry = new CodecRegistry();
  register(registry);
  registry.freeze(problems);
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

test('[CODEC-001] JSON serves everything without registration', () => {
  const table = tableOf();
  expect(table.select(Order)).toBe(jsonCodec);
  expect(table.select(message('a'))).toBe(jsonCodec);
  expect(table.select(undefined)).toBe(jsonCodec);
  expect(table.byContentType('application/json')).toBe(jsonCodec);
});

test('[CODEC-001] a declared type that no extension matches goes as JSON', () => {
  const codec = new CountingCodec('application/x-order', only(Order));
  const table = tableOf(codec);
  expect(table.select(Order)).toBe(codec);
  expect(table.select(BigOrder)).toBe(jsonCodec);
  expect(table.select(undefined)).toBe(jsonCodec);
  expect(table.byContentType('application/json')).toBe(jsonCodec);
});

test('[CODEC-002] a codec is known by the canonical form of its content type only', () => {
  const codec = new CountingCodec(' Application/X-Order\t', always);
  const table = tableOf(codec);
  const named = table.byContentType('application/x-order');
  expect(named).toBe(table.select(Order));
  expect(named?.contentType).toBe('application/x-order');
  // The object behind it keeps its own state: the calls are passed on.
  expect(Buffer.from(named?.encode(7, Order) ?? []).toString()).toBe(' Application/X-Order\t 7 1');
  expect(named?.decode(Buffer.from('bytes'), Order)).toBe('bytes 1');
  expect(Object.keys(named ?? {})).toEqual(['contentType', 'matches', 'encode', 'decode']);
});

test('[CODEC-007] the direct ways of a codec stay open under its canonical content type', () => {
  const written: string[] = [];
  const sink: PayloadSink = { writeText: (text) => void written.push(text), writeBytes: () => undefined };
  const shouting: Codec = { ...jsonCodec, contentType: 'Application/Shout' };
  const named = tableOf(shouting).byContentType('application/shout');
  named?.encodeInto?.({ a: 1 }, undefined, sink);
  expect(written).toEqual(['{"a":1}']);
  expect(named?.decodeRange?.(Buffer.from('xx[1]xx'), 2, 5, undefined)).toEqual([1]);
});

test('[CODEC-002] of two registrations with one canonical form the later replaces the earlier', () => {
  const first = new CountingCodec('application/x-order', only(Order));
  const second = new CountingCodec('APPLICATION/x-order', only(BigOrder));
  const table = tableOf(first, second);
  expect(table.select(Order)).toBe(jsonCodec);
  expect(table.select(BigOrder).contentType).toBe('application/x-order');
  expect(first.asked).toBe(0);
});

test('[CODEC-002] a replacement also takes the later place in the order', () => {
  const other = new CountingCodec('application/x-other', always);
  const replacement = new CountingCodec('application/x-order', always);
  const table = tableOf(new CountingCodec('application/x-order', always), other, replacement);
  expect(table.select(Order)).toBe(replacement);
});

test('[CODEC-002] a registration as application/json replaces the built-in codec, also as the fallback', () => {
  const replacement = new CountingCodec('application/json', only(Order));
  const table = tableOf(replacement);
  expect(table.select(BigOrder)).toBe(replacement);
  expect(table.byContentType('application/json')).toBe(replacement);
});

test.each(['application/json; charset=utf-8', 'application json', 'application/jsön', '/json', '', 7])(
  '[CODEC-002] the content type %j is a problem at start',
  (contentType) => {
    const problems = problemsOf((registry) => registry.add({ ...jsonCodec, contentType: contentType as string }));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('contentType');
  },
);

test('[CODEC-002] every problem is collected, and right codecs stay usable', () => {
  const problems = problemsOf((registry) => {
    registry.add(undefined as unknown as Codec);
    registry.add({ contentType: 'a/b' } as unknown as Codec);
    registry.add({ ...jsonCodec, encodeInto: 7 } as unknown as Codec);
    registry.use({} as never);
    registry.use(undefined as never);
    registry.use({
      register: () => {
        throw new Error('no schema file');
      },
    });
    registry.add(new CountingCodec('x/y', always));
  });
  expect(problems).toHaveLength(6);
  expect(problems.join('\n')).toContain('no schema file');
});

test.each([
  'Application/X-Order',
  ' application/x-order',
  'application/x-order; v=1',
  'application/x-unknown',
  '',
  '__proto__',
])('[CODEC-003] %j from the wire is not found', (contentType) => {
  expect(tableOf(new CountingCodec('application/x-order', always)).byContentType(contentType)).toBeUndefined();
});

test('[CODEC-003] nothing is registered after the start', () => {
  const registry = new CodecRegistry();
  const codec = new CountingCodec('application/x-order', always);
  let kept: { add(codec: Codec): unknown } = registry;
  registry.use({ register: (registrar) => void (kept = registrar) });
  const table = registry.freeze(new Problems());
  expect(thrownBy(() => registry.use({ register: () => undefined })).kind).toBe('InvalidOperation');
  expect(thrownBy(() => kept.add(codec)).kind).toBe('InvalidOperation');
  expect(table.select(Order)).toBe(jsonCodec);
});

test('[CODEC-004] of several matches the latest registered is chosen', () => {
  const early = new CountingCodec('application/x-early', only(Order, BigOrder));
  const late = new CountingCodec('application/x-late', only(BigOrder));
  const table = tableOf(early, late);
  expect(table.select(BigOrder)).toBe(late);
  expect(table.select(Order)).toBe(early);
});

test('[CODEC-004] a choice is remembered for 1,024 types and never forgotten; later types are decided anew', () => {
  const codec = new CountingCodec('application/x-order', always);
  const table = tableOf(codec);
  const types = Array.from({ length: 1_026 }, (_, index) => message(`type-${index}`));
  for (const type of types) table.select(type);
  expect(codec.asked).toBe(1_026);
  for (const type of types.slice(0, 1_024)) expect(table.select(type)).toBe(codec);
  expect(codec.asked).toBe(1_026);
  for (const type of types.slice(1_024)) expect(table.select(type)).toBe(codec);
  for (const type of types.slice(1_024)) expect(table.select(type)).toBe(codec);
  expect(codec.asked).toBe(1_030);
});

test('[CODEC-004] the fallback to JSON is remembered, too, and so is the choice for no declared type', () => {
  const codec = new CountingCodec('application/x-order', () => false);
  const table = tableOf(codec);
  for (let round = 0; round < 3; round++) {
    expect(table.select(Order)).toBe(jsonCodec);
    expect(table.select(undefined)).toBe(jsonCodec);
  }
  expect(codec.asked).toBe(2);
});

test('[CODEC-004] a codec that fails to answer fails the call, and nothing is remembered', () => {
  let broken = true;
  const codec = new CountingCodec('application/x-order', () => {
    if (broken) throw new Error('boom');
    return true;
  });
  const table = tableOf(codec);
  const error = thrownBy(() => table.select(Order));
  expect(error.kind).toBe('InternalFailure');
  expect(error.message).toContain('application/x-order');
  broken = false;
  expect(table.select(Order)).toBe(codec);
});

test('[CODEC-004] an answer that is not plainly true is no match', () => {
  const codec = new CountingCodec('application/x-order', () => Promise.resolve(true) as unknown as boolean);
  expect(tableOf(codec).select(Order)).toBe(jsonCodec);
});
