/**
 * What the compiler promises to applications.
 *
 * The type check of the project judges these lines: an expression marked as an error has to be one, and a type that is
 * named has to be the one that comes out. Run, each test looks at the same thing in the values.
 */
import {
  type ChannelContext,
  type ChannelServerBuilder,
  type ClientServerChannelBuilder,
  type ClientServerRuntime,
  type Codec,
  ConfigurationError,
  type CurveKeys,
  createCurveKeys,
  type CurveSecurity,
  createHost,
  ErrorKind,
  type ErrorKindName,
  type FanoutClient,
  type FanoutContext,
  type FanoutPublishCall,
  type FanoutRuntime,
  type Filter,
  type FilterContext,
  type Host,
  type HostedService,
  type HostOptions,
  type HostState,
  isZLinkError,
  type LinkState,
  type ListenerStatus,
  type Logger,
  message,
  type MeshChannelBuilder,
  type MeshChannelRuntime,
  type MeshChannelServerBuilder,
  type MeshPeers,
  type MessageCounters,
  metadata,
  type Metadata,
  type NodeContext,
  type OutboundMessage,
  type PacketKey,
  type PeerStatus,
  type PublisherStatus,
  type ReceiveFlow,
  request,
  type RequestCall,
  type RequestHandler,
  type RouteClient,
  type RouteMeshBuilder,
  type RouteMeshRuntime,
  type RuntimeQuery,
  type SendCall,
  type SendHandler,
  type ServerStatus,
  type ServiceProvider,
  type ShutdownResult,
  type StandardSchemaV1,
  type Type,
  ZLinkError,
  ZLinkMessage,
} from '@zlink/framework';
import * as framework from '@zlink/framework';
import { startPair } from './hosts.ts';
import { CHANNEL, MESH } from './packets.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles for the very same types only. */
function same<A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void {}

/** Compiles where `B` can be used as an `A`. */
function accepts<A, B extends A>(..._proof: [A?, B?]): void {}

interface Order {
  readonly orderId: string;
}
interface Receipt {
  readonly receipt: string;
}
const Charge = request<Order, Receipt>('types.charge');
const Notice = message<{ readonly text: string }>('types.notice');

class Parcel {
  static readonly packetName = 'types.parcel';
  readonly grams: number;

  constructor(grams: number) {
    this.grams = grams;
  }
}

test('[MSG-001] a request’s submit is typed by its descriptor, on both sides', async () => {
  const { client } = await startPair({
    with: (server) =>
      server
        .addRequestHandler(Charge, (order, context) => {
          same<typeof order, Order>();
          const known: ChannelContext = context;
          return { receipt: `${known.channelName} ${order.orderId}` };
        })
        .addRequestHandler(Parcel, (parcel) => {
          same<typeof parcel, Parcel>();
          return parcel.grams;
        }),
  });
  const { routeClient } = client;
  const call = routeClient.requestToChannel(CHANNEL, Charge({ orderId: '7' }));
  same<typeof call, RequestCall<Receipt>>();
  const reply = await call
    .metadata('k', 'v')
    .metadata(metadata({ a: 'b' }))
    .timeoutMs(1_000)
    .submit();
  same<typeof reply, Receipt>();
  expect(reply.receipt).toBe('billing 7');

  const untyped = await routeClient.requestToChannel(CHANNEL, new Parcel(250)).submit();
  same<typeof untyped, unknown>(); // a class says nothing of its reply
  expect(untyped).toBe(250);
  const declared = await routeClient.requestToChannel<number>(CHANNEL, ZLinkMessage.from(new Parcel(1))).submit();
  same<typeof declared, number>();
  expect(declared).toBe(1);

  same<ReturnType<typeof Charge>, OutboundMessage<Order, Receipt>>();
  same<ReturnType<typeof Notice>, OutboundMessage<{ readonly text: string }, never>>();
  // @ts-expect-error -- the order has no such field
  expect(Charge({ orderID: '7' }).packetName).toBe('types.charge');
});

test('[HOSTREG-006] a handler that does not fit its packet does not compile', () => {
  const server = createHost().addClientServerChannel(CHANNEL).server();
  const count = (register: () => unknown): void => expect(register).not.toThrow(); // reported by the start
  // @ts-expect-error -- a one-way message is not answered
  count(() => server.addRequestHandler(Notice, () => ({ receipt: '' })));
  // @ts-expect-error -- nor by a class
  count(() => server.addRequestHandler(Notice, class { handle() { return 1; } })); // prettier-ignore
  // @ts-expect-error -- not the declared reply
  count(() => server.addRequestHandler(Charge, () => ({ receipt: 7 })));
  // @ts-expect-error -- not the declared request
  count(() => server.addRequestHandler(Charge, (order: { amount: number }) => ({ receipt: String(order.amount) })));
  // @ts-expect-error -- not the declared message
  count(() => server.addSendHandler(Notice, ({ text }: { text: number }) => void text));
  // @ts-expect-error -- a class without handle
  count(() => server.addSendHandler(Notice, Parcel));
  count(() => server.addSendHandler(Notice, ({ text }) => void text.length));
  count(() => server.addSendHandler(Charge, async ({ orderId }) => void orderId.length));
});

test('[CALL-006] calls have the methods of their kind, clients no way to choose a target', async () => {
  const { client } = await startPair();
  const { routeClient } = client;
  const send = routeClient.sendToChannel(CHANNEL, Notice({ text: '' }));
  same<typeof send, SendCall>();
  accepts<Promise<void>, ReturnType<SendCall['submit']>>();
  // @ts-expect-error -- bounded by the channel’s send timeout
  expect(send.timeoutMs).toBeUndefined();
  // @ts-expect-error -- nothing to yield for
  expect(send.yield).toBeUndefined();
  // @ts-expect-error -- no synchronous try
  expect(send.trySubmit).toBeUndefined();
  // @ts-expect-error -- selection is part of submit
  expect(routeClient.selectOne).toBeUndefined();
  // @ts-expect-error -- nor of many
  expect(routeClient.selectMany).toBeUndefined();
  // @ts-expect-error -- nor of a node
  expect(routeClient.selectNode).toBeUndefined();
  same<keyof RequestCall<unknown>, 'metadata' | 'flow' | 'timeoutMs' | 'submit' | 'yield'>();
  same<keyof SendCall, 'metadata' | 'flow' | 'submit'>();
});

test('[NODE-001] [MSG-001] a call to a node is typed by its packet, and a node’s handlers see mesh and nodes', () => {
  const host = createHost();
  const mesh = host.addRouteMesh(MESH);
  const count = (register: () => unknown): void => expect(register).not.toThrow(); // reported by the start
  count(() =>
    mesh.addRouteRequestHandler(Charge, ({ orderId }, context) => {
      same<typeof context, NodeContext>();
      const { meshName, sourceNodeRid, targetNodeRid } = context;
      return { receipt: [orderId, meshName, sourceNodeRid, targetNodeRid].join(' ') };
    }),
  );
  // @ts-expect-error -- a direct message has no channel
  count(() => mesh.addRouteSendHandler(Notice, ({ text }, context) => void [text, context.channelName]));
  // @ts-expect-error -- not the declared reply
  count(() => mesh.addRouteRequestHandler(Parcel, () => 1).addRouteRequestHandler(Charge, () => ({ receipt: 7 })));
  // @ts-expect-error -- a one-way message is not answered
  count(() => mesh.addRouteRequestHandler(Notice, () => 1));
  const call = host.routeClient.requestToNode(MESH, 'play-1', Charge({ orderId: '7' }));
  same<typeof call, RequestCall<Receipt>>();
  const send = host.routeClient.sendToNode(MESH, 'play-1', Notice({ text: '' }));
  same<typeof send, SendCall>();
  // @ts-expect-error -- a client role has no weight
  expect(mesh.channel(CHANNEL).client().setWeight).toBeUndefined();
  // @ts-expect-error -- nor handlers
  expect(mesh.channel(CHANNEL).client().addSendHandler).toBeUndefined();
  expect([typeof call.timeoutMs, 'timeoutMs' in send]).toEqual(['function', false]);
});

test('[HOSTREG-005] a fanout channel publishes what its declarations say, and its handlers get that', () => {
  let registered = 0;
  const count = (add: () => unknown): void => {
    add();
    registered++;
  };
  const host = createHost();
  const channel = host.addFanoutChannel('news');
  count(() => channel.enablePublisher().enablePublisher('tcp://127.0.0.1:7300').connect('tcp://127.0.0.1:7300'));
  count(() =>
    channel.addHandler(Notice, ({ text }, context) => {
      same<typeof context, FanoutContext>();
      void [text.length, context.topicText];
    }),
  );
  // @ts-expect-error -- an event has no metadata
  count(() => channel.addHandler(Notice, (_, context) => void context.metadata));
  // @ts-expect-error -- nobody answers an event
  count(() => channel.addHandler(Notice, () => ({ receipt: 7 })));
  expect(registered).toBe(4);
  const call = host.fanoutClient.publish('news', 'topic', Notice({ text: '' }));
  same<typeof call, FanoutPublishCall>();
  same<keyof FanoutClient, 'publish' | 'ready'>();
  same<keyof FanoutRuntime, 'channelName' | 'endpoint' | 'connections' | 'publishers'>();
  same<ReturnType<FanoutRuntime['publishers']>, readonly PublisherStatus[]>();
  // @ts-expect-error -- nor has a publish
  expect(call.metadata).toBeUndefined();
  // @ts-expect-error -- the declaration says what an event holds
  expect(host.fanoutClient.publish('news', Notice({ txt: '' }))).toBeDefined();
});

test('[HOSTREG-005] what is not built has no name: no Spot, Actor, stream, store or relocation', () => {
  const host = createHost();
  same<keyof RouteClient, 'sendToNode' | 'requestToNode' | 'sendToChannel' | 'requestToChannel'>();
  const mesh = host.addRouteMesh(MESH);
  // @ts-expect-error -- later
  expect(mesh.objects).toBeUndefined();
  // @ts-expect-error -- later
  expect(mesh.setPublishConcurrency).toBeUndefined();
  // @ts-expect-error -- later
  expect(host.spotClient).toBeUndefined();
  // @ts-expect-error -- later
  expect(host.addStreamNode).toBeUndefined();
  // @ts-expect-error -- later
  expect(host.relocate).toBeUndefined();
});

test('[HOSTREG-005] the public names are these, and none of them is of sockets, queues or frames', () => {
  expect(Object.keys(framework).sort()).toEqual([
    'ConfigurationError',
    'ErrorKind',
    'ZLinkError',
    'ZLinkMessage',
    'createCurveKeys',
    'createHost',
    'createMemoryLocationStore',
    'createMemoryRelocationStore',
    'createMemoryStoreBackend',
    'isZLinkError',
    'message',
    'metadata',
    'request',
  ]);
  const host = createHost();
  const described = [host.addClientServerChannel(CHANNEL), host.addRouteMesh(MESH), host.addFanoutChannel('news')];
  const parts = [host, host.routeClient, host.fanoutClient, host.query, host.fanoutChannel('news'), ...described];
  const names = parts.flatMap((part) => [
    ...Object.getOwnPropertyNames(part),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(part)),
  ]);
  expect(names).toEqual(
    expect.arrayContaining(['clientServerChannel', 'fanoutChannel', 'publish', 'publishers', 'addRouteSendHandler']),
  );
  expect(
    names.filter((name) => /socket|frame|envelope|table|liveness|heartbeat|reconnect|backoff|zmq/i.test(name)),
  ).toEqual([]);
  // @ts-expect-error -- liveness is no option
  const options: HostOptions = { livenessIntervalMs: 1 };
  expect(createHost(options).state).toBe('configuring');
});

test('[HOSTREG-004] what a started host shows is read-only', () => {
  const host = createHost();
  // @ts-expect-error -- read-only
  expect(() => (host.state = 'serving')).toThrow(TypeError);
  // @ts-expect-error -- read-only
  expect(() => (host.effectiveMaxQueuedApplicationJobs = 1)).toThrow(TypeError);
  for (const part of [host.query, host.routeClient]) expect(Object.isFrozen(part)).toBe(true);
});

test('[ERR-001] kinds and codes are closed sets', () => {
  same<keyof typeof ErrorKind, ErrorKindName>();
  same<(typeof ErrorKind)['NotFound'], 0>();
  same<(typeof ErrorKind)['InternalFailure'], 12>();
  const error = new ZLinkError('NotFound', 'no such order', { cause: 1, submitted: true });
  same<typeof error.kind, ErrorKindName>();
  accepts<`ZLINK_${string}`, typeof error.code>();
  accepts<boolean, typeof error.submitted>();
  // @ts-expect-error -- no such kind
  expect(() => new ZLinkError('Lost', 'x')).toThrow(ZLinkError);
  // @ts-expect-error -- read-only, for the compiler
  error.kind = 'Rejected';
  accepts<readonly string[], ConfigurationError['problems']>();
  expect(ErrorKind.InternalFailure).toBe(12);
  expect(new ConfigurationError(['x'])).toBeInstanceOf(Error);
  const unknown: unknown = error;
  if (isZLinkError(unknown)) same<typeof unknown, ZLinkError>();
  expect([isZLinkError(unknown), isZLinkError(new ConfigurationError(['x']))]).toEqual([true, false]);
});

// The shapes that applications rely on, each named here once more.
test('[HOSTREG-005] host, builders, views and contracts have their public shapes', () => {
  accepts<AsyncDisposable, Host>();
  accepts<(options?: { deadlineMs?: number; signal?: AbortSignal }) => Promise<ShutdownResult>, Host['shutdown']>();
  accepts<(signal?: AbortSignal) => Promise<void>, Host['start']>();
  accepts<(service: HostedService) => Host, Host['addHostedService']>();
  accepts<(filter: Filter) => Host, Host['addFilter']>();
  accepts<(name: string) => ClientServerChannelBuilder, Host['addClientServerChannel']>();
  accepts<(name: string) => ClientServerRuntime, Host['clientServerChannel']>();
  accepts<number, Host['effectiveMaxQueuedApplicationJobs']>();
  accepts<HostState, Host['state']>();
  same<
    HostState,
    'configuring' | 'starting' | 'serving' | 'relocating' | 'relocated' | 'draining' | 'stopped' | 'error'
  >();
  same<ShutdownResult['outcome'], 'stopped' | 'forceStopped'>();
  same<ShutdownResult['reason'], 'none' | 'deadlineExceeded' | 'teardownFailed'>();

  type Client = ReturnType<ClientServerChannelBuilder['client']>;
  accepts<(endpoint: string) => Client, Client['connect']>();
  accepts<(ms: number) => Client, Client['setSendTimeoutMs']>();
  accepts<(ms: number) => Client, Client['setRequestTimeoutMs']>();
  type Server = ReturnType<ClientServerChannelBuilder['server']>;
  accepts<(port?: number) => Server, Server['listen']>();
  accepts<(host: string) => Server, Server['setBindHost']>();
  accepts<(host: string) => Server, Server['setAdvertiseHost']>();
  accepts<(count: number) => Server, Server['setWeight'] & Server['concurrency'] & Server['maxMessageSize']>();
  accepts<(rid: string) => Server, Server['routingId']>();

  accepts<string | undefined, ClientServerRuntime['endpoint']>();
  accepts<(weight: number) => void, ClientServerRuntime['setWeight']>();
  accepts<() => readonly ServerStatus[], ClientServerRuntime['servers']>();
  accepts<(count: number, signal?: AbortSignal) => Promise<void>, ClientServerRuntime['whenReady']>();
  accepts<
    {
      endpoint: string;
      state: LinkState;
      reason?: string;
      routingId?: string;
      weight: number;
      draining: boolean;
      local: boolean;
    },
    ServerStatus
  >();
  type MeshServer = ReturnType<ReturnType<RouteMeshBuilder['channel']>['server']>;
  same<MeshServer, MeshChannelServerBuilder>();
  accepts<ChannelServerBuilder, MeshServer>();
  accepts<(name: string) => MeshChannelBuilder, RouteMeshBuilder['channel']>();
  accepts<(portOrRid: string, endpoint: string) => RouteMeshBuilder, RouteMeshBuilder['connect']>();
  accepts<(name: string) => RouteMeshRuntime, Host['routeMesh']>();
  accepts<string, RouteMeshRuntime['routingId' | 'endpoint' | 'meshName']>();
  same<ReturnType<RouteMeshRuntime['channel']>, MeshChannelRuntime>();
  same<RouteMeshRuntime['peers'], MeshPeers>();
  same<ReturnType<MeshPeers['list']>, readonly PeerStatus[]>();
  accepts<{ endpoint: string; state: LinkState; reason?: string; routingId?: string; draining: boolean }, PeerStatus>();
  accepts<readonly { readonly name: string; readonly weight: number }[], PeerStatus['channels']>();
  accepts<'nodeSend' | 'nodeRequest', Extract<FilterContext['dispatchKind'], `node${string}`>>();
  same<LinkState, 'connecting' | 'admitted' | 'ready' | 'notRequired' | 'rejected' | 'reconnecting' | 'closed'>();

  type Listeners = ReturnType<RuntimeQuery['listeners']>[number];
  same<Listeners, ListenerStatus>();
  same<ReturnType<RuntimeQuery['inboundDispatch']>['flow'], ReceiveFlow>();
  accepts<
    { kind: 'ROUTE_MESH' | 'CLIENT_SERVER' | 'FANOUT' | 'STREAM'; name: string; endpoint: string; since: Date },
    Listeners
  >();
  accepts<
    { permitsInUse: number; max: number; flow: 'RUNNING' | 'PAUSED' },
    ReturnType<RuntimeQuery['inboundDispatch']>
  >();
  accepts<readonly MessageCounters[], ReturnType<RuntimeQuery['counters']>>();
  accepts<Readonly<Record<string, number>>, MessageCounters['dropped']>();

  accepts<{ get(key: string): string | undefined; has(key: string): boolean; readonly size: number }, Metadata>();
  accepts<Iterable<readonly [string, string]>, Metadata>();
  accepts<'channelRequest', Extract<FilterContext['dispatchKind'], 'channelRequest'>>();
  accepts<PacketKey<Order>, typeof Charge>();
  accepts<PacketKey<Parcel>, typeof Parcel>();
  accepts<{ debug(record: object): void; error(record: object): void }, Logger>();
  accepts<
    CurveSecurity,
    { publicKey: string; secretKey: string; allowedClientKeys: (key: string) => Promise<boolean> }
  >();
  same<ReturnType<typeof createCurveKeys>, CurveKeys>();
  accepts<CurveSecurity, CurveKeys>();
  accepts<ServiceProvider, { createScope(): { get<T>(token: Type<T>): Promise<T>; dispose(): Promise<void> } }>();
  accepts<SendHandler<Order, ChannelContext>, (order: Order) => Promise<void>>();
  accepts<RequestHandler<Order, Receipt, ChannelContext>, new () => { handle(order: Order): Promise<Receipt> }>();
  accepts<Codec['decode'], (bytes: Uint8Array) => unknown>();
  accepts<
    HostOptions,
    { inboundDispatch: { coreHwmProfile: 'compact'; maxQueuedApplicationJobs: 1 }; exposeErrorMessages: true }
  >();

  // A schema library’s own validators fit as they are.
  const schema: StandardSchemaV1<unknown, Order> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Order }) },
  };
  const Checked = request<Order, Receipt>('types.checked', { schema });
  same<typeof Checked, typeof Charge>();
  expect(Checked({ orderId: '7' })).toMatchObject({ packetName: 'types.checked', value: { orderId: '7' } });
});
