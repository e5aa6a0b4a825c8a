import fc from 'fast-check';
import { isZLinkError } from '../../src/errors/index.ts';
import {
  leaseGenerationOf,
  leaseRecord,
  type MeshDescriptor,
  meshDescriptor,
  publisherDescriptor,
  type RecordCodec,
  type ServerDescriptor,
  serverDescriptor,
} from '../../src/location/index.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const jsonOf = (bytes: Uint8Array): Record<string, unknown> => JSON.parse(textOf(bytes)) as Record<string, unknown>;

const largestVersion = 2n ** 63n - 1n;
const uint64 = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
const version = fc.bigInt({ min: 1n, max: largestVersion });
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\0'));
const weight = fc.integer({ min: 0, max: 10_000 });
const limit = fc.integer({ min: 0, max: 2 ** 31 - 1 });

/** What a later version may have added: any JSON under names that this one does not know. */
const otherFields = fc.dictionary(
  fc.oneof(
    name.map((text) => `+${text}`),
    fc.constantFrom('__proto__', 'constructor', 'toString'),
  ),
  fc.jsonValue().map((json) => JSON.parse(JSON.stringify(json)) as never), // without -0
  { minKeys: 1, maxKeys: 3 },
);
const optionally = <T extends string, V>(key: T, value: fc.Arbitrary<V>): fc.Arbitrary<{ [K in T]?: V }> =>
  // the one key is T, so the object is what is said
  fc.option(value).map((found) => (found === null ? {} : { [key]: found }) as { [K in T]?: V });
const withOthers = <T extends object>(record: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.tuple(record, optionally('otherFields', otherFields)).map(([fields, others]) => ({ ...fields, ...others }));

const endpointFields = fc
  .tuple(
    fc.record({
      name,
      rid: name,
      lifecycleGeneration: uint64,
      revision: uint64,
      endpoint: fc.constantFrom('tcp://127.0.0.1:7000', 'tcp://[::1]:65535', 'tcp://host.example:1'),
      protocol: withOthers(fc.record({ min: fc.integer({ min: 0, max: 255 }), max: fc.integer({ min: 0, max: 255 }) })),
      ownerId: fc.uuid({ version: 4 }),
      leaseGeneration: version,
      state: fc.constantFrom('starting', 'serving', 'relocating', 'relocated', 'draining'),
    }),
    optionally('securityIdentity', name),
  )
  .map(([fields, security]) => ({ ...fields, ...security }));

const server: fc.Arbitrary<ServerDescriptor> = withOthers(
  fc.tuple(endpointFields, weight).map(([fields, weight]) => ({ ...fields, weight })),
);

const meshFields = fc.record({
  objectRole: fc.constantFrom('none', 'client', 'server'),
  channels: fc.array(withOthers(fc.record({ name, weight })), { maxLength: 5 }),
  placementWeight: weight,
  limits: withOthers(fc.record({ actors: limit, spots: limit })),
  types: fc.array(
    withOthers(
      fc.record({
        kind: fc.constantFrom('actor', 'user_spot', 'instance_spot'),
        name,
        policy: fc.constantFrom('disable', 'recreate', 'preserve'),
        hasAdapter: fc.boolean(),
        limit,
      }),
    ),
    { maxLength: 5 },
  ),
  applicationVersion: version,
});
const mesh: fc.Arbitrary<MeshDescriptor> = withOthers(
  fc
    .tuple(endpointFields, meshFields, optionally('entrySpotId', name), optionally('maintenanceWave', name))
    .map(([fields, more, entry, wave]) => ({ ...fields, ...more, ...entry, ...wave })),
);

const aServer: ServerDescriptor = {
  name: 'billing',
  rid: 'server-1',
  lifecycleGeneration: 2n ** 64n - 1n,
  revision: 1n,
  endpoint: 'tcp://10.0.0.1:7100',
  protocol: { min: 1, max: 1 },
  ownerId: '0f000000-0000-4000-8000-000000000001',
  leaseGeneration: largestVersion,
  state: 'serving',
  weight: 100,
};

/** The text of the InternalFailure that reading these bytes ends with. */
function failureOf(codec: Pick<RecordCodec<unknown>, 'decode'>, value: Uint8Array): string | undefined {
  try {
    codec.decode(value);
    return undefined;
  } catch (error) {
    if (!isZLinkError(error) || error.kind !== 'InternalFailure') throw error;
    return error.message;
  }
}

/** What reading `aServer` fails with when some of its fields are others. */
function failureWith(changes: Record<string, unknown>): string | undefined {
  return failureOf(
    serverDescriptor,
    bytesOf(JSON.stringify({ ...jsonOf(serverDescriptor.encode(aServer)), ...changes })),
  );
}

test('[LOC-062] a descriptor is JSON with "v":1 and decimal strings for large integers', () => {
  expect(jsonOf(serverDescriptor.encode(aServer))).toEqual({
    v: 1,
    name: 'billing',
    rid: 'server-1',
    lifecycleGeneration: '18446744073709551615',
    revision: '1',
    endpoint: 'tcp://10.0.0.1:7100',
    protocol: { min: 1, max: 1 },
    ownerId: '0f000000-0000-4000-8000-000000000001',
    leaseGeneration: '9223372036854775807',
    state: 'serving',
    weight: 100,
  });
});

test('[LOC-062] [C23] every descriptor comes back as it was written, unknown fields at every depth included', () => {
  const survives = <T>(codec: RecordCodec<T>, record: fc.Arbitrary<T>): void =>
    fc.assert(
      fc.property(record, (written) => {
        const read = codec.decode(codec.encode(written));
        expect(read).toEqual(written);
        expect(jsonOf(codec.encode(read))).toEqual(jsonOf(codec.encode(written)));
      }),
    );
  survives(meshDescriptor, mesh);
  survives(serverDescriptor, server);
  survives(publisherDescriptor, withOthers(endpointFields));
});

test('[LOC-062] what a later version wrote is kept when this one changes what it knows', () => {
  const later = {
    ...jsonOf(serverDescriptor.encode(aServer)),
    zone: { name: 'b', beta: [1, { x: null }] },
    large: '99',
  };
  const read = serverDescriptor.decode(bytesOf(JSON.stringify(later)));
  const changed = serverDescriptor.encode({ ...read, revision: read.revision + 1n, weight: 0 });
  expect(jsonOf(changed)).toEqual({ ...later, revision: '2', weight: 0 });
});

test('[LOC-062] [C24] an unknown field named __proto__ is a field like any other', () => {
  const later = textOf(serverDescriptor.encode(aServer)).replace('{', '{"__proto__":{"weight":1},');
  const read = serverDescriptor.decode(bytesOf(later));
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(read.weight).toBe(100);
  expect(textOf(serverDescriptor.encode(read))).toContain('"__proto__":{"weight":1}');
});

test('[LOC-062] a larger format version is InternalFailure that names both versions', () => {
  expect(failureWith({ v: 2 })).toBe(
    '[InternalFailure] server descriptor cannot be read: its format is 2, this version reads up to 1',
  );
  for (const v of [0, -1, 1.5, '1', null])
    expect(failureWith({ v })).toBe('[InternalFailure] server descriptor cannot be read: it has no format version');
});

test('[LOC-062] a field that is missing or wrong is InternalFailure that names it and shows no value', () => {
  for (const [changes, text] of [
    [{ rid: undefined }, 'server descriptor.rid is not there'],
    [{ rid: '' }, 'server descriptor.rid is not a name'],
    [{ endpoint: 'http://secret' }, 'server descriptor.endpoint is not an endpoint'],
    [{ state: 'sleeping' }, 'server descriptor.state is not starting, serving, relocating, relocated, draining'],
    [{ weight: 10_001 }, 'server descriptor.weight is not 0..10000'],
    [{ revision: 1 }, 'server descriptor.revision is not a decimal string, 1..18446744073709551615'],
    [{ revision: '01' }, 'server descriptor.revision is not a decimal string, 1..18446744073709551615'],
    [{ revision: '0' }, 'server descriptor.revision is not a decimal string, 1..18446744073709551615'],
    [
      { leaseGeneration: '9223372036854775808' },
      'server descriptor.leaseGeneration is not a decimal string, 1..9223372036854775807',
    ],
    [{ protocol: { min: 1 } }, 'server descriptor.protocol.max is not there'],
    [{ protocol: [1, 1] }, 'server descriptor.protocol is not an object'],
    [{ securityIdentity: 7 }, 'server descriptor.securityIdentity is not a text'],
    [{ toString: undefined }, undefined],
  ] as const)
    expect(failureWith(changes)).toBe(text === undefined ? undefined : `[InternalFailure] ${text}`);
  const node = {
    ...jsonOf(serverDescriptor.encode(aServer)),
    objectRole: 'none',
    placementWeight: 1,
    applicationVersion: '1',
  };
  const more = {
    ...node,
    limits: { actors: 0, spots: 0 },
    types: [],
    channels: [{ name: 'a', weight: 1 }, { name: 'b' }],
  };
  expect(failureOf(meshDescriptor, bytesOf(JSON.stringify(more)))).toBe(
    '[InternalFailure] mesh descriptor.channels[1].weight is not there',
  );
  expect(failureOf(meshDescriptor, bytesOf(JSON.stringify({ ...more, channels: {} })))).toBe(
    '[InternalFailure] mesh descriptor.channels is not a list',
  );
});

test('[LOC-062] bytes of any kind are read or refused as InternalFailure, never otherwise', () => {
  for (const codec of [meshDescriptor, serverDescriptor, publisherDescriptor, leaseRecord]) {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void failureOf(codec, bytes)));
    fc.assert(fc.property(fc.json(), (json) => void failureOf(codec, bytesOf(json))));
    for (const text of ['', 'null', '[]', '"v"', '{', '{}', '1'])
      expect(failureOf(codec, bytesOf(text))).toContain('cannot be read: it ');
    expect(failureOf(codec, Uint8Array.of(0xff))).toContain('cannot be read: it is no JSON object');
  }
  const whole = serverDescriptor.encode(aServer);
  for (let end = 0; end < whole.length; end++)
    expect(failureOf(serverDescriptor, whole.subarray(0, end))).toContain('server descriptor cannot be read');
});

test('[LOC-014] the generation of a lease is the version that acquired it, also after a resume', () => {
  const acquired = { value: leaseRecord.encode({}), version: 17n };
  expect(textOf(acquired.value)).toBe('{"v":1}');
  expect(leaseGenerationOf(acquired)).toBe(17n);
  const resumed = { value: leaseRecord.encode({ leaseGeneration: 17n }), version: 99n };
  expect(textOf(resumed.value)).toBe('{"v":1,"leaseGeneration":"17"}');
  expect(leaseGenerationOf(resumed)).toBe(17n);
  fc.assert(
    fc.property(version, uint64, (leaseGeneration, later) => {
      expect(leaseGenerationOf({ value: leaseRecord.encode({ leaseGeneration }), version: later })).toBe(
        leaseGeneration,
      );
    }),
  );
});
