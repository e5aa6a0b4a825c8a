/** SEC: keys, and who is let in. */
import assert from 'node:assert/strict';
import { createCurveKeys, type CurveSecurity } from '@zlink/framework';
import { CHANNEL } from '../../contracts.ts';
import { codecs } from '../../matrix.ts';
import { keyed, nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

type StaticSecurity = CurveSecurity & { readonly allowedClientKeys?: readonly string[] };

export const security: readonly Scenario[] = [
  {
    ids: ['SEC-001'],
    title: 'a client with an allowed key is served, with every codec',
    over: { codec: codecs },
    run: async (stage) => {
      const [serverKeys, clientKeys] = [createCurveKeys(), createCurveKeys()];
      const forServer: StaticSecurity = { ...serverKeys, allowedClientKeys: [clientKeys.publicKey] };
      const server = await stage.server('server', {}, { options: { security: forServer } });
      const forClient = { ...clientKeys, serverPublicKey: serverKeys.publicKey };
      const client = await stage.client([server], {}, { options: { security: forClient } });
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['SEC-001', 'CS-004', 'NET-004'],
    title: 'a foreign key, no key, and another server in mind are kept out with a reason, and others are served',
    run: async (stage) => {
      const [serverKeys, clientKeys, foreign] = [createCurveKeys(), createCurveKeys(), createCurveKeys()];
      const forServer: StaticSecurity = { ...serverKeys, allowedClientKeys: [clientKeys.publicKey] };
      const server = await stage.server('server', {}, { options: { security: forServer } });
      const kept = await Promise.all([
        stage.dialing([server], {}, { options: { security: { ...foreign, serverPublicKey: serverKeys.publicKey } } }),
        stage.dialing([server]),
        stage.dialing([server], {}, { options: { security: { ...clientKeys, serverPublicKey: foreign.publicKey } } }),
      ]);
      for (const client of kept) {
        await client.servers(([row]) => row?.reason !== undefined && row.state !== 'ready', 'says why it is kept out');
        await client.refusal({ ...stage.toServers, timeoutMs: 100 }, 'NotFound');
      }
      assert.equal((await server.counters(CHANNEL, 'request')).accepted, 0);
      const forClient = { ...clientKeys, serverPublicKey: serverKeys.publicKey };
      const client = await stage.client([server], {}, { options: { security: forClient } });
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['SEC-001'],
    title: 'a secured client does not talk to an unsecured server',
    run: async (stage) => {
      const server = await stage.server('server');
      const keys = createCurveKeys();
      const client = await stage.dialing([server], {}, { options: { security: keyed(keys) } });
      await client.servers(([row]) => row?.reason !== undefined && row.state !== 'ready', 'says why');
      await client.refusal({ ...stage.toServers, timeoutMs: 100 }, 'NotFound');
    },
  },
  {
    ids: ['SEC-001', 'MESH-002', 'FAN-001'],
    title: 'nodes and subscribers share the keys that they pin, and who has others stays out',
    run: async (stage) => {
      const options = { security: keyed(createCurveKeys()) };
      const foreign = { security: keyed(createCurveKeys()) };
      const host = await stage.start('host', [nodePlan(stage, 'host'), { role: 'publisher' }], { options });
      const joined = await stage.node('joined', [host], {}, { options });
      await joined.reply({ to: { rid: 'host' } });
      const subscriber = await stage.subscriber('subscriber', [host], {}, { options });
      const stranger = await stage.start('stranger', [nodePlan(stage, 'stranger', [host]), { role: 'subscriber', connect: [host.feedEndpoint] }], { options: foreign }); // prettier-ignore
      await stranger.peers(([row]) => row?.reason !== undefined && row.state !== 'ready', 'says why');
      await host.ask('feeds.subscribersReady', 'conformance-feed', 1);
      assert.ok((await host.ask('feeds.publish', 'conformance-feed', { payload: { mark: 'secret' } })).ok);
      await subscriber.seen(1, 'begun');
      assert.deepEqual(await stranger.ask('handlers.journal'), []);
      assert.deepEqual((await host.ask('peers.list')).map(({ routingId }) => routingId), ['joined']); // prettier-ignore
    },
  },
  {
    ids: ['SEC-001'],
    title: 'a bind that others can reach is warned of once without keys, and not with them',
    run: async (stage) => {
      const network = { bindHost: '0.0.0.0', advertiseHost: '127.0.0.1' };
      const plain = await stage.server('plain', {}, { options: { network } });
      await plain.logged('zlink.transport.engine_warning');
      assert.equal(plain.logs('zlink.transport.engine_warning').length, 1);
      const options = { network, security: keyed(createCurveKeys()) };
      const secured = await stage.server('secured', {}, { options });
      assert.deepEqual(secured.logs('zlink.transport.engine_warning'), []);
    },
  },
  {
    ids: ['SEC-003'],
    title: 'keys and payloads are in no log and no error, however things go wrong',
    run: async (stage) => {
      const keys = [createCurveKeys(), createCurveKeys()] as const;
      const [serverKeys, foreign] = keys;
      const secret = 'card 4111-1111';
      const server = await stage.server('server', {}, { options: { security: keyed(serverKeys) } });
      const client = await stage.client([server], {}, { options: { security: keyed(serverKeys) } });
      const payload = { act: 'unfit', text: secret } as const;
      const errors: unknown[] = [
        await client.call({ ...stage.toServers, payload, metadata: [['card', secret]] }),
        await client.call({ ...stage.toServers, packet: 'missingAsk', payload }),
        await client.call({ ...stage.toServers, verb: 'send', packet: 'missingNote', payload }),
      ];
      const stranger = await stage.dialing([server], {}, { options: { security: keyed(foreign) } });
      await stranger.servers(([row]) => row?.reason !== undefined, 'is kept out');
      errors.push(await stranger.ask('servers.list'), await server.ask('running.counters'));
      await server.logged('zlink.dispatch_error', 2);
      const everything = JSON.stringify([errors, stage.logs()]);
      assert.doesNotMatch(everything, /4111/);
      for (const { secretKey, publicKey } of keys) {
        assert.ok(!everything.includes(secretKey));
        assert.ok(!everything.includes(publicKey));
      }
    },
  },
];
