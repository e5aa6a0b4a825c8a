import fc from 'fast-check';
import { PeerIndex } from '../../../src/internal/link/peer-index.ts';
import type { PhysicalLink } from '../../../src/internal/link/physical-link.ts';
import type { DuplicatePolicy, LinkPhase, PeerFacts } from '../../../src/internal/transport/index.ts';

const factsOf = (rid: string, generation = 1n, endpoint = `tcp://${rid}:1`): PeerFacts => ({
  scope: 'world',
  rid,
  generation,
  endpoint,
  securityIdentity: undefined,
  maxMessageBytes: 0,
});

/** As much of a link as the index looks at. */
interface StandIn {
  readonly peer: PeerFacts;
  readonly dialed: boolean;
  readonly connection: number;
  phase: LinkPhase;
}

const asLink = (link: StandIn): PhysicalLink => link as unknown as PhysicalLink; // the index reads nothing else

/** One node of a mesh: index and links, with the verdicts carried out as dialer and listener do. */
class Node {
  readonly rid: string;
  readonly index: PeerIndex;
  readonly links: StandIn[] = [];

  constructor(rid: string, policy: DuplicatePolicy = 'smallerRid') {
    this.rid = rid;
    this.index = new PeerIndex(policy, rid);
  }

  get open(): StandIn[] {
    return this.links.filter((link) => link.phase === 'open');
  }

  /** Judges a greeting; undefined: the connection ends here. */
  greet(peer: PeerFacts, dialed: boolean, connection: number): StandIn | undefined {
    const verdict = this.index.judge(peer, dialed);
    if (verdict.kind === 'refuse' || verdict.kind === 'duplicate') return undefined;
    const link: StandIn = { peer, dialed, connection, phase: 'open' };
    this.links.push(link);
    const replaces = verdict.kind === 'admit' ? verdict.replaces : undefined;
    this.index.add(asLink(link), replaces);
    if (verdict.kind === 'admitBriefly') {
      if (verdict.ender === 'self') link.phase = 'finishing';
    } else for (const other of verdict.ends) (other as unknown as StandIn).phase = 'finishing'; // as made by asLink
    return link;
  }

  close(connection: number): void {
    const at = this.links.findIndex((link) => link.connection === connection);
    const [link] = at < 0 ? [] : this.links.splice(at, 1);
    if (link === undefined) return;
    link.phase = 'closed';
    this.index.remove(asLink(link));
  }
}

interface Connection {
  readonly from: Node;
  readonly to: Node;
  readonly id: number;
  stage: 'dialed' | 'admitted' | 'answered' | 'over';
}

/** The next thing that happens on a connection: the hello arrives, or the admit does. */
function proceed(connection: Connection): void {
  const { from, to, id, stage } = connection;
  if (stage === 'dialed') {
    connection.stage = to.greet(factsOf(from.rid), false, id) === undefined ? 'over' : 'admitted';
  } else if (stage === 'admitted') {
    connection.stage = from.greet(factsOf(to.rid), true, id) === undefined ? 'over' : 'answered';
    if (connection.stage === 'over') to.close(id); // the rejection that follows an admit ends it there
  }
}

/** A link that finishes at one end finishes at the other and closes at both. */
function letFinishingEnd(connections: readonly Connection[]): boolean {
  let moved = false;
  for (const connection of connections) {
    const { from, to, id, stage } = connection;
    const isFinishing = [from, to].some((node) =>
      node.links.some((l) => l.connection === id && l.phase === 'finishing'),
    );
    if (stage !== 'answered' || !isFinishing) continue;
    for (const node of [from, to]) node.close(id);
    connection.stage = 'over';
    moved = true;
  }
  return moved;
}

const openIds = (node: Node): number[] => node.open.map((link) => link.connection);

/** Runs the connections in the given order of choices until nothing is left to happen; a node with a link always has one. */
function play(connections: readonly Connection[], choices: readonly number[]): void {
  const nodes = new Set(connections.flatMap(({ from, to }) => [from, to]));
  const connected = new Set<Node>();
  const look = (): void => {
    for (const node of nodes) {
      if (node.open.length > 0) connected.add(node);
      else expect([node.rid, connected.has(node)]).toEqual([node.rid, false]);
    }
  };
  let at = 0;
  for (;;) {
    const live = connections.filter(({ stage }) => stage === 'dialed' || stage === 'admitted');
    if (live.length === 0) break;
    const choice = choices[at++ % choices.length] ?? 0;
    if (choice % 5 === 4) letFinishingEnd(connections);
    look();
    proceed(live[choice % live.length] as Connection); // not empty
    look();
  }
  while (letFinishingEnd(connections)) look();
}

test('[CORE-010] in every order of two crossing dials, both nodes keep the link of the smaller RID', () => {
  for (let order = 0; order < 64; order++) {
    const [small, large] = [new Node('a'), new Node('b')];
    const connections: Connection[] = [
      { from: small, to: large, id: 1, stage: 'dialed' },
      { from: large, to: small, id: 2, stage: 'dialed' },
    ];
    play(connections, [
      order & 1,
      (order >> 1) & 1,
      (order >> 2) & 1,
      order & 8 ? 4 : 0,
      order & 16 ? 5 : 1,
      order & 32 ? 4 : 1,
    ]);
    expect([order, openIds(small), openIds(large)]).toEqual([order, [1], [1]]);
  }
});

test('[CORE-010] whatever dials cross in whatever order, both nodes end with the same single link', () => {
  const rid = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      fc.uniqueArray(rid, { minLength: 2, maxLength: 2 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(99), { minLength: 1, maxLength: 40, size: 'max' }),
      ([one = '', other = ''], dials, choices) => {
        const nodes = [new Node(one), new Node(other)] as const;
        const connections = dials.map((forth, id): Connection => {
          const [from, to] = forth ? nodes : [nodes[1], nodes[0]];
          return { from, to, id, stage: 'dialed' };
        });
        play(connections, choices);
        expect(openIds(nodes[0])).toHaveLength(1);
        expect(openIds(nodes[1])).toEqual(openIds(nodes[0]));
        const kept = connections.find(({ id }) => id === openIds(nodes[0])[0]);
        const smaller = Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0 ? nodes[0] : nodes[1];
        // Who dials alone is kept, whatever its RID.
        if (new Set(dials).size === 2) expect(kept?.from).toBe(smaller);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('[CORE-010] RIDs are compared by their bytes, not by their UTF-16 units', () => {
  const beyond = '\u{10000}'; // f0 90 80 80, though its first unit d800 is below e000
  const [small, large] = [new Node('\ue000'), new Node(beyond)];
  play(
    [
      { from: small, to: large, id: 1, stage: 'dialed' },
      { from: large, to: small, id: 2, stage: 'dialed' },
    ],
    [0, 1],
  );
  expect([openIds(small), openIds(large)]).toEqual([[1], [1]]);
});

test('[CORE-010] a client keeps the link admitted first, and a further one to the same server rests', () => {
  const client = new Node('client', 'firstAdmitted');
  const first = client.greet(factsOf('server'), true, 1);
  expect(client.index.judge(factsOf('server'), true)).toEqual({ kind: 'duplicate', of: first });
  expect(client.index.judge(factsOf('another'), true).kind).toBe('admit');
  client.close(1);
  expect(client.greet(factsOf('server'), true, 2)).toBeDefined();
});

test('[CORE-010] a server admits every link of a client: duplicates are the client’s to judge', () => {
  const server = new Node('server', 'every');
  for (let id = 0; id < 3; id++) expect(server.greet(factsOf('client', BigInt(id)), false, id)).toBeDefined();
  expect(openIds(server)).toEqual([0, 1, 2]);
  server.close(2);
  expect(server.index.judge(factsOf('client', 0n), false).kind).toBe('admit');
});

const policies = ['firstAdmitted', 'smallerRid'] as const;

test.each(policies)(
  '[CS-009] a new generation replaces the link of the old one, which is refused from then on (%s)',
  (policy) => {
    const node = new Node('node', policy);
    const old = node.greet(factsOf('peer', 9n), true, 1);
    const fresh = node.greet(factsOf('peer', 3n), true, 2);
    expect([old?.phase, fresh?.phase]).toEqual(['finishing', 'open']);
    for (const moment of ['while the old link ends', 'after it has']) {
      const verdict = node.index.judge(factsOf('peer', 9n), true);
      expect([moment, verdict.kind]).toEqual([moment, 'refuse']);
      node.close(1);
    }
    node.close(2);
    expect(node.index.judge(factsOf('peer', 9n), true).kind).toBe('refuse');
    expect(node.index.judge(factsOf('peer', 3n), true).kind).toBe('admit');
  },
);

test.each(policies)(
  '[CS-009] a generation whose link had ended before the newer one came does not return either (%s)',
  (policy) => {
    const node = new Node('node', policy);
    node.greet(factsOf('peer', 9n), true, 1);
    node.close(1);
    expect(node.greet(factsOf('peer', 3n), true, 2)).toBeDefined();
    expect(node.index.judge(factsOf('peer', 9n), true).kind).toBe('refuse');
    expect(node.index.judge(factsOf('peer', 9n), false).kind).toBe('refuse');
  },
);

test.each(policies)('[CS-009] a generation may come back as long as no other was admitted (%s)', (policy) => {
  const node = new Node('node', policy);
  for (let id = 0; id < 5; id++) {
    expect(node.greet(factsOf('peer', 9n), true, id)).toBeDefined();
    node.close(id);
  }
});

test('[CS-009] what is remembered of peers that are gone is bounded, and the most recent ones are among it', () => {
  const node = new Node('node');
  const count = 10_000;
  for (let at = 0; at < count; at++) {
    node.greet(factsOf(`peer ${at}`, 1n), false, 2 * at);
    node.greet(factsOf(`peer ${at}`, 2n), false, 2 * at + 1);
    node.close(2 * at);
    node.close(2 * at + 1);
  }
  const isRefused = (at: number): boolean => node.index.judge(factsOf(`peer ${at}`, 1n), false).kind === 'refuse';
  expect([isRefused(count - 1), isRefused(count - 4_000)]).toEqual([true, true]);
  expect([isRefused(0), isRefused(count - 5_000)]).toEqual([false, false]);
});

test('[CORE-010] a living link is found by RID or by the address that its peer advertises', () => {
  const node = new Node('node');
  const link = node.greet(factsOf('peer', 1n, 'tcp://peer:7'), false, 1);
  expect(node.index.find('peer', '')).toBe(link);
  expect(node.index.find(undefined, 'tcp://peer:7')).toBe(link);
  expect(node.index.find('other', 'tcp://peer:8')).toBeUndefined();
  node.close(1);
  expect(node.index.find('peer', 'tcp://peer:7')).toBeUndefined();
});

test.each([true, false])(
  '[CORE-010] on a mesh a link that takes no new work is replaced by the next one, whoever dials it (dialled here: %p)',
  (dialed) => {
    const node = new Node('b');
    const peer = factsOf('a');
    const old = node.greet(peer, true, 1);
    if (old === undefined) throw new Error('the first link is admitted');
    old.phase = 'finishing';
    expect(node.index.judge(peer, dialed)).toEqual({ kind: 'admit', replaces: old, ends: [] });
    expect(node.greet(peer, dialed, 2)?.phase).toBe('open');
  },
);
