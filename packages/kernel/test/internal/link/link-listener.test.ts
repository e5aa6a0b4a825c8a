import { randomBytes, seededRandom, strangerInputs } from '@zlink/testing';
import { DeadlineWheel } from '../../../src/internal/time/index.ts';
import type { Link, Pipe } from '../../../src/internal/transport/index.ts';
import {
  encodeHello,
  EndpointKind,
  ownHello,
  decodeRejection,
  RejectReason,
} from '../../../src/internal/wire/hello.ts';
import { HANDSHAKE_LIMIT, MIN_WINDOW_BYTES } from '../../../src/internal/wire/limits.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { sendRecord } from '../../../src/internal/link/handshake.ts';
import { decodeMessage } from '../wire/message-codec.ts';
import { mutatedMessage } from '../wire/mutation.ts';
import { DESCRIPTOR } from './link-side.ts';
import { TestHost, TestNetwork } from './test-host.ts';
import { TestRecord } from './test-record.ts';

/** Someone who has a connection and speaks for himself. */
class Stranger {
  readonly pipe: Pipe;
  readonly heard: string[] = [];
  isClosed = false;

  constructor(host: TestHost, address: string, say: (pipe: Pipe) => void) {
    this.pipe = host.engine.connect(
      { address, maxPartBytes: 0 },
      {
        onPipeOpen: () => say(this.pipe),
        onPipeMessage: (parts, first) => this.heard.push(describe(parts.slice(first))),
        onPipeClosed: () => (this.isClosed = true),
      },
    );
  }
}

function describe(parts: readonly Uint8Array[]): string {
  const batches = decodeMessage(parts);
  if (typeof batches === 'string') return batches;
  return batches
    .flat()
    .map(({ kind, payload }) =>
      kind === RecordKind.reject ? `reject ${decodeRejection(payload)?.reason}` : `kind ${kind}`,
    )
    .join();
}

const hello = (rid: string): Uint8Array =>
  encodeHello(
    ownHello({
      kind: EndpointKind.channelClient,
      generation: 1n,
      windowBytes: MIN_WINDOW_BYTES,
      maxMessageBytes: 0,
      rid,
      scope: 'billing',
      endpoint: '',
      publicKey: '',
      descriptor: { ...DESCRIPTOR, channels: [] },
    }),
  );

test('[SEC-002] connections that say nothing are bounded: one more is refused at once, and all of them after 5 s', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  const { endpoint } = await far.listen();
  const silent = Array.from({ length: HANDSHAKE_LIMIT }, () => new Stranger(near, endpoint, () => undefined));
  await net.settle();
  const oneMore = new Stranger(near, endpoint, (pipe) => sendRecord(pipe, RecordKind.hello, hello('late')));
  await net.settle();
  expect(oneMore.heard).toEqual([`reject ${RejectReason.busy}`]);
  expect([oneMore.isClosed, silent.some(({ isClosed }) => isClosed)]).toEqual([true, false]);
  expect(far.transport.status.refused).toEqual({ busy: 1 });
  await net.pass(5_100, 100);
  expect(silent.every(({ isClosed }) => isClosed)).toBe(true);
  expect(far.transport.status.refused).toEqual({ busy: 1, malformed: HANDSHAKE_LIMIT });
  const admitted = new Stranger(near, endpoint, (pipe) => sendRecord(pipe, RecordKind.hello, hello('welcome')));
  await net.settle();
  expect(admitted.heard).toEqual([`kind ${RecordKind.admit}`]);
  expect(await net.close()).toEqual([]);
});

test('[SEC-002] connections that are admitted in time do not count as handshakes', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  const { endpoint } = await far.listen();
  for (let at = 0; at < HANDSHAKE_LIMIT + 10; at++) {
    new Stranger(near, endpoint, (pipe) => sendRecord(pipe, RecordKind.hello, hello(`client ${at}`)));
    if (at % 500 === 0) await net.settle();
  }
  await net.settle();
  expect([far.transport.status.links, far.transport.status.refused]).toEqual([HANDSHAKE_LIMIT + 10, {}]);
  expect(await net.close()).toEqual([]);
});

test('[C06] strangers on the port are refused within 5 s and counted, real traffic goes on, the log stays quiet', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  const client = net.host('client');
  const listener = await far.listen();
  const intent = client.dial(listener.endpoint);
  await net.settle();
  const random = seededRandom(606);
  const inputs: (readonly Uint8Array[])[] = [
    ...strangerInputs.map(({ bytes }) => [bytes]),
    ...Array.from({ length: 500 }, () => [randomBytes(random, 1 + Math.floor(random() * 4_096))]),
    ...Array.from({ length: 1_500 }, () => mutatedMessage(random)),
  ];
  const strangers = inputs.map((parts) => new Stranger(near, listener.endpoint, (pipe) => pipe.send([...parts])));
  await net.pass(5_100, 100);
  const { refused, links } = far.transport.status;
  const counted = Object.values(refused).reduce((sum, count) => sum + count, 0);
  const closed = strangers.filter(({ isClosed }) => isClosed).length;
  expect(counted).toBe(closed);
  expect(closed + links - 1).toBe(strangers.length); // a mutation may be a good hello for this very channel
  expect(links).toBeLessThan(50);
  expect([intent.state, far.openLinks.includes(far.opened[0] as never)]).toEqual(['admitted', true]);
  // One line per reason and second, and this took six of them.
  const reasons = new Set(far.logged.map((record) => (record as { reason?: string }).reason));
  expect(far.logged.length).toBeLessThanOrEqual(6 * reasons.size);
  expect(await net.close()).toEqual([]);
});

test('[WIRE-003] a peer that breaks the protocol after admission is counted with a reason of its own', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  const { endpoint } = await far.listen();
  const peer = new Stranger(near, endpoint, (pipe) => {
    sendRecord(pipe, RecordKind.hello, hello('peer'));
    sendRecord(pipe, RecordKind.hello, hello('peer'));
  });
  await net.settle();
  expect(peer.heard).toEqual([`kind ${RecordKind.admit}`, `reject ${RejectReason.ended}`]);
  expect([peer.isClosed, far.closed]).toEqual([true, ['protocol error: record kind 16 after admission']]);
  expect(far.transport.status.refused).toEqual({ protocolError: 1 });
  expect(await net.close()).toEqual([]);
});

test('[NET-004] a topic whose admission check throws lets nobody in, and says so in the log', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  far.onRefuse = () => {
    throw new Error('the check is broken');
  };
  const { endpoint } = await far.listen();
  const peer = new Stranger(near, endpoint, (pipe) => sendRecord(pipe, RecordKind.hello, hello('peer')));
  await net.settle();
  expect([peer.isClosed, far.opened]).toEqual([true, []]);
  expect(far.logged).toContainEqual(expect.objectContaining({ eventId: 'zlink.transport.callback_failed' }));
  expect(await net.close()).toEqual([]);
});

test('[CORE-011] closing a listener calls off handshakes and does not wait for links that are gone', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  far.onOpen = (link) => link.fail('not this one');
  const listener = await far.listen();
  const silent = new Stranger(near, listener.endpoint, () => undefined);
  for (let at = 0; at < 3; at++)
    new Stranger(near, listener.endpoint, (pipe) => sendRecord(pipe, RecordKind.hello, hello(`${at}`)));
  await net.settle();
  expect(listener.links.size).toBe(0);
  let isClosed = false;
  void listener.close(60_000).then(() => (isClosed = true));
  await net.pass(100);
  expect([isClosed, silent.isClosed]).toEqual([true, true]);
  expect(await net.close()).toEqual([]);
});

test('[CORE-011] closing a transport ends a listener that lingers, and has forgotten those that are closed', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  const unbound: string[] = [];
  const listen = far.engine.listen.bind(far.engine);
  far.engine.listen = async (options, accept) => {
    const listener = await listen(options, accept);
    return {
      address: listener.address,
      unbind: () => {
        unbound.push(listener.address);
        return listener.unbind();
      },
      close: () => listener.close(),
    };
  };
  const [first, second] = [await far.listen(), await far.listen()];
  await first.close(0);
  near.dial(second.endpoint);
  await net.settle();
  const request = TestRecord.request().submit(far.openLinks[0] as Link); // it is admitted
  const closing = second.close(600_000);
  await net.pass(100);
  expect(await net.close()).toEqual([]);
  await closing;
  expect(request.journal).toEqual(['failed']);
  expect(unbound).toEqual([first.boundAddress, second.boundAddress, second.boundAddress]);
});

test('[NET-004] what the accepting side logs of a refusal is about its own endpoint, and counts what it held back', async () => {
  const net = new TestNetwork();
  const far = net.host('far', { policy: 'every' });
  const near = net.host('near');
  const { endpoint } = await far.listen();
  const intents = Array.from({ length: 3 }, () => near.dial(endpoint, { scope: 'hallo' }));
  await net.settle();
  const refused = {
    eventId: 'zlink.transport.connection_refused',
    reason: 'wrongScope',
    address: endpoint,
    text: 'this endpoint serves channel "billing", the caller asked for "hallo"',
  };
  expect(intents.map(({ reason }) => reason)).toEqual(Array.from({ length: 3 }, () => `peer: ${refused.text}`));
  for (const intent of intents) await intent.close(0);
  expect(far.logged).toEqual([refused]);
  expect(await net.close()).toEqual([]); // and with it the log
  expect(far.logged).toEqual([refused, { ...refused, suppressed: 2 }]);
  expect(net.clock.pendingBackgroundTimers).toBe(0);
});

test('[CALL-003] a transport on the wheel of its host leaves nothing in it, and leaves it open', async () => {
  const net = new TestNetwork();
  const faults: unknown[] = [];
  const wheel = new DeadlineWheel({ clock: net.clock, onError: (error) => faults.push(error) });
  const far = net.host('far', { policy: 'every', settings: { wheel } });
  const near = net.host('near', { settings: { wheel } });
  const { endpoint } = await far.listen();
  near.dial(endpoint);
  near.dial('tcp://nobody:9');
  new Stranger(near, endpoint, () => undefined);
  await net.settle();
  expect([near.openLinks.length, wheel.size > 2]).toEqual([1, true]);
  expect(await net.close()).toEqual([]);
  expect([wheel.size, faults]).toEqual([0, []]);
  const entry = {
    deadlineAtMs: net.clock.nowMs(),
    wheelSlot: -1,
    wheelNext: undefined,
    wheelPrevious: undefined,
    onDeadline: () => undefined,
  };
  expect(() => wheel.add(entry)).not.toThrow();
  wheel.close();
});

test.each(['the listener', 'the intent'])(
  '[CORE-011] [C25] what is submitted in the very turn in which %s gives its link up still leaves',
  async (who) => {
    const net = new TestNetwork();
    const far = net.host('far', { policy: 'every' });
    const near = net.host('near');
    const listener = await far.listen();
    const intent = near.dial(listener.endpoint);
    await net.settle();
    const [from, to] = who === 'the listener' ? [far, near] : [near, far];
    TestRecord.send({ payload: Buffer.from('last words') }).submit(from.openLinks[0]!);
    const closing = from === far ? listener.close(0) : intent.close(0);
    await Promise.resolve(); // the listener takes nobody any more
    net.clock.advance(1); // on a busy machine its time is over before the turn is
    await closing;
    await net.settle();
    expect([to.received, to.closed.length]).toEqual([1, 1]);
    expect(await net.close()).toEqual([]);
  },
);
