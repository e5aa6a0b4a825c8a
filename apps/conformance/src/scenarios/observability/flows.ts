/** TRACE-020 to TRACE-023 and TRACE-026: what belongs together over several hosts. */
import assert from 'node:assert/strict';
import type { DiagnosticsLevel, Flow } from '@zlink/framework';
import { CHANNEL, FEED } from '../../contracts.ts';
import type { CallPlan } from '../../roles/plan.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const flows: readonly Scenario[] = [
  {
    ids: ['TRACE-020'],
    title: 'correlations of pending requests are short, unique texts at every level, and match each reply',
    run: async (stage) => {
      for (const level of ['off', 'errors'] as const) {
        const setup = { options: { diagnostics: { level } } };
        const server = await stage.server('server', { concurrency: 300 }, setup);
        const client = await stage.client([server], {}, setup);
        const pending = client.ask('calls.burst', { ...stage.toServers, payload: { act: 'hold' } }, 200);
        const journal = await server.seen(200, 'begun');
        const ids = journal.map(({ context }) => context?.correlationId ?? '');
        assert.equal(new Set(ids).size, 200);
        for (const id of ids) assert.match(id, /^[\x21-\x7e]{1,64}$/);
        await server.ask('handlers.release');
        const { ends, mixedUp } = await pending;
        assert.deepEqual([ends, mixedUp], [{ ok: 200 }, 0]);
        await client.call({ ...stage.toServers, verb: 'send' });
        const [note] = (await server.seen(201, 'begun')).slice(-2).filter(({ what }) => what === 'begun');
        assert.equal(note?.context?.correlationId, undefined, 'a send has none');
      }
    },
  },
  {
    ids: ['TRACE-021', 'TRACE-022', 'TRACE-026'],
    title: 'calls with a handler’s signal keep its flow over three hosts, with a correlation each; others begin one',
    run: async (stage) => {
      const { client, middle, last } = await chain(stage, ['errors', 'errors', 'errors']);
      const [joined, bare] = [await pass(client, middle, last, 'relay'), await pass(client, middle, last, 'bareRelay')];
      for (const [first, second] of [joined, bare]) {
        for (const flow of [first, second]) assert.match(flow?.id ?? '', uuid7);
        assert.deepEqual([first?.origin, second?.origin], ['application', 'application']);
      }
      assert.deepEqual(joined[0], joined[1]);
      assert.notEqual(bare[0]?.id, bare[1]?.id);
      assert.notEqual(bare[0]?.id, joined[0]?.id);
    },
  },
  {
    ids: ['TRACE-021', 'TRACE-022'],
    title: 'what a service calls with its signal while its host starts is a flow of origin lifecycle',
    run: async (stage) => {
      const server = await stage.server('server');
      await stage.start('starting', [
        { role: 'client', connect: [server.endpoint] },
        { role: 'service', name: 'caller', callsAtStart: stage.toServers },
      ]);
      const [asked] = await server.seen(1, 'begun');
      assert.equal(asked?.context?.flow?.origin, 'lifecycle');
      assert.match(asked.context.flow.id, uuid7);
    },
  },
  {
    ids: ['TRACE-010', 'TRACE-022'],
    title: 'a host at off reads, makes and forwards no flow: the next one begins another',
    run: async (stage) => {
      const { client, middle, last } = await chain(stage, ['errors', 'off', 'errors']);
      const [dark, begun] = await pass(client, middle, last, 'relay');
      assert.equal(dark, undefined);
      assert.match(begun?.id ?? '', uuid7);
      assert.equal(begun?.origin, 'inbound');
      await middle.ask('running.setLevel', 'normal');
      const [seen, kept] = await pass(client, middle, last, 'relay');
      assert.equal(seen?.origin, 'application');
      assert.deepEqual(kept, seen);
    },
  },
  {
    ids: ['TRACE-023', 'TRACE-022'],
    title: 'a flow travels with calls to channels, meshes and nodes and with events, apart from their metadata',
    run: async (stage) => {
      const server = await stage.start('server', [
        { role: 'server' },
        nodePlan(stage, 'server'),
        { role: 'publisher' },
      ]);
      const client = await stage.start('client', [
        { role: 'client', connect: [server.endpoint] },
        nodePlan(stage, 'client', [server], { channels: [{}] }),
        { role: 'subscriber', connect: [server.feedEndpoint], handlers: 2 },
      ]);
      await Promise.all([client.ask('servers.ready', 1), client.ask('peers.ready', 1)]);
      const metadata = [['user', 'x'.repeat(1_000)]] as const;
      let calls = 0;
      for (const to of [stage.toServers.to, stage.toNodes.to, { rid: 'server' }]) {
        await client.reply({ to, metadata });
        assert.ok((await client.call({ to, metadata, verb: 'send' })).ok);
        calls += 2;
      }
      const contexts = (await server.seen(calls, 'begun')).flatMap(({ context }) => context ?? []);
      for (const { flow, metadata: seen } of contexts) {
        assert.deepEqual([flow?.origin, seen], ['application', [...metadata.map((entry) => [...entry])]]);
      }
      assert.equal(new Set(contexts.map(({ flow }) => flow?.id)).size, calls, 'each call begins its own');
      await server.ask('feeds.subscribersReady', FEED, 1);
      assert.ok((await server.ask('feeds.publish', FEED, { topic: 'one' })).ok);
      const heard = (await client.seen(2, 'begun')).flatMap(({ context }) => context ?? []);
      assert.equal(new Set(heard.map(({ flow }) => flow?.id)).size, 1, 'both handlers of an event have its flow');
      assert.equal(heard[0]?.flow?.origin, 'application');
    },
  },
];

interface Chain {
  readonly client: HostHandle;
  readonly middle: HostHandle;
  readonly last: HostHandle;
}

async function chain(
  stage: Stage,
  levels: readonly [DiagnosticsLevel, DiagnosticsLevel, DiagnosticsLevel],
): Promise<Chain> {
  const setups = levels.map((level) => ({ options: { diagnostics: { level } } }));
  const last = await stage.server('last', { channel: 'far' }, setups[2]);
  const middle = await stage.start(
    'middle',
    [{ role: 'server' }, { role: 'client', channel: 'far', connect: [last.endpointOf('far')] }],
    setups[1],
  );
  await middle.ask('servers.ready', 1, 'far');
  return { client: await stage.client([middle], {}, setups[0]), middle, last };
}

/** A call that passes all three: the flows that both handlers saw. Each of its requests has a correlation of its own. */
async function pass(
  client: HostHandle,
  middle: HostHandle,
  last: HostHandle,
  act: 'relay' | 'bareRelay',
): Promise<readonly [Flow | undefined, Flow | undefined]> {
  const onward: CallPlan = { to: { channel: 'far' }, payload: { mark: act } };
  const call = client.reply({ to: { channel: CHANNEL }, payload: { act, text: JSON.stringify(onward) } });
  const begun = (await middle.ask('handlers.journal')).filter(({ what }) => what === 'begun').length;
  if (act === 'bareRelay') {
    await middle.seen(Math.max(begun, 2), 'begun');
    await middle.ask('handlers.release');
  }
  await call;
  const [one, two] = [await lastBegun(middle), await lastBegun(last)];
  assert.ok(one?.correlationId !== undefined && two?.correlationId !== undefined);
  return [one.flow, two.flow];
}

async function lastBegun(host: HostHandle) {
  return (await host.ask('handlers.journal')).findLast(({ what }) => what === 'begun')?.context;
}
