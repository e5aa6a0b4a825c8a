import fc from 'fast-check';
import {
  descriptorKey,
  descriptorPrefix,
  leaseKey,
  stampKey,
  storeKey,
  type Topology,
} from '../../src/location/index.ts';

const component = fc.oneof(
  fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a'), maxLength: 8 }), // where escaping can go wrong
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const topology: fc.Arbitrary<Topology> = fc.record({
  kind: fc.constantFrom('mesh', 'clientServer', 'fanout'),
  name: component,
});

test('[LOC-010] keys are spelled as documented', () => {
  expect(leaseKey('1d0e')).toBe('l/1d0e');
  expect(descriptorKey({ kind: 'mesh', name: 'game' }, 'node-1')).toBe('d/m/game/node-1');
  expect(descriptorKey({ kind: 'clientServer', name: 'a/b' }, 'c~d')).toBe('d/c/a~1b/c~0d');
  expect(descriptorKey({ kind: 'fanout', name: 'news' }, 'p')).toBe('d/f/news/p');
  expect(descriptorPrefix({ kind: 'mesh', name: 'a/~' })).toBe('d/m/a~1~0/');
  expect(stampKey({ kind: 'fanout', name: 'news/all' })).toBe('v/f/news~1all');
  expect(storeKey('x', 'user_spot', '~1', '/~/')).toBe('x/user_spot/~01/~1~0~1');
});

/** What a reader of the documentation would make of a key. */
function componentsOf(key: string): readonly string[] {
  return key.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

test('[LOC-010] components come back from their key, so different ones never make one key', () => {
  fc.assert(
    fc.property(fc.array(component, { minLength: 1, maxLength: 5 }), (components) => {
      expect(componentsOf(storeKey(...components))).toEqual(components);
    }),
  );
});

test('[LOC-017] the prefix of a topology finds all of its descriptors and no other', () => {
  fc.assert(
    fc.property(topology, topology, component, (own, other, rid) => {
      const isOwn = own.kind === other.kind && own.name === other.name;
      expect(descriptorKey(other, rid).startsWith(descriptorPrefix(own))).toBe(isOwn);
    }),
  );
});

test('[LOC-010] the longest names and RIDs make keys that a store takes', () => {
  const longest = '/'.repeat(255);
  for (const kind of ['mesh', 'clientServer', 'fanout'] as const)
    expect(descriptorKey({ kind, name: longest }, longest).length).toBeLessThanOrEqual(1_536);
});
