import { ConfigurationError } from '@zlink/kernel/errors';
import { message } from '@zlink/kernel/message';
import { protobuf, type ProtobufOptions } from '../src/index.ts';
import { post } from './fixtures/post.mjs';
import { emptyOrder } from './order-values.ts';
import { codecOf, PlaceOrder, Receipt, root, shopTypes, thrownBy } from './the-codec.ts';

const codec = codecOf(shopTypes);
const Unlisted = message('unlisted');

function problemsOf(options: unknown): readonly string[] {
  try {
    protobuf(options as ProtobufOptions);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

test('[CODEC-004] it serves the types in its list and no others', () => {
  expect([PlaceOrder, Receipt].map((type) => codec.matches(type))).toEqual([true, true]);
  expect([Unlisted, undefined, post.Parcel].map((type) => codec.matches(type))).toEqual([false, false, false]);
});

test('[CODEC-006] a payload is read as the type that is declared for it', () => {
  const number = codec.encode({ number: 'n-1' }, Receipt);
  expect(codec.decode(number, Receipt)).toStrictEqual({ number: 'n-1' });
  expect(codec.decode(number, PlaceOrder)).toStrictEqual({ ...emptyOrder, id: 'n-1' });
});

test('[CODEC-006] [ERR-002] a message without a type is an error that names it', () => {
  const remedy = 'has no Protobuf type: give it one in the types of protobuf()';
  expect(thrownBy(() => codec.decode(new Uint8Array(), Unlisted)).message).toBe(
    `[ProtocolError] packet "unlisted" ${remedy}`,
  );
  expect(thrownBy(() => codec.encode({}, Unlisted)).message).toBe(`[InvalidOperation] packet "unlisted" ${remedy}`);
  expect(thrownBy(() => codec.encode({}, () => 1)).message).toBe(`[InvalidOperation] function ${remedy}`);
  expect(thrownBy(() => codec.decode(new Uint8Array(), undefined)).message).toBe(
    '[ProtocolError] a message without a declared type has no Protobuf type: a request declares the type of its reply by { reply: { declaredType } }',
  );
});

test('[CODEC-006] [ERR-002] errors name packet and type', () => {
  expect(thrownBy(() => codec.encode({ id: 5 }, PlaceOrder)).message).toBe(
    '[InvalidOperation] packet "shop.order" cannot be encoded as shop.Order: id: string expected',
  );
  expect(thrownBy(() => codec.decode(Uint8Array.of(0x0a, 5), PlaceOrder)).message).toBe(
    '[ProtocolError] payload cannot be read as shop.Order: index out of range: 2 + 5 > 2',
  );
  const generated = codecOf({ types: [post.Parcel] });
  expect(thrownBy(() => generated.decode(Uint8Array.of(0x0a, 5), post.Parcel)).message).toContain('as post.Parcel: ');
});

test('[CODEC-006] a generated class is a type and a packet of its own', () => {
  const generated = codecOf({ types: [post.Parcel, [Unlisted, post.Item]] });
  const parcel = new post.Parcel({ id: 'a', grams: 5n });
  expect(generated.decode(generated.encode(parcel, post.Parcel), post.Parcel)).toMatchObject({ id: 'a', grams: 5n });
  expect(generated.decode(generated.encode({ name: 'b' }, Unlisted), Unlisted)).toEqual({ name: 'b', codes: [] });
  expect(thrownBy(() => generated.encode({ street: 'a', box: 1 }, post.Parcel)).message).toContain(
    'to: multiple values',
  );
  expect(thrownBy(() => generated.encode({ grams: 2n ** 63n }, post.Parcel)).message).toContain('field 2: this bigint');
});

test('[CODEC-006] a descriptor in the list stands for the class that it declares', () => {
  const Declared = message('declared', { declaredType: Receipt });
  const declared = codecOf({ types: [[Declared, root.lookupType('shop.Receipt')]] });
  expect([Receipt, Declared].map((type) => declared.matches(type))).toEqual([true, false]);
});

test('[HOSTREG-003] every mistake in the options is named at once', () => {
  class Strange {}
  const foreign = {
    encode: () => undefined,
    decode: () => {
      throw new Error('illegal buffer');
    },
    verify: () => null,
    toObject: () => ({}),
    fullName: '.other.Copy',
  };
  expect(
    problemsOf({
      type: [],
      int64: 'number',
      maxBytes: 0,
      maxValues: NaN,
      root,
      types: [
        [PlaceOrder, 'shop.Order'],
        [PlaceOrder, 'shop.Receipt'],
        [Receipt, 'shop.Reciept'],
        [Unlisted, {}],
        ['unlisted', 'shop.Order'],
        Strange,
        [Strange, foreign],
      ],
    }),
  ).toEqual([
    'options of protobuf: there is no option "type", did you mean "types"?',
    "int64: \"number\" is not allowed, allowed: 'bigint' or 'string'",
    'maxBytes: 0 is not allowed, allowed: integer 1..1073741824',
    'maxValues: NaN is not allowed, allowed: integer 1..100000000',
    'types: function shop.order is given twice',
    'types: there is no message type "shop.Reciept" in the root',
    'type: object is not allowed, allowed: a name, a Type of protobufjs, or a class generated with verify and convert',
    'types: "unlisted" is not allowed, allowed: generated classes and pairs that begin with a packet descriptor or a class',
    'type: function Strange is not allowed, allowed: a name, a Type of protobufjs, or a class generated with verify and convert',
    'types: other.Copy belongs to another installed copy of protobufjs',
  ]);
  expect(problemsOf({ types: [[Unlisted, 'shop.Order']] })).toEqual([
    'types: "shop.Order" is a name, and there is no root to look it up',
  ]);
  expect(problemsOf({ types: PlaceOrder, root: {} })).toHaveLength(2);
  expect(problemsOf(undefined)).toEqual(['options of protobuf: undefined is no object']);
  expect(problemsOf({ types: [[PlaceOrder, 'Order']], root: root.lookup('shop'), int64: 'string' })).toEqual([]);
});
