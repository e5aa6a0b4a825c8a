/** DISP: contexts, order, filters and scopes. */
import assert from 'node:assert/strict';
import { CHANNEL, FEED, MESH, MESH_CHANNEL } from '../../contracts.ts';
import type { FilterPlan, JournalEntry } from '../../roles/plan.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

const filter = (name: string, behaviour: FilterPlan['behaviour'] = 'pass', asClass = false): FilterPlan => ({
  role: 'filter',
  name,
  behaviour,
  asClass,
});

const steps = (journal: readonly JournalEntry[]): readonly string[] =>
  journal.map(({ owner, what }) => `${owner.replace('filter ', '')} ${what}`);

export const dispatch: readonly Scenario[] = [
  {
    ids: ['DISP-003', 'DISP-001'],
    title: 'contexts show logical facts of their kind of dispatch, and none about sockets or selection',
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host')]);
      const client = await stage.start('client', [
        { role: 'client', connect: [host.endpoint] },
        nodePlan(stage, 'client', [host], { channels: [{}] }),
      ]);
      await Promise.all([client.ask('servers.ready', 1), client.ask('peers.ready', 1)]);
      for (const to of [{ channel: CHANNEL }, { channel: MESH_CHANNEL }, { rid: 'host' }]) {
        await client.reply({ to });
        assert.ok((await client.call({ to, verb: 'send' })).ok);
        await client.reply({ to });
      }
      const begun = (await host.seen(9, 'begun')).filter(({ what }) => what === 'begun');
      const shared = ['contentType', 'correlationId', 'flow', 'kind', 'metadata', 'packetName', 'signal'];
      for (const { owner, context } of begun) {
        assert.ok(context);
        const own = owner === 'node' ? ['meshName', 'sourceNodeRid', 'targetNodeRid'] : ['channelName'];
        assert.deepEqual(context.keys, [...shared, ...own].sort(), owner);
        assert.equal(context.hasSignal, true);
        assert.equal(context.kind === 'request', context.correlationId !== undefined);
        if (owner === 'node') {
          assert.deepEqual([context.meshName, context.sourceNodeRid, context.targetNodeRid], [MESH, 'client', 'host']);
        } else assert.equal(context.channelName, owner === 'server' ? CHANNEL : MESH_CHANNEL);
      }
      const ids = begun.flatMap(({ context }) => context?.correlationId ?? []);
      assert.equal(new Set(ids).size, 6, 'each request has its own');
    },
  },
  {
    ids: ['DISP-005', 'CORE-002', 'C04'],
    title: 'handlers start in order of arrival, one at a time with concurrency 1',
    run: async (stage) => {
      const server = await stage.server('server', { concurrency: 1 });
      const client = await stage.client([server]);
      const { ends } = await client.ask('calls.burst', { ...stage.toServers, payload: { mark: 'm' } }, 300);
      assert.deepEqual(ends, { ok: 300 });
      const journal = await server.ask('handlers.journal');
      assert.deepEqual(
        journal.map(({ what, mark }) => `${what} ${mark}`),
        Array.from({ length: 300 }, (_, number) => [`begun m-${number}`, `ended m-${number}`]).flat(),
      );
    },
  },
  {
    ids: ['DISP-005'],
    title: 'handlers overlap up to the set concurrency and no further',
    run: async (stage) => {
      const server = await stage.server('server', { concurrency: 3 });
      const client = await stage.client([server]);
      const burst = client.ask('calls.burst', { ...stage.toServers, payload: { act: 'hold' } }, 10);
      await server.seen(3, 'begun');
      await server.counted(CHANNEL, 'request', ({ running, queued }) => running === 3 && queued === 7, 'three run');
      for (let released = 0; released < 10;) released += await server.ask('handlers.release');
      assert.deepEqual((await burst).ends, { ok: 10 });
    },
  },
  {
    ids: ['DISP-006', 'DISP-007'],
    title: 'filters run in order around channel, node and fanout handlers and unwind in reverse',
    run: async (stage) => {
      const host = await stage.start('host', [
        { role: 'server' },
        nodePlan(stage, 'host'),
        { role: 'publisher' },
        filter('one'),
        filter('two'),
      ]);
      const caller = await stage.start('caller', [
        { role: 'client', connect: [host.endpoint] },
        nodePlan(stage, 'caller', [host], { channels: [{}] }),
        { role: 'subscriber', connect: [host.feedEndpoint] },
        filter('one'),
        filter('two'),
      ]);
      await Promise.all([caller.ask('servers.ready', 1), caller.ask('peers.ready', 1)]);
      const expected = ['one in', 'two in'];
      const calls = [
        [{ to: { channel: CHANNEL } }, 'channelRequest', undefined],
        [{ to: { channel: CHANNEL }, verb: 'send' }, 'channelSend', undefined],
        [{ to: { channel: MESH_CHANNEL } }, 'channelRequest', MESH],
        [{ to: { rid: 'host' } }, 'nodeRequest', MESH],
        [{ to: { rid: 'host' }, verb: 'send' }, 'nodeSend', MESH],
      ] as const;
      let before = 0;
      for (const [plan, dispatchKind, meshName] of calls) {
        assert.ok((await caller.call(plan)).ok);
        const journal = (await host.seen(before + 6)).slice(before);
        before += 6;
        const owner = journal[2]?.owner ?? '';
        assert.deepEqual(steps(journal), [...expected, `${owner} begun`, `${owner} ended`, 'two out', 'one out']);
        const context = journal[0]?.context;
        assert.deepEqual([context?.dispatchKind, context?.meshName], [dispatchKind, meshName]);
        assert.deepEqual(context?.keys, ['dispatchKind', 'meshName', 'message'].filter((key) => key !== 'meshName' || meshName !== undefined)); // prettier-ignore
      }
      await host.ask('feeds.subscribersReady', FEED, 1);
      assert.ok((await host.ask('feeds.publish', FEED, {})).ok);
      const heard = await caller.seen(6);
      assert.deepEqual(steps(heard), [...expected, 'subscriber begun', 'subscriber ended', 'two out', 'one out']);
      assert.equal(heard[0]?.context?.dispatchKind, 'fanout');
    },
  },
  {
    ids: ['DISP-008'],
    title: 'next twice fails and runs no handler again; a filter’s result replaces no reply',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'server' }, filter('f', 'twice'), filter('g', 'override')]);
      const client = await stage.client([server]);
      const reply = await client.reply({ ...stage.toServers, payload: { mark: 'm', text: 'real' } });
      assert.deepEqual([reply.mark, reply.text], ['m', 'real']);
      const journal = await server.seen(1, 'second');
      assert.equal(journal.find(({ what }) => what === 'second')?.text, 'InvalidOperation');
      assert.equal(journal.filter(({ what }) => what === 'begun').length, 1);
    },
  },
  {
    ids: ['DISP-008', 'DISP-004'],
    title: 'without next no handler runs: a request is Rejected, a send ends silently',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'server' }, filter('f', 'stop')]);
      const client = await stage.client([server]);
      await client.refusal(stage.toServers, 'Rejected');
      assert.ok((await client.call({ ...stage.toServers, verb: 'send' })).ok);
      await server.counted(CHANNEL, 'send', ({ dropped }) => dropped['filtered'] === 1, 'counts the send as filtered');
      assert.ok(!(await server.ask('handlers.journal')).some(({ what }) => what === 'begun'));
    },
  },
  {
    ids: ['DISP-004', 'DISP-006'],
    title: 'a filter that throws fails the request without its text',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'server' }, filter('secret', 'throw')]);
      const client = await stage.client([server]);
      const error = await client.refusal(stage.toServers, 'InternalFailure');
      assert.doesNotMatch(error.message, /secret/);
    },
  },
  {
    ids: ['DISP-009', 'DISP-001'],
    title: 'each dispatch has one scope, shared by filter and handler instances and disposed once, also on a throw',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'classServer' }, filter('f', 'pass', true)]);
      const client = await stage.client([server]);
      await client.reply(stage.toServers);
      await client.refusal({ ...stage.toServers, payload: { act: 'throw', text: 'x' } }, 'InternalFailure');
      await client.reply(stage.toServers);
      const journal = await server.seen(3, 'disposed');
      const scopes = journal.filter(({ what }) => what === 'scope');
      assert.deepEqual(
        scopes.map(({ owner, text }) => `${owner} ${text}`),
        ['filter f 1', 'handler 1', 'filter f 2', 'handler 2', 'filter f 3', 'handler 3'],
      );
      assert.deepEqual(
        journal.filter(({ what }) => what === 'constructed').map(({ mark }) => mark),
        ['1', '2', '3'],
      );
      assert.deepEqual(
        journal.filter(({ what }) => what === 'disposed').map(({ mark }) => mark),
        ['1', '2', '3'],
      );
    },
  },
  {
    ids: ['DISP-009', 'CALL-002'],
    title: 'a scope is disposed once, too, where the caller aborts and where no filter goes on',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'classServer' }, filter('f', 'pass', true)]);
      const stopping = await stage.start('stopping', [{ role: 'classServer' }, filter('f', 'stop', true)]);
      const client = await stage.client([server]);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await server.seen(1, 'begun');
      await held.abort();
      await server.seen(1, 'disposed');
      await (await stage.client([stopping])).refusal(stage.toServers, 'Rejected');
      const journal = await stopping.seen(1, 'disposed');
      assert.ok(!journal.some(({ owner, what }) => owner === 'handler' && what === 'scope'), 'no handler ran');
      for (const host of [server, stopping]) {
        assert.equal((await host.ask('handlers.journal')).filter(({ what }) => what === 'disposed').length, 1);
      }
    },
  },
];
