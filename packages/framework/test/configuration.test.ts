/** Every mistake that a description can have is found by `start`, before a port is bound (seed: startup validation). */
import {
  createCurveKeys,
  type Host,
  type HostOptions,
  message,
  request,
  type RouteMeshBuilder,
} from '@zlink/framework';
import { advertiseHint } from '../src/options/own-addresses.ts';
import { hostNameOf } from './host-names.ts';
import { makeHost } from './hosts.ts';
import { problems, rejection } from './outcome.ts';
import { Ask, CHANNEL, Charge, MESH, Notice } from './packets.ts';
import { occupyPort, type OccupiedPort } from './ports.ts';

let taken: OccupiedPort;
beforeAll(async () => {
  taken = await occupyPort();
});
afterAll(() => taken.release());

/** A host that would fail to bind, should it ever try to: what it reports was found before. */
function makeDoomedHost(options: HostOptions = {}): Host {
  const host = makeHost(options);
  host
    .addClientServerChannel('doomed')
    .server()
    .listen(taken.port)
    .addRequestHandler(Ask, () => 1);
  return host;
}

/** The mistakes of a description, all of them. */
async function problemsOf(describe: (host: Host) => void, options: HostOptions = {}): Promise<readonly string[]> {
  const host = makeDoomedHost(options);
  describe(host);
  const found = await problems(host.start());
  expect([host.state, host.query.listeners()]).toEqual(['error', []]);
  return found;
}

test('[HOSTREG-003] without a mistake the description of these tests gets as far as binding', async () => {
  expect((await rejection(makeDoomedHost().start())).message).toMatch(
    /^\[AlreadyExists\] channel ".*" server: address .* is in use$/,
  );
});

const serverOf = (host: Host) =>
  host
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, () => 1);
const clientOf = (host: Host) => host.addClientServerChannel(CHANNEL).client().connect('tcp://127.0.0.1:7200');

/** For plain JavaScript, which may pass anything. */
const anything = (value: unknown): never => value as never;

describe('names and roles', () => {
  test('[HOSTREG-002] one channel name in two topologies is one too many: the server role twice', async () => {
    const found = await problemsOf((host) => {
      serverOf(host);
      host.addClientServerChannel(CHANNEL).server();
    });
    expect(found).toEqual(['channel "billing": the server role is registered twice']);
  });

  test('[HOSTREG-002] the client role twice', async () => {
    const found = await problemsOf((host) => {
      clientOf(host);
      host.addClientServerChannel(CHANNEL).client();
    });
    expect(found).toEqual(['channel "billing": the client role is registered twice']);
  });

  test('[HOSTREG-002] client and server of one name may be in one process, once each', async () => {
    const host = makeHost();
    const channel = host.addClientServerChannel(CHANNEL);
    channel.server().addRequestHandler(Ask, () => 1);
    channel.client();
    await host.start();
    expect(host.state).toBe('serving');
  });

  test.each(['', 'a\0b', 'x'.repeat(256), 'é'.repeat(128), '\ud800'])(
    '[HOSTREG-002] channel name %j is none',
    async (name) => {
      const found = await problemsOf((host) =>
        host
          .addClientServerChannel(name)
          .server()
          .addRequestHandler(Ask, () => 1),
      );
      expect(found).toEqual([
        expect.stringMatching(/^channel name: .* is not allowed, allowed: 1\.\.255 bytes of UTF-8/),
      ]);
    },
  );

  test('[HOSTREG-002] a channel without a role is described to no end', async () => {
    const found = await problemsOf((host) => host.addClientServerChannel(CHANNEL));
    expect(found).toEqual([
      'channel "billing": neither a client nor a server role is registered, call .client() or .server()',
    ]);
  });

  test('[HOSTREG-003] a client has neither weight nor handlers to set', () => {
    const client = makeHost().addClientServerChannel(CHANNEL).client();
    for (const name of ['setWeight', 'addSendHandler', 'addRequestHandler', 'concurrency', 'listen']) {
      expect(name in client).toBe(false);
    }
  });
});

describe('meshes', () => {
  /** A mesh of one host, and what is found of it. */
  const meshProblems = (describeMesh: (mesh: RouteMeshBuilder) => unknown, options: HostOptions = {}) =>
    problemsOf((host) => void describeMesh(host.addRouteMesh(MESH)), options);

  test('[HOSTREG-002] a mesh name twice', async () => {
    const found = await problemsOf((host) => {
      host.addRouteMesh(MESH);
      host.addRouteMesh('chat');
      host.addRouteMesh(MESH);
    });
    expect(found).toEqual(['mesh "game": it is registered twice']);
  });

  test('[HOSTREG-002] [CHAN-001] one channel name on two paths, whatever the roles', async () => {
    const found = await problemsOf((host) => {
      clientOf(host);
      host.addRouteMesh(MESH).channel(CHANNEL).client();
      const chat = host.addRouteMesh('chat');
      chat.channel(CHANNEL).server();
      chat.channel('lobby').client();
      host.addRouteMesh('third').channel('lobby').server();
    });
    expect(found).toEqual([
      'channel "billing": it is registered as a ClientServer channel and in mesh "game"; a ChannelName leads to one path',
      'channel "billing": it is registered as a ClientServer channel and in mesh "chat"; a ChannelName leads to one path',
      'channel "lobby": it is registered in mesh "chat" and in mesh "third"; a ChannelName leads to one path',
    ]);
  });

  test('[HOSTREG-002] a mesh and a channel of one name are no duplicates, nor is a node without channels a mistake', async () => {
    const host = makeHost();
    host.addRouteMesh(CHANNEL);
    host.addRouteMesh(MESH).channel(MESH).server();
    serverOf(host);
    await host.start();
    expect(host.query.listeners().map(({ kind, name }) => [kind, name])).toEqual([
      ['ROUTE_MESH', CHANNEL],
      ['ROUTE_MESH', MESH],
      ['CLIENT_SERVER', CHANNEL],
    ]);
  });

  test.each<[string, (mesh: RouteMeshBuilder) => unknown, string]>([
    [
      'a channel without a role',
      (mesh) => mesh.channel(CHANNEL),
      'channel "billing": neither a client nor a server role',
    ],
    [
      'both roles',
      (mesh) => [mesh.channel(CHANNEL).client(), mesh.channel(CHANNEL).server()],
      'channel "billing": it has one role on a mesh, 2 are registered',
    ],
    ['a channel without a name', (mesh) => mesh.channel('').client(), 'channel name: "" is not allowed'],
    ['a weight', (mesh) => mesh.channel(CHANNEL).server().setWeight(10_001), 'channel "billing" server weight: 10001'],
    ['a port', (mesh) => mesh.listen(65_536), 'mesh "game" listen: 65536 is not allowed, allowed: integer 0..65535'],
    ['an endpoint', (mesh) => mesh.listen('localhost:1'), 'mesh "game" listen: "localhost:1" is not allowed'],
    ['two bind hosts', (mesh) => mesh.listen('tcp://127.0.0.1:0').setBindHost('::1'), 'mesh "game": listen "tcp:'],
    [
      'a wildcard',
      (mesh) => mesh.setBindHost('*'),
      'mesh "game": bindHost "*" is a wildcard and needs an advertiseHost',
    ],
    ['a RID', (mesh) => mesh.routingId('x'.repeat(256)), 'mesh "game" routingId: '],
    ['a prefix', (mesh) => mesh.setRoutingIdPrefix('a b'), 'mesh "game" routingIdPrefix: "a b" is not allowed'],
    [
      'RID and prefix',
      (mesh) => mesh.routingId('a').setRoutingIdPrefix('a'),
      'mesh "game": routingId and routingIdPrefix',
    ],
    ['a peer', (mesh) => mesh.connect('tcp://*:7000'), 'mesh "game" connect: "tcp://*:7000" is not allowed'],
    ['port 0', (mesh) => mesh.connect('tcp://a:0'), 'mesh "game" connect: "tcp://a:0" is not allowed'],
    [
      'an expected RID',
      (mesh) => mesh.connect('', 'tcp://a:1'),
      'mesh "game" connect, expected RID: "" is not allowed',
    ],
    [
      'its own RID',
      (mesh) => mesh.routingId('a').connect('a', 'tcp://a:1'),
      'mesh "game" connect: "a" is the RID of this node, which has no link to itself',
    ],
    ['a send timeout', (mesh) => mesh.setSendTimeoutMs(0), 'mesh "game" sendTimeoutMs: 0 is not allowed'],
    ['a request timeout', (mesh) => mesh.setRequestTimeoutMs(2 ** 31), 'mesh "game" requestTimeoutMs: 2147483648'],
    ['concurrency', (mesh) => mesh.concurrency(0), 'mesh "game" concurrency: 0 is not allowed'],
    ['limits', (mesh) => mesh.setMailboxLimits({ bytes: 0 }), 'mesh "game" mailboxLimits.bytes: 0 is not allowed'],
    [
      'a handler twice',
      (mesh) => mesh.addRouteSendHandler(Notice, () => undefined).addRouteSendHandler(Notice, () => undefined),
      'mesh "game": send handler of packet "system.notice" is registered twice',
    ],
    [
      'a request handler of a one-way message',
      (mesh) => mesh.addRouteRequestHandler(anything(Notice), () => 1),
      'mesh "game": ',
    ],
  ])('[HOSTREG-003] what a mesh may not have: %s', async (_, describeMesh, text) => {
    expect(await meshProblems(describeMesh)).toEqual([expect.stringContaining(text)]);
  });

  test('[HOSTREG-003] a mesh without a name', async () => {
    const found = await problemsOf((host) => host.addRouteMesh(''));
    expect(found).toEqual([expect.stringMatching(/^mesh name: "" is not allowed, allowed: 1\.\.255 bytes of UTF-8/)]);
  });

  test('[HOSTREG-003] a secured node that dials pins a key', async () => {
    const security = createCurveKeys();
    expect(await meshProblems((mesh) => mesh.connect('tcp://a:1'), { security })).toEqual([
      'mesh "game" connect: security.serverPublicKey is missing, without it no server can be dialled',
    ]);
  });

  test('[HOSTREG-004] the description of a mesh is frozen once the host has started', async () => {
    const host = makeHost();
    const mesh = host.addRouteMesh(MESH);
    const channel = mesh.channel(CHANNEL);
    const server = channel.server();
    await host.start();
    const changes = [
      () => host.addRouteMesh('late'),
      () => mesh.listen(1),
      () => mesh.routingId('late'),
      () => mesh.connect('tcp://a:1'),
      () => mesh.channel('late'),
      () => mesh.addRouteSendHandler(Notice, () => undefined),
      () => channel.client(),
      () => server.setWeight(1),
      () => server.addRequestHandler(Ask, () => 1),
    ];
    for (const change of changes) expect(change).toThrow(/^\[InvalidOperation\] the description of a host is frozen/);
  });
});

describe('handlers', () => {
  test('[HOSTREG-002] a handler key twice', async () => {
    const found = await problemsOf((host) =>
      serverOf(host)
        .addRequestHandler(Ask, () => 2)
        .addSendHandler(Notice, () => undefined)
        .addSendHandler(Notice, () => undefined),
    );
    expect(found).toEqual([
      'channel "billing": request handler of packet "billing.ask" is registered twice',
      'channel "billing": send handler of packet "system.notice" is registered twice',
    ]);
  });

  test('[HOSTREG-002] the same packet as a send and as a request, and in another channel, is another key', async () => {
    const host = makeHost();
    serverOf(host).addSendHandler(Ask, () => undefined);
    host
      .addClientServerChannel('other')
      .server()
      .addRequestHandler(Ask, () => 1);
    await host.start();
    expect(host.state).toBe('serving');
  });

  test('[HOSTREG-006] a server without any handler', async () => {
    const found = await problemsOf((host) => host.addClientServerChannel(CHANNEL).server().setWeight(1));
    expect(found).toEqual([
      'channel "billing" server: no handler is registered, call addRequestHandler or addSendHandler',
    ]);
  });

  test('[HOSTREG-006] a request handler for a one-way message', async () => {
    const found = await problemsOf((host) => serverOf(host).addRequestHandler(anything(message('one.way')), () => 1));
    expect(found).toEqual(['channel "billing": request handler of packet "one.way": the packet is a one-way message']);
  });

  test.each<[string, unknown]>([
    ['an object', { handle: () => 1 }],
    ['nothing', undefined],
  ])('[HOSTREG-006] %s as a handler', async (_, handler) => {
    const found = await problemsOf((host) => serverOf(host).addRequestHandler(Charge, anything(handler)));
    expect(found).toEqual([
      expect.stringMatching(/request handler of packet "billing.charge": .* is neither a function/),
    ]);
  });

  test('[HOSTREG-006] something that is no packet', async () => {
    const found = await problemsOf((host) => serverOf(host).addSendHandler(anything('billing.ask'), () => undefined));
    expect(found).toEqual([expect.stringMatching(/^channel "billing": packet of a send handler: /)]);
  });

  test('[DISP-009] classes that want constructor arguments while the host has no services', async () => {
    class Ledger {}
    class ChargeHandler {
      static readonly inject = [Ledger];
      handle(): { receipt: string } {
        return { receipt: '' };
      }
    }
    class Audit {
      static readonly inject = [Ledger];
      invoke(_context: unknown, next: () => Promise<unknown>): unknown {
        return next();
      }
    }
    const found = await problemsOf((host) => {
      host.addFilter(Audit);
      serverOf(host).addRequestHandler(Charge, ChargeHandler);
    });
    expect(found).toHaveLength(2);
    for (const text of found) expect(text).toContain('its class has static inject, but the host has no services');
  });

  test.each<[string, unknown]>([
    ['an object', {}],
    ['null', null],
  ])('[DISP-006] %s as a filter', async (_, filter) => {
    const found = await problemsOf((host) => host.addFilter(anything(filter)));
    expect(found).toEqual([expect.stringMatching(/^host: filter 1 \(.*\) is neither a function nor a class$/)]);
  });
});

describe('client', () => {
  test('[HOSTREG-003] neither endpoint nor server', async () => {
    const found = await problemsOf((host) => host.addClientServerChannel(CHANNEL).client());
    expect(found).toEqual([
      'channel "billing" client: there is no server to dial: call connect(endpoint), or register a location store with ' +
        'host.addLocationStore(store)',
    ]);
  });

  test.each<unknown>([
    '',
    'billing-1',
    'billing-1:7200',
    'tcp://billing-1',
    'tcp://billing-1:0',
    'tcp://billing-1:65536',
    'tcp://billing-1:07200',
    'tcp://*:7200',
    'tcp://0.0.0.0:7200',
    'tcp://[::]:7200',
    'tcp://::1:7200',
    'tcp://127.0.0.256:7200',
    'tcp://user@billing-1:7200',
    'tcp://billing-1:7200/path',
    'ipc:///tmp/billing',
    7200,
    undefined,
  ])('[HOSTREG-003] endpoint %p cannot be dialled', async (endpoint) => {
    const found = await problemsOf((host) => clientOf(host).connect(anything(endpoint)));
    expect(found).toEqual([
      expect.stringMatching(/^channel "billing" client connect: .* is not allowed, allowed: tcp:\/\/host:port/),
    ]);
  });

  test.each([0, -1, 1.5, NaN, Infinity, 2_147_483_648, '5'])('[HOSTREG-003] [CALL-003] timeout %p', async (ms) => {
    const found = await problemsOf((host) =>
      clientOf(host).setSendTimeoutMs(anything(ms)).setRequestTimeoutMs(anything(ms)),
    );
    expect(found).toEqual([
      expect.stringMatching(/client sendTimeoutMs: .* is not allowed, allowed: integer 1\.\.2147483647$/),
      expect.stringMatching(/client requestTimeoutMs: .* is not allowed, allowed: integer 1\.\.2147483647$/),
    ]);
  });
});

describe('server', () => {
  const settings: [string, unknown, (server: ReturnType<typeof serverOf>, value: never) => unknown, RegExp][] = [
    ...[-1, 10_001, 1.5, NaN, '100'].map((value): (typeof settings)[0] => [
      'weight',
      value,
      (server, n) => server.setWeight(n),
      /server weight: .* allowed: integer 0\.\.10000$/,
    ]),
    ...[-1, 0.5, NaN, Infinity, '1'].map((value): (typeof settings)[0] => [
      'maxMessageSize',
      value,
      (server, n) => server.maxMessageSize(n),
      /server maxMessageSize: .* allowed: integer from 0$/,
    ]),
    ...[0, -1, 1.5, 2_147_483_648].map((value): (typeof settings)[0] => [
      'concurrency',
      value,
      (server, n) => server.concurrency(n),
      /server concurrency: .* integer 1\.\.2147483647$/,
    ]),
    ...[-1, 65_536, 7_200.5, '7200'].map((value): (typeof settings)[0] => [
      'listen',
      value,
      (server, n) => server.listen(n),
      /server listen: .* allowed: integer 0\.\.65535$/,
    ]),
    ...['', 'a\0b', 'x'.repeat(256), 7].map((value): (typeof settings)[0] => [
      'routingId',
      value,
      (server, n) => server.routingId(n),
      /server routingId: .* 1\.\.255 bytes of UTF-8 without NUL$/,
    ]),
    ...['', 'no host', 'tcp://127.0.0.1', '127.0.0.1:7200', '[::1]', '256.0.0.1', 7].map(
      (value): (typeof settings)[0] => [
        'bindHost',
        value,
        (server, n) => server.setBindHost(n),
        /server bindHost: .* a host name, an IP address or \*$/,
      ],
    ),
    [
      'advertiseHost',
      hostNameOf(244),
      (server, n) => server.setAdvertiseHost(n),
      /server advertiseHost: .* allowed: up to 243 bytes$/,
    ],
    ...['', '*', '0.0.0.0', '::', 'no host', 7].map((value): (typeof settings)[0] => [
      'advertiseHost',
      value,
      (server, n) => server.setAdvertiseHost(n),
      /server advertiseHost: .* no wildcard$/,
    ]),
  ];

  test.each(settings)('[HOSTREG-003] %s %p', async (_, value, set, expected) => {
    expect(await problemsOf((host) => set(serverOf(host), value as never))).toEqual([expect.stringMatching(expected)]);
  });

  test.each(['*', '0.0.0.0', '::'])(
    '[NET-001] [HOSTREG-003] bind host %p without an advertised one',
    async (wildcard) => {
      const expected = `bindHost "${wildcard}" is a wildcard and needs an advertiseHost; ${advertiseHint()}`;
      expect(await problemsOf((host) => serverOf(host).setBindHost(wildcard))).toEqual([
        `channel "billing" server: ${expected}`,
      ]);
      const bindHost = { network: { bindHost: wildcard } };
      expect(await problemsOf((host) => serverOf(host).setBindHost('127.0.0.1'), bindHost)).toEqual([
        `channel "doomed" server: ${expected}`, // the one listener without a host of its own
      ]);
    },
  );

  test('[NET-001] [ERR-002] a bad host of the whole process is reported once, however many listeners would use it', async () => {
    const found = await problemsOf(serverOf, { network: { bindHost: 'no host', advertiseHost: '*' } });
    expect(found.map((text) => text.split(':')[0])).toEqual(['network.bindHost', 'network.advertiseHost']);
  });

  test('[HOSTREG-003] every edge of every range is allowed', async () => {
    const host = makeHost();
    const add = (name: string) =>
      host
        .addClientServerChannel(name)
        .server()
        .addRequestHandler(Ask, () => 1);
    add('x'.repeat(255)).setWeight(0).maxMessageSize(0).concurrency(1).listen(0).routingId('r');
    add('y')
      .setWeight(10_000)
      .maxMessageSize(Number.MAX_SAFE_INTEGER)
      .concurrency(2_147_483_647)
      .routingId('r'.repeat(255));
    add('z').setBindHost('0.0.0.0').setAdvertiseHost('billing_1.example');
    host
      .addClientServerChannel('client')
      .client()
      .connect('tcp://[::1]:65535')
      .connect('tcp://billing-1:1')
      .setSendTimeoutMs(1)
      .setRequestTimeoutMs(2_147_483_647);
    await host.start();
    expect(host.query.listeners()).toHaveLength(3);
  });
});

describe('codecs', () => {
  const codec = (contentType: unknown) => ({
    contentType,
    matches: () => false,
    encode: () => new Uint8Array(),
    decode: () => 0,
  });
  const contentTypes = [
    '',
    'json',
    'application/',
    '/json',
    'a/b/c',
    'application/json; charset=utf-8',
    'application / json',
    'ап/json',
    7,
  ];

  test.each(contentTypes)('[CODEC-002] content type %p', async (contentType) => {
    const extension = {
      register: (codecs: { add(codec: never): unknown }) => void codecs.add(anything(codec(contentType))),
    };
    expect(await problemsOf((host) => host.codecs().use(extension))).toEqual([
      expect.stringMatching(/^contentType of a codec: .* is not allowed, allowed: type\/subtype/),
    ]);
  });

  test('[CODEC-001] an extension that cannot register', async () => {
    const failing = { register: () => { throw new Error('no license'); } }; // prettier-ignore
    const found = await problemsOf((host) => {
      host.codecs().use(anything({}));
      host.codecs().use(failing);
    });
    expect(found).toEqual([
      'codec extension: object has no register method',
      'codec extension: register failed: no license',
    ]);
  });
});

describe('security', () => {
  const pair = createCurveKeys();
  const other = createCurveKeys();

  test.each<[string, unknown, RegExp[]]>([
    ['nothing', {}, [/publicKey is no key/, /secretKey is no key/]],
    ['the public key alone', { publicKey: pair.publicKey }, [/secretKey is no key/]],
    ['the secret key alone', { secretKey: pair.secretKey }, [/publicKey is no key/]],
    ['keys of two pairs', { ...pair, publicKey: other.publicKey }, [/publicKey does not belong to security.secretKey/]],
    ['a server key cut short', { ...pair, serverPublicKey: other.publicKey.slice(1) }, [/serverPublicKey is no key/]],
    [
      'a client key of other letters',
      { ...pair, allowedClientKeys: ['~'.repeat(40)] },
      [/allowedClientKeys\[0\] is no key/],
    ],
  ])('[HOSTREG-003] [SEC-001] key material with %s', async (_, security, expected) => {
    const found = await problemsOf(() => undefined, { security: anything(security) });
    expect(found).toEqual(expected.map((pattern) => expect.stringMatching(pattern) as unknown));
    for (const key of [pair, other].flatMap(({ publicKey, secretKey }) => [publicKey, secretKey]))
      expect(found.join()).not.toContain(key.slice(1, -1));
  });
});

test.each<[string, (host: Host) => unknown]>([
  ['a dialling client', clientOf],
  [
    'a client of a server in this process',
    (host) => {
      serverOf(host);
      host.addClientServerChannel(CHANNEL).client();
    },
  ],
])('[HOSTREG-003] [SEC-001] %s without the key of the servers it dials', async (_, describe) => {
  expect(await problemsOf(describe, { security: createCurveKeys() })).toEqual([
    'channel "billing" client: security.serverPublicKey is missing, without it no server can be dialled',
  ]);
});

test('[HOSTREG-003] [SEC-001] allowed client keys that are neither a list nor a function', async () => {
  const security = { ...createCurveKeys(), allowedClientKeys: anything('x'.repeat(40)) };
  expect(await problemsOf(() => undefined, { security })).toEqual([
    'security.allowedClientKeys is neither a list of keys nor a function',
  ]);
});

test('[ERR-002] [HOSTREG-003] one start reports every mistake of every part, with value and range', async () => {
  const found = await problemsOf(
    (host) => {
      host.addFilter(anything({}));
      host.codecs().use(anything(undefined));
      const channel = host.addClientServerChannel('');
      channel.client().connect('billing-1').setSendTimeoutMs(0);
      channel.server().setWeight(-1).listen(70_000);
    },
    {
      network: { bindHost: 'no host', advertiseHost: '*' },
      requestTimeoutMs: 0,
      sendTimeoutMs: -1,
      shutdownDeadlineMs: 2_147_483_648,
      inboundDispatch: {
        coreHwmMemoryLimitBytes: 0,
        coreHwmBudgetBytes: -1,
        coreHwmProfile: anything('huge'),
        applicationJobQueueProfile: anything('toString'),
        maxQueuedApplicationJobs: 0,
        pauseThresholdPercent: 101,
        resumeThresholdPercent: 100,
      },
      security: anything({ publicKey: 'x', secretKey: 'y' }),
      services: anything({}),
      logger: anything(console.log),
      onUnhandled: anything('log'),
    },
  );
  const expected: [RegExp, number][] = [
    [/^inboundDispatch\.pauseThresholdPercent: 101 is not allowed, allowed: integer 1\.\.100$/, 1],
    [/^inboundDispatch\.resumeThresholdPercent: 100 is not allowed, allowed: integer 0\.\.99$/, 1],
    [
      /^inboundDispatch\.applicationJobQueueProfile: "toString" is not .* compact, lowLatency, balanced, throughput$/,
      1,
    ],
    [/^inboundDispatch\.maxQueuedApplicationJobs: 0 is not allowed, allowed: integer 1\.\.2147483647$/, 1],
    [
      /^inboundDispatch\.coreHwmMemoryLimitBytes: 0 is not allowed, allowed: integer 1\.\.\d+ \(limit of this process\)$/,
      1,
    ],
    [
      /^inboundDispatch\.coreHwmBudgetBytes: -1 is not allowed, allowed: integer 1\.\.\d+ \(limit of this process\)$/,
      1,
    ],
    [/^inboundDispatch\.coreHwmProfile: "huge" is not allowed, allowed: compact, lowLatency, balanced, throughput$/, 1],
    [/^requestTimeoutMs: 0 is not allowed, allowed: integer 1\.\.2147483647$/, 1],
    [/^sendTimeoutMs: -1 is not allowed, allowed: integer 1\.\.2147483647$/, 1],
    [/^shutdownDeadlineMs: 2147483648 is not allowed, allowed: integer 1\.\.2147483647$/, 1],
    [/^network\.bindHost: "no host" is not allowed, allowed: a host name, an IP address or \*$/, 1],
    [/^network\.advertiseHost: "\*" is not allowed, allowed: a host name or an IP address, no wildcard$/, 1],
    [/^services: object is not allowed, allowed: an object with createScope$/, 1],
    [/^logger: function log is not allowed, allowed: an object with debug, info, warn and error$/, 1],
    [/^onUnhandled: "log" is not allowed, allowed: a function$/, 1],
    [/^security\.(publicKey|secretKey) is no key of 40 Z85 characters$/, 2],
    [/^channel name: "" is not allowed/, 1],
    [/^channel "" client connect: "billing-1" is not allowed/, 1],
    [/^channel "" client sendTimeoutMs: 0 is not allowed/, 1],
    [/^channel "" client: security\.serverPublicKey is missing/, 1],
    [/^channel "" server listen: 70000 is not allowed, allowed: integer 0\.\.65535$/, 1],
    [/^channel "" server weight: -1 is not allowed, allowed: integer 0\.\.10000$/, 1],
    [/^channel "" server: no handler is registered, call addRequestHandler or addSendHandler$/, 1],
    [/^host: filter 1 \(object\) is neither a function nor a class$/, 1],
    [/^codec extension: undefined has no register method$/, 1],
  ];
  const counts = expected.map(([pattern]) => [pattern, found.filter((text) => pattern.test(text)).length]);
  expect(counts).toEqual(expected);
  expect(found).toHaveLength(expected.reduce((sum, [, count]) => sum + count, 0));
});

test('[ERR-002] the text of the error has every mistake too', async () => {
  const host = makeHost({ requestTimeoutMs: 0, sendTimeoutMs: 0 });
  await expect(host.start()).rejects.toThrow(/^2 problems\n- requestTimeoutMs: 0 .*\n- sendTimeoutMs: 0 /);
});

test('[MSG-005] a packet with a bad name fails where it is declared', () => {
  for (const name of ['', 'a\0b', 'x'.repeat(256)]) {
    expect(() => message(name)).toThrow('[InvalidOperation]');
    expect(() => request(name)).toThrow('[InvalidOperation]');
  }
});
