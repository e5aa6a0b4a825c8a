/** CODEC: who encodes what, and what becomes of values. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import { codecs as codecKinds, stores } from '../../matrix.ts';
import { contentTypes } from '../../roles/codecs.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

export const codecs: readonly Scenario[] = [
  {
    ids: ['CODEC-001', 'CODEC-004', 'CODEC-006'],
    title: 'bytes and texts of a payload arrive as they were, in calls of all kinds and in events',
    over: { codec: codecKinds, store: stores },
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host'), { role: 'publisher' }]);
      const caller = await stage.start('caller', [
        { role: 'client', connect: stage.isDiscovering ? [] : [host.endpoint] },
        nodePlan(stage, 'caller', [host], { channels: [{}] }),
        { role: 'subscriber', ...(stage.isDiscovering ? {} : { connect: [host.feedEndpoint] }) },
      ]);
      await Promise.all([caller.ask('peers.ready', 1), caller.ask('servers.ready', 1)]);
      await host.ask('feeds.subscribersReady', 'conformance-feed', 1);
      const bytes = Uint8Array.from({ length: 1_000 }, (_, at) => at % 256);
      const text = 'ä\u{1f600}\u0000"\\\n';
      const back = (value: Uint8Array | string | undefined): readonly number[] => [
        ...(typeof value === 'string' ? Buffer.from(value, 'base64') : (value ?? [])),
      ]; // JSON makes a text of bytes
      for (const to of [{ channel: CHANNEL }, stage.toNodes.to, { rid: host.meshRid }]) {
        const reply = await caller.reply({ to, payload: { text, bytes } });
        assert.equal(reply.text, text);
        assert.deepEqual(back(reply.bytes), [...bytes]);
      }
      assert.ok((await host.ask('feeds.publish', 'conformance-feed', { payload: { text, bytes } })).ok);
      const [heard] = await caller.seen(1, 'begun');
      assert.equal(heard?.text, text);
      assert.deepEqual(back(heard?.payload?.bytes), [...bytes]);
      const journal = await host.seen(3, 'begun');
      assert.equal(journal[0]?.context?.contentType, contentTypes[stage.cell.codec]);
    },
  },
  {
    ids: ['CODEC-002'],
    title:
      'content types are trimmed and lower-cased; what is none is refused at start; of two equal ones the later stays',
    run: async (stage) => {
      const host = await stage.start('host', []);
      const ends = await host.probe('codecs.contentTypeEnds');
      assert.deepEqual(ends, {
        accepted: ['application/x-one', ' \tApplication/X-ONE\t ', "application/x-!#$%&'*+-.^_`|~1"],
        refused: [
          'application/x-one; charset=utf-8',
          'application/ x-one',
          'application/x one',
          'application',
          '/x',
          'application/',
          '',
          'application/xö',
          'a/b/c',
        ],
        later: 'second',
        onTheWire: 'application/x-one',
      });
    },
  },
  {
    ids: ['CODEC-003', 'DISP-004'],
    title: 'a receiver without the codec answers ProtocolError and never tries JSON',
    run: async (stage) => {
      const server = await stage.server('server', {}, { codec: 'json' });
      for (const codec of ['msgpack', 'protobuf'] as const) {
        const client = await stage.client([server], {}, { codec });
        const error = await client.refusal(stage.toServers, 'ProtocolError');
        assert.equal(error.submitted, true);
        assert.ok((await client.call({ ...stage.toServers, verb: 'send' })).ok);
      }
      await server.counted(CHANNEL, 'send', ({ dropped }) => dropped['decode_error'] === 2, 'drops one-way messages');
      assert.deepEqual(await server.ask('handlers.journal'), []);
    },
  },
  {
    ids: ['CODEC-003'],
    title: 'a receiver that knows more codecs understands what comes in each',
    run: async (stage) => {
      const server = await stage.server('server', {}, { codec: 'msgpack' });
      for (const codec of ['json', 'msgpack'] as const) {
        const client = await stage.client([server], {}, { codec });
        await client.reply({ ...stage.toServers, payload: { mark: codec } }).catch((error: unknown) => {
          // The reply comes as MessagePack, which a host with JSON alone does not read.
          if (codec === 'msgpack') throw error;
        });
      }
      const journal = await server.seen(2, 'begun');
      assert.deepEqual(
        journal.filter(({ what }) => what === 'begun').map(({ mark, context }) => [mark, context?.contentType]),
        [
          ['json', contentTypes.json],
          ['msgpack', contentTypes.msgpack],
        ],
      );
    },
  },
  {
    ids: ['CODEC-004'],
    title: 'the declared type decides and the latest match wins; beyond 1,024 types they are asked each time',
    run: async (stage) => {
      const host = await stage.start('host', []);
      const ends = await host.probe('codecs.codecChoices');
      assert.deepEqual(ends.chosen, {
        both: 'application/x-late',
        first: 'application/x-early',
        none: 'application/json',
        instanceOfSubclass: 'application/x-early',
      });
      assert.ok(ends.repeatedAsks <= 1, `a remembered type is asked about ${ends.repeatedAsks} more times`);
      assert.ok(ends.asksBeyondLimit >= 2, `a type beyond the limit is asked about ${ends.asksBeyondLimit} times`);
    },
  },
  {
    ids: ['CODEC-005', 'C22', 'C23', 'C24'],
    title: 'the JSON profile: what values become, and what is refused where it is sent',
    run: async (stage) => {
      const host = await stage.start('host', []);
      const { sent, refused, prototype } = await host.probe('codecs.jsonProfile');
      assert.deepEqual(sent, {
        text: '"\\ud83d" is no text, 😀 is',
        integer: 9_007_199_254_740_991,
        bigint: '9223372036854775807',
        bytes: 'AQL/',
        nothing: null,
        holes: [1, null],
        unset: {},
        own: { x: 1 },
      });
      assert.deepEqual(refused, {
        nan: 'InvalidOperation',
        infinity: 'InvalidOperation',
        date: 'InvalidOperation',
        map: 'InvalidOperation',
        circle: 'InvalidOperation',
      });
      assert.deepEqual(prototype, { ownKey: true, polluted: false });
    },
  },
  {
    ids: ['CODEC-006', 'C23'],
    title: 'int64, dates and bytes keep what they are in MessagePack and Protocol Buffers',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.deepEqual(await host.probe('codecs.packedValues'), {
        msgpack: { big: '-9223372036854775808', bytes: [1, 2, 255], date: 1_234_567_890_123, nested: [1, { a: true }] },
        protobuf: { big: '-9223372036854775808', bytes: [1, 2, 255], list: [1, -1] },
        unknownType: 'ProtocolError',
        unfit: 'InvalidOperation',
      });
    },
  },
  {
    ids: ['CODEC-006'],
    title: 'an own codec passes the suite for codecs, and one that breaks the contract does not',
    run: async (stage) => {
      const host = await stage.start('host', []);
      const sound = await host.probe('codecs.codecSuiteEnds', true);
      assert.ok(sound.passed > 10, `${sound.passed} cases`);
      assert.deepEqual(sound.failed, []);
      const broken = await host.probe('codecs.codecSuiteEnds', false);
      assert.ok(broken.failed.length > 0, 'a broken codec is found out');
    },
  },
];
