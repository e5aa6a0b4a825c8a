/** Which discovered endpoints are dialled, kept and left out; transport and store are played by the test. */
import fc from 'fast-check';
import {
  type DialTarget,
  DiscoveredEndpoints,
  type DiscoveredEndpointsOptions,
  type View,
} from '@zlink/kernel/internal/discovery';
import type { Intent, IntentState } from '@zlink/kernel/internal/transport';
import type { ServerDescriptor } from '@zlink/kernel/location';

class PlayedIntent implements Intent {
  readonly address: string;
  readonly reason = undefined;
  readonly rid = undefined;
  readonly link = undefined;
  state: IntentState = 'connecting';
  readonly #onState: () => void;

  constructor(address: string, onState: () => void) {
    this.address = address;
    this.#onState = onState;
    onState(); // as a dialer does, before its owner has it
  }

  become(state: IntentState): void {
    this.state = state;
    this.#onState();
  }

  close(): Promise<void> {
    if (this.state !== 'closed') this.become('closed');
    return Promise.resolve();
  }
}

class Played {
  readonly intents = new Map<string, PlayedIntent>();
  readonly links = new Set<string>();
  readonly changed: string[] = [];
  dialled = 0;
  readonly endpoints: DiscoveredEndpoints<'clientServer'>;

  constructor(overrides: Partial<DiscoveredEndpointsOptions<'clientServer'>> = {}) {
    this.endpoints = new DiscoveredEndpoints<'clientServer'>({
      dials: () => true,
      dial: (target, onState) => this.#dial(target, onState),
      hasLink: (rid, generation) => this.links.has(`${rid}/${generation}`),
      onChanged: (rid) => this.changed.push(rid),
      ...overrides,
    });
  }

  intentOf(rid: string, generation: number): PlayedIntent {
    const intent = this.intents.get(`${rid}/${generation}`);
    if (intent === undefined) throw new Error(`${rid}/${generation} was never dialled`);
    return intent;
  }

  connect(rid: string, generation: number): void {
    this.links.add(`${rid}/${generation}`);
    this.intentOf(rid, generation).become('admitted');
  }

  disconnect(rid: string, generation: number): void {
    this.links.delete(`${rid}/${generation}`);
    const intent = this.intents.get(`${rid}/${generation}`);
    if (intent?.state === 'admitted') intent.become('reconnecting');
    this.endpoints.linkClosed(rid);
  }

  shown(): string[] {
    return this.endpoints.all().map(({ rid, generation, intent }) => `${rid}/${generation} ${intent?.state ?? '-'}`);
  }

  #dial({ rid, generation, endpoint }: DialTarget, onState: () => void): Intent {
    this.dialled++;
    const intent = new PlayedIntent(endpoint, onState);
    this.intents.set(`${rid}/${generation}`, intent);
    return intent;
  }
}

interface Listed {
  readonly rid: string;
  readonly generation?: number;
  readonly isOwnerPresent?: boolean;
  readonly state?: ServerDescriptor['state'];
}

function view(listed: readonly Listed[], isCurrent = true): View<'clientServer'> {
  const endpoints = listed.map(({ rid, generation = 1, isOwnerPresent = true, state = 'serving' }) => {
    const descriptor: ServerDescriptor = {
      name: 'orders',
      rid,
      lifecycleGeneration: BigInt(generation),
      revision: 1n,
      endpoint: 'tcp://10.0.0.1:4000',
      protocol: { min: 1, max: 1 },
      ownerId: rid,
      leaseGeneration: 1n,
      state,
      weight: 100,
    };
    return [rid, { descriptor, isOwnerPresent }] as const;
  });
  return { endpoints: new Map(endpoints), isCurrent, problem: isCurrent ? undefined : 'store is away' };
}

test('[CS-002] every listed endpoint is dialled once, however often the view comes', () => {
  const played = new Played();
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b' }]));
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b' }]));
  expect(played.shown()).toEqual(['a/1 connecting', 'b/1 connecting']);
  expect(played.dialled).toBe(2);
});

test('[MESH-003] an endpoint that the other side dials is known and not dialled', () => {
  const played = new Played({ dials: ({ rid }) => rid > 'b' });
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'c' }]));
  expect(played.shown()).toEqual(['a/1 -', 'c/1 connecting']);
  expect([played.endpoints.knows('a'), played.endpoints.knows('z')]).toEqual([true, false]);
});

test('[LOC-063] an endpoint whose owner is absent is left out at once, keeps its link, and is not dialled again', () => {
  const played = new Played();
  played.endpoints.apply(view([{ rid: 'a' }]));
  played.connect('a', 1);
  expect(played.endpoints.whyLeftOut('a', 1n)).toBeUndefined();
  played.endpoints.apply(view([{ rid: 'a', isOwnerPresent: false }]));
  expect(played.endpoints.whyLeftOut('a', 1n)).toBe('ownerAbsent');
  expect(played.shown()).toEqual(['a/1 admitted']);
  played.disconnect('a', 1);
  expect(played.shown()).toEqual(['a/1 -']);
  played.endpoints.apply(view([{ rid: 'a' }]));
  expect(played.shown()).toEqual(['a/1 connecting']);
  expect(played.endpoints.whyLeftOut('a', 1n)).toBeUndefined();
});

test('[LOC-063] an endpoint that left the view stays left out while its link lives, whoever dialled it, and no longer', () => {
  const played = new Played({ dials: ({ rid }) => rid === 'mine' });
  played.endpoints.apply(view([{ rid: 'mine' }, { rid: 'theirs' }]));
  played.connect('mine', 1);
  played.links.add('theirs/1');
  played.endpoints.apply(view([]));
  expect(played.endpoints.whyLeftOut('mine', 1n)).toBe('gone');
  expect(played.endpoints.whyLeftOut('theirs', 1n)).toBe('gone');
  expect(played.endpoints.knows('mine')).toBe(false);
  played.disconnect('mine', 1);
  played.disconnect('theirs', 1);
  expect(played.shown()).toEqual([]);
  expect(played.intentOf('mine', 1).state).toBe('closed');
  expect(played.changed).toEqual(['mine', 'theirs', 'mine', 'theirs', 'mine', 'theirs']);
});

test('[LOC-064] after the grace a lost link stays lost until a complete view was read; within it, it is dialled', () => {
  const played = new Played();
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b' }]));
  played.connect('a', 1);
  played.connect('b', 1);
  played.disconnect('a', 1);
  expect(played.shown()).toEqual(['a/1 reconnecting', 'b/1 admitted']);
  played.connect('a', 1);
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b' }], false));
  expect(played.endpoints.problem).toBe('store is away');
  expect(played.endpoints.whyLeftOut('a', 1n)).toBeUndefined();
  played.disconnect('a', 1);
  expect(played.shown()).toEqual(['a/1 -', 'b/1 admitted']);
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b' }]));
  expect(played.shown()).toEqual(['a/1 connecting', 'b/1 admitted']);
});

test('[CS-009] a new generation is dialled while the link of the old one lives', () => {
  const played = new Played();
  played.endpoints.apply(view([{ rid: 'a', generation: 1 }]));
  played.connect('a', 1);
  played.endpoints.apply(view([{ rid: 'a', generation: 2 }]));
  expect(played.shown()).toEqual(['a/1 admitted', 'a/2 connecting']);
  expect(played.endpoints.whyLeftOut('a', 1n)).toBeUndefined(); // until the new one is verified
  played.connect('a', 2);
  played.disconnect('a', 1);
  expect(played.shown()).toEqual(['a/2 admitted']);
});

test('[MESH-003] why an endpoint is not used: one reason, and of several the first', () => {
  const played = new Played({ dials: ({ rid }) => rid !== 'theirs' });
  const reasons = (): string[] =>
    played.endpoints
      .all()
      .map((found) => `${found.rid}/${found.generation} ${played.endpoints.whyNotUsed(found) ?? '-'}`);
  played.endpoints.apply(view([{ rid: 'kept' }, { rid: 'new' }, { rid: 'left' }, { rid: 'theirs' }]));
  expect(reasons()).toEqual(['kept/1 -', 'new/1 -', 'left/1 -', 'theirs/1 undialled']);
  for (const rid of ['kept', 'new', 'left']) played.connect(rid, 1);
  const listed: Listed[] = [{ rid: 'new', generation: 2 }, { rid: 'late' }];
  played.endpoints.apply(view([{ rid: 'kept', state: 'draining' }, ...listed], false));
  const others = ['new/1 superseded', 'new/2 undialled', 'left/1 gone', 'late/1 undialled'];
  expect(reasons()).toEqual(['kept/1 draining', ...others]);
  played.endpoints.apply(view([{ rid: 'kept', state: 'draining', isOwnerPresent: false }, ...listed], false));
  expect(reasons()).toEqual(['kept/1 ownerAbsent', ...others]);
  played.endpoints.apply(view([], false));
  expect(reasons()).toEqual(['kept/1 ownerAbsent', 'new/1 gone', 'left/1 gone']);
});

test('[CS-004] an endpoint that drains is not dialled; one that is not connected yet is given up', () => {
  const played = new Played();
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b', state: 'draining' }]));
  expect(played.shown()).toEqual(['a/1 connecting', 'b/1 -']);
  played.endpoints.apply(
    view([
      { rid: 'a', state: 'draining' },
      { rid: 'b', state: 'draining' },
    ]),
  );
  expect(played.shown()).toEqual(['a/1 -', 'b/1 -']);
});

test('[HOST-006] close withdraws every intent', async () => {
  const played = new Played();
  played.endpoints.apply(view([{ rid: 'a' }, { rid: 'b' }]));
  played.connect('a', 1);
  await played.endpoints.close(100);
  expect([...played.intents.values()].map(({ state }) => state)).toEqual(['closed', 'closed']);
  expect(played.shown()).toEqual([]);
});

const listed = fc.record({
  rid: fc.constantFrom('a', 'b', 'c'),
  generation: fc.integer({ min: 1, max: 2 }),
  isOwnerPresent: fc.boolean(),
  state: fc.constantFrom<ServerDescriptor['state']>('starting', 'serving', 'draining'),
});
const step = fc.oneof(
  fc.record({ kind: fc.constant('view' as const), listed: fc.array(listed), isCurrent: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom('up' as const, 'down' as const),
    rid: listed.map(({ rid }) => rid),
    generation: fc.integer({ min: 1, max: 2 }),
  }),
);

test('[LOC-064] whatever views and links do: allowed means one intent, not allowed means none without a link', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const played = new Played();
      let last = view([]);
      for (const next of steps) {
        if (next.kind === 'view') played.endpoints.apply((last = view(next.listed, next.isCurrent)));
        else if (next.kind === 'down') played.disconnect(next.rid, next.generation);
        else if (played.intents.get(`${next.rid}/${next.generation}`)?.state !== 'closed') {
          if (played.intents.has(`${next.rid}/${next.generation}`)) played.connect(next.rid, next.generation);
        }
        const shown = played.endpoints.all();
        expect(new Set(shown.map(({ rid, generation }) => `${rid}/${generation}`)).size).toBe(shown.length);
        for (const { rid, generation, intent } of shown) {
          const found = last.endpoints.get(rid);
          const isListed = found?.descriptor.lifecycleGeneration === generation;
          const isAllowed = isListed && last.isCurrent && found.isOwnerPresent && found.descriptor.state !== 'draining';
          if (isAllowed) expect(intent?.state).not.toBe('closed');
          if (isAllowed) expect(intent).toBeDefined();
          else if (intent !== undefined) expect(intent.state).toBe('admitted');
          expect(isListed || played.links.has(`${rid}/${generation}`)).toBe(true); // nothing is kept for its own sake
          const why = played.endpoints.whyLeftOut(rid, generation);
          if (isListed) expect(why).toBe(found.isOwnerPresent ? undefined : 'ownerAbsent');
          else if (found === undefined) expect(why).toBeDefined();
        }
      }
    }),
    { numRuns: 500 },
  );
});
