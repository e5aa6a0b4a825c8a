/** MSG: names, declared types, schemas and metadata. */
import assert from 'node:assert/strict';
import { CHANNEL, MESH_CHANNEL } from '../../contracts.ts';
import { codecs } from '../../matrix.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

export const messages: readonly Scenario[] = [
  {
    ids: ['MSG-002'],
    title: 'a class is a declared type: named by its static, by its class, or by the base that a message is sent as',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'classServer' }]);
      const client = await stage.client([server]);
      await client.probe('messages.sendClasses', CHANNEL);
      const journal = await server.seen(2, 'letter');
      await server.seen(1, 'postcard');
      assert.deepEqual(
        journal.filter(({ what }) => what === 'letter').map(({ text }) => text),
        ['by static', 'as its base'],
      );
    },
  },
  {
    ids: ['MSG-003'],
    title: 'an object literal without declared type is refused at the call, and nothing of it leaves',
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const end = await client.probe('messages.sendLiteral', CHANNEL);
      assert.equal(end.kind, 'InvalidOperation');
      assert.equal(end.submitted, false);
      assert.equal((await server.counters(CHANNEL, 'send')).accepted, 0);
    },
  },
  {
    ids: ['MSG-004', 'DISP-004'],
    title: 'a schema refuses what does not fit, where it is sent and where it is received',
    run: async (stage) => {
      const server = await stage.server('server');
      const ends = await server.probe('messages.schemaEnds');
      assert.deepEqual(ends, {
        fits: '2',
        unfitHere: 'InvalidOperation',
        unfitThere: 'ProtocolError',
        unfitReply: 'InternalFailure',
        unfitReplyHere: 'ProtocolError',
        handled: ['1'],
        droppedSends: 1,
      });
    },
  },
  {
    ids: ['MSG-005'],
    title: 'a packet name has 1 to 255 bytes without NUL, and its case counts',
    needsPeerOnly: true,
    run: async (stage) => {
      const client = await stage.peerClient();
      await client.refusal({ ...stage.toServers, packet: 'shoutedAsk' }, 'NotFound');
      assert.deepEqual(await client.probe('messages.packetNames', CHANNEL), {
        longest: 'NotFound',
        tooLong: 'InvalidOperation',
        tooLongInBytes: 'InvalidOperation',
        empty: 'InvalidOperation',
        withNul: 'InvalidOperation',
      });
    },
  },
  {
    ids: ['MSG-010', 'MSG-011', 'CHAN-005'],
    title: 'metadata arrives as set last, frozen, with a client/server call, a mesh call and a direct one',
    over: { codec: codecs },
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'server' }, nodePlan(stage, 'server')]);
      const client = await stage.start('client', [
        { role: 'client', connect: [server.endpoint] },
        nodePlan(stage, 'client', [server], { channels: [{}] }),
      ]);
      await Promise.all([client.ask('servers.ready', 1), client.ask('peers.ready', 1)]);
      const metadata = [
        ['tenant', 'first'],
        ['größe', '✓'],
        ['tenant', 'last'],
      ] as const;
      for (const to of [{ channel: CHANNEL }, { channel: MESH_CHANNEL }, { rid: 'server' }]) {
        await client.reply({ to, metadata });
        assert.ok((await client.call({ to, verb: 'send', metadata })).ok);
      }
      const journal = await server.seen(6, 'begun');
      for (const { context, owner } of journal.filter(({ what }) => what === 'begun')) {
        assert.deepEqual(new Map(context?.metadata), new Map([['tenant', 'last'], ['größe', '✓']]), owner); // prettier-ignore
        assert.equal(context?.isFrozen, true, `the context of ${owner} is frozen`);
      }
    },
  },
  {
    ids: ['MSG-010'],
    title: 'metadata of 1,024 encoded bytes passes, one more is refused before admission',
    needsPeerOnly: true,
    run: async (stage) => {
      const client = await stage.peerClient();
      const ends = await client.probe('messages.metadataSizes', CHANNEL);
      assert.ok(ends.largest >= 900 && ends.largest <= 1_024, `a value of ${ends.largest} bytes passes`);
      assert.deepEqual(ends.beyond, { kind: 'InvalidOperation', submitted: false });
    },
  },
  {
    ids: ['MSG-012'],
    title: 'metadata follows neither the reply nor a call that the handler makes',
    run: async (stage) => {
      const far = await stage.server('far');
      const relay = await stage.start('relay', [
        { role: 'server', channel: 'relay' },
        { role: 'client', connect: [far.endpoint] },
      ]);
      const relayEndpoint = relay.facts.listeners[0]?.endpoint ?? '';
      const client = await stage.start('client', [{ role: 'client', channel: 'relay', connect: [relayEndpoint] }]);
      await Promise.all([relay.ask('servers.ready', 1), client.ask('servers.ready', 1, 'relay')]);
      const text = JSON.stringify(stage.toServers);
      const reply = await client.reply({
        to: { channel: 'relay' },
        metadata: [['tenant', '42']],
        payload: { act: 'relay', text },
      });
      assert.equal(reply.text, 'far');
      const [first] = await far.seen(1, 'begun');
      assert.deepEqual(first?.context?.metadata, []);
    },
  },
];
