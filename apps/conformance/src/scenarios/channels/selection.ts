/** CHAN and WRR: which server a call goes to. */
import assert from 'node:assert/strict';
import { CHANNEL, MESH_CHANNEL } from '../../contracts.ts';
import { stores } from '../../matrix.ts';
import type { CallPlan } from '../../roles/plan.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import type { Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

/** Plain smooth weighted round robin over names in the order of their identifiers. */
class PlainOrder {
  #accumulated = new Map<string, number>();
  #weights: ReadonlyMap<string, number>;

  constructor(weights: Record<string, number>) {
    this.#weights = new Map(Object.entries(weights).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    this.change(weights);
  }

  /** Who stays keeps its accumulator, newcomers begin at 0. */
  change(weights: Record<string, number>): void {
    this.#weights = new Map(Object.entries(weights).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    this.#accumulated = new Map([...this.#weights.keys()].map((name) => [name, this.#accumulated.get(name) ?? 0]));
  }

  next(): string {
    let chosen = '';
    let total = 0;
    for (const [name, weight] of this.#weights) {
      total += weight;
      const sum = (this.#accumulated.get(name) ?? 0) + weight;
      this.#accumulated.set(name, sum);
      if (chosen === '' || sum > (this.#accumulated.get(chosen) ?? 0)) chosen = name;
    }
    this.#accumulated.set(chosen, (this.#accumulated.get(chosen) ?? 0) - total);
    return chosen;
  }

  take(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.next());
  }
}

/** Nodes, or servers with fixed RIDs, under these names and weights, and a client that has seen none of them serve yet. */
async function fleet(
  stage: Stage,
  path: 'mesh' | 'servers',
  weights: Record<string, number>,
): Promise<{ readonly servers: readonly HostHandle[]; readonly client: HostHandle }> {
  const names = Object.keys(weights);
  const servers = await Promise.all(
    names.map((name) =>
      path === 'mesh'
        ? stage.node(name, [], { channels: [{ weight: weights[name] ?? 0 }] })
        : stage.server(name, { weight: weights[name] ?? 0, routingId: name }),
    ),
  );
  const client =
    path === 'mesh' ? await stage.node('client', servers, { channels: [{}] }) : await stage.client(servers);
  return { servers, client };
}

const planOf = (path: 'mesh' | 'servers') => ({ to: { channel: path === 'mesh' ? MESH_CHANNEL : CHANNEL } });

function orderScenario(path: 'mesh' | 'servers'): Scenario {
  const where = path === 'mesh' ? 'on a mesh' : 'of client and servers';
  return {
    ids: ['WRR-001', 'WRR-003', 'WRR-004', 'WRR-005', path === 'mesh' ? 'CHAN-002' : 'CHAN-003'],
    title: `the order ${where} is that of smooth weighted round robin, call by call`,
    over: { store: path === 'mesh' ? ['manual'] : stores },
    run: async (stage) => {
      for (const weights of [
        { a: 5, ab: 1, b: 1 },
        { a: 7, b: 3, c: 10_000 },
      ] as readonly Record<string, number>[]) {
        const named = Object.fromEntries(
          Object.entries(weights).map(([name, weight], at) => [`${name}${Object.keys(weights).length}${at}`, weight]),
        );
        const { servers, client } = await fleet(stage, path, named);
        // Becoming ready one by one changes the list, which changes no accumulator before the first call.
        const { by } = await client.ask('calls.burst', planOf(path), 200);
        assert.deepEqual(by, new PlainOrder(named).take(200), JSON.stringify(named));
        await Promise.all([client, ...servers].map((host) => host.shutdown()));
      }
    },
  };
}

export const selection: readonly Scenario[] = [
  {
    ids: ['WRR-001', 'WRR-005'],
    title: 'weights 100 and 300 choose B, A, B, B; equal weights take turns, the smaller identifier first',
    run: async (stage) => {
      const uneven = await fleet(stage, 'mesh', { A: 100, B: 300 });
      assert.deepEqual((await uneven.client.ask('calls.burst', stage.toNodes, 8)).by, ['B', 'A', 'B', 'B', 'B', 'A', 'B', 'B']); // prettier-ignore
      const even = await fleet(stage, 'servers', { x: 50, xx: 50 });
      assert.deepEqual((await even.client.ask('calls.burst', stage.toServers, 4)).by, ['x', 'xx', 'x', 'xx']);
    },
  },
  orderScenario('mesh'),
  orderScenario('servers'),
  {
    ids: ['WRR-002', 'WRR-004', 'CS-011'],
    title: 'a list that changes mid-way keeps the accumulators of those who stay',
    run: async (stage) => {
      const weights: Record<string, number> = { a: 100, b: 300, c: 50 };
      const { servers, client } = await fleet(stage, 'servers', weights);
      const order = new PlainOrder(weights);
      const expectNext = async (count: number, what: string): Promise<void> => {
        const { by } = await client.ask('calls.burst', stage.toServers, count);
        assert.deepEqual(by, order.take(count), what);
      };
      await expectNext(7, 'the first list');
      const [a, b] = servers;
      assert.ok(a && b);
      await a.ask('servers.setWeight', 250);
      await client.servers(
        (rows) => rows.some(({ routingId, weight }) => routingId === 'a' && weight === 250),
        'sees 250',
      );
      order.change({ a: 250, b: 300, c: 50 });
      await expectNext(9, 'with a new weight');
      await b.ask('servers.setWeight', 0);
      await client.servers((rows) => rows.some(({ routingId, weight }) => routingId === 'b' && weight === 0), 'sees 0');
      order.change({ a: 250, c: 50 });
      await expectNext(5, 'without one');
      await b.ask('servers.setWeight', 300);
      await client.servers(
        (rows) => rows.some(({ routingId, weight }) => routingId === 'b' && weight === 300),
        'sees 300',
      );
      order.change({ a: 250, b: 300, c: 50 });
      await expectNext(20, 'with it again, from 0');
    },
  },
  {
    ids: ['CHAN-001', 'HOSTREG-002'],
    title: 'a channel name leads to its one path in this process; an unknown one is searched for nowhere',
    run: async (stage) => {
      const server = await stage.start('server', [
        { role: 'server', channel: 'known to the server' },
        { role: 'server' },
      ]);
      const client = await stage.client([server]);
      const { ms, submitted } = await client.refusal({ to: { channel: 'known to the server' } }, 'NotFound');
      assert.ok(ms < 4_000 && submitted === false); // it has not waited for a first server
      await client.refusal({ to: { channel: 'nowhere' }, verb: 'send' }, 'NotFound');
      assert.equal((await server.counters('known to the server', 'request')).accepted, 0);
    },
  },
  {
    ids: ['CHAN-002', 'CALL-005'],
    title: 'on a mesh nobody to call is NotFound at once, and the own node is never called',
    run: async (stage) => {
      const lone = await stage.node('lone');
      const { ms } = await lone.refusal(stage.toNodes, 'NotFound');
      assert.ok(ms < 4_000, `it took ${ms} ms`); // it has waited neither for a first server nor for its send timeout
      const idle = await stage.node('idle', [lone], { channels: [{ weight: 0 }] });
      await lone.refusal(stage.toNodes, 'NotFound');
      assert.equal((await idle.reply(stage.toNodes)).by, 'lone');
    },
  },
  {
    ids: ['CHAN-003', 'CALL-003'],
    title: 'a call without a ready server waits up to its timeout, then is NotFound; a send, too',
    run: async (stage) => {
      const client = await stage.dialing(['tcp://127.0.0.1:1'], { requestTimeoutMs: 500 });
      const request = await client.refusal({ ...stage.toServers, timeoutMs: 300 }, 'NotFound');
      assert.ok(request.ms >= 280 && request.ms < 4_500, `it took ${request.ms} ms`);
      const send = await client.refusal({ ...stage.toServers, verb: 'send' }, 'NotFound');
      assert.ok(send.ms >= 480 && send.ms < 4_500, `it took ${send.ms} ms`);
      const waiting = await client.begin({ ...stage.toServers, timeoutMs: 20_000 });
      await waiting.abort();
      const end = await waiting.end;
      assert.ok(!end.ok && end.error.name === 'AbortError');
    },
  },
  {
    ids: ['CHAN-003'],
    title: 'the wait for a first server ends after 5 s at most, and with the first server',
    isSlow: true,
    run: async (stage) => {
      const client = await stage.dialing(['tcp://127.0.0.1:1'], {}, {});
      const { ms } = await client.refusal({ ...stage.toServers, timeoutMs: 20_000 }, 'NotFound');
      assert.ok(ms >= 4_800 && ms < 18_000, `it took ${ms} ms`);
      const waiting = await client.begin({ ...stage.toServers, timeoutMs: 20_000 });
      const end = client.shutdown();
      const waited = await waiting.end;
      assert.ok(!waited.ok && waited.error.kind === 'ShuttingDown');
      assert.ok((await end).ok);
    },
  },
  {
    ids: ['CHAN-003', 'CS-002', 'CS-001'],
    title: 'a server of the own process is a candidate like any other, over its socket',
    over: { store: stores },
    run: async (stage) => {
      const remote = await stage.server('remote');
      const both = await stage.start('both', [
        { role: 'server' },
        { role: 'client', connect: stage.isDiscovering ? [] : [remote.endpoint] },
      ]);
      await both.ask('servers.ready', 2);
      const rows = await both.ask('servers.list');
      assert.deepEqual(rows.map(({ local }) => local).sort(), [false, true]);
      const { by } = await both.ask('calls.burst', stage.toServers, 100);
      assert.equal(by.filter((name) => name === 'both').length, 50);
      assert.equal(by.filter((name) => name === 'remote').length, 50);
    },
  },
  {
    ids: ['CHAN-004', 'CALL-004', 'FAIL-003'],
    title: 'a request that was submitted is never tried at another server',
    run: async (stage) => {
      const { servers, client } = await fleet(stage, 'servers', { a: 100, b: 100 });
      const [a, b] = servers;
      assert.ok(a && b);
      const burst = client.ask('calls.burst', { ...stage.toServers, payload: { mark: 'once', act: 'hold' } }, 100);
      await Promise.all([a.seen(50, 'begun'), b.seen(50, 'begun')]);
      await a.process.kill();
      const marksOfB = (await b.ask('handlers.journal')).filter(({ what }) => what === 'begun').map(({ mark }) => mark);
      assert.equal(await b.ask('handlers.release'), 50);
      const { ends, by } = await burst;
      assert.deepEqual(ends, { ok: 50, Unavailable: 50 });
      assert.equal(by.filter((name) => name === 'b').length, 50);
      assert.equal(new Set(marksOfB).size, 50);
      assert.equal((await b.counters(CHANNEL, 'request')).accepted, 50, 'nothing came to it afterwards');
    },
  },
  {
    ids: ['CHAN-005', 'MSG-012', 'DISP-003'],
    title:
      'a handler’s own call has its own deadline and correlation, ends with its handler, and is no packet to the caller',
    run: async (stage) => {
      const far = await stage.server('far');
      const near = await stage.start('near', [
        { role: 'server', channel: 'near' },
        { role: 'client', connect: [far.endpoint] },
      ]);
      const client = await stage.start('client', [
        { role: 'client', channel: 'near', connect: [near.facts.listeners[0]?.endpoint ?? ''] },
      ]);
      await Promise.all([near.ask('servers.ready', 1), client.ask('servers.ready', 1, 'near')]);
      const relay = (payload: object): CallPlan => ({
        to: { channel: 'near' },
        payload: { act: 'relay', text: JSON.stringify({ ...stage.toServers, payload }) },
      });
      assert.equal((await client.reply(relay({ mark: 'chain' }))).text, 'far');
      const begun = await client.begin(relay({ mark: 'cut', act: 'hold' }));
      await far.seen(2, 'begun');
      await begun.abort();
      await begun.end;
      await far.seen(1, 'aborted'); // the signal has passed through two processes
      const outer = (await near.ask('handlers.journal'))[0]?.context?.correlationId;
      const inner = (await far.ask('handlers.journal'))[0]?.context?.correlationId;
      assert.ok(outer !== undefined && inner !== undefined);
    },
  },
  {
    ids: ['CHAN-006', 'WRR-001'],
    title: 'every message travels on the link of the server that was chosen, under load, too',
    run: async (stage) => {
      const { servers, client } = await fleet(stage, 'servers', { a: 100, b: 200, c: 700 });
      const plan = { ...stage.toServers, verb: 'send' } as const;
      const { ends } = await client.ask('calls.burst', plan, 1_000);
      assert.deepEqual(ends, { ok: 1_000 });
      const expected = [100, 200, 700];
      for (const [at, server] of servers.entries()) {
        await server.counted(CHANNEL, 'send', ({ handled }) => handled === expected[at], `handles ${expected[at]}`);
      }
    },
  },
];
