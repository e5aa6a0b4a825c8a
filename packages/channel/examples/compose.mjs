// Hosts composed by hand: @zlink/channel over @zlink/core-binding, without @zlink/framework. Two nodes of one mesh in one
// process; what they say to each other goes through real ZeroMQ sockets. Then both close and the process ends by itself.
import { builderOf, RouteMesh } from '@zlink/channel';
import { createZmqTransport } from '@zlink/core-binding';
import { RequestBuilder } from '@zlink/kernel/call';
import { CodecRegistry } from '@zlink/kernel/codec';
import { LastHandler } from '@zlink/kernel/dispatch';
import { Problems } from '@zlink/kernel/errors';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { DeadlineWheel, systemClock } from '@zlink/kernel/internal/time';
import { NameIndex } from '@zlink/kernel/internal/wire';
import { request, resolveOutbound } from '@zlink/kernel/message';
import { MessageFlow, NO_MONITOR, RateLimitedLog, stderrLogger } from '@zlink/kernel/observe';

/** What the meshes of one host share. */
function composeParts() {
  const log = new RateLimitedLog(stderrLogger, systemClock);
  const permits = new JobPermits({ max: 256, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  const memory = { budgetBytes: 67_108_864, maxWindowBytes: 4_194_304 };
  return {
    clock: systemClock,
    wheel: new DeadlineWheel({ clock: systemClock, onError: (error) => console.error(error) }),
    permits,
    codecs: new CodecRegistry().freeze(new Problems()), // JSON alone
    names: new NameIndex(),
    transport: createZmqTransport({ permits, memory, logger: stderrLogger }),
    discovery: undefined, // peers are configured by hand
    filters: [],
    lastHandler: new LastHandler(),
    services: undefined,
    log,
    flow: new MessageFlow({ clock: systemClock, logger: stderrLogger, log }),
    monitor: NO_MONITOR, // nobody looks at this host
    meter: undefined, // and nobody measures it
    exposeErrorMessages: false,
    onUnhandled: (error, { where }) => console.error(where, error),
    requestTimeoutMs: 30_000,
    sendTimeoutMs: 1_000,
    bindHost: '127.0.0.1',
    advertiseHost: undefined,
  };
}

/** The stages of a mesh up to serving. Every mistake in its description is reported here, before anything is bound. */
async function start(mesh, parts) {
  const problems = new Problems();
  const { bindHost, advertiseHost, services } = parts;
  mesh.validate({ problems, bindHost, advertiseHost, services, hasLocationStore: false });
  problems.throwIfAny();
  await mesh.open(parts);
  await mesh.announce(AbortSignal.timeout(10_000)); // without a store it has nobody to tell
  mesh.serve();
}

/** Accepted work ends first, then links and sockets. */
async function stop(mesh, parts) {
  mesh.drain();
  await mesh.drained();
  await mesh.close(1_000);
  await parts.transport.close();
  parts.wheel.close();
  parts.flow.close();
  parts.log.close();
}

const Join = request('match.join');
const Load = request('node.load');
const open = () => undefined; // this composer freezes nothing

const parts = composeParts();
const node = new RouteMesh('game', open);
const description = builderOf(node).routingId('play-1');
description.addRouteRequestHandler(Load, () => ({ players: 12 }));
description
  .channel('match')
  .server()
  .addRequestHandler(Join, ({ player }) => ({ room: `room of ${player}` }));
await start(node, parts);

const otherParts = composeParts();
const other = new RouteMesh('game', open);
const otherDescription = builderOf(other).connect(node.endpoint);
otherDescription.channel('match').client();
await start(other, otherParts);
await other.whenReady(1, AbortSignal.timeout(5_000));

// To whichever node serves the channel, and to one node by its RID.
const join = new RequestBuilder(other.channelPath('match'), resolveOutbound(Join({ player: 'ann' })));
const { room } = await join.timeoutMs(5_000).submit();
const load = new RequestBuilder(other.nodePath('play-1'), resolveOutbound(Load({})));
const { players } = await load.timeoutMs(5_000).submit();
console.log(room, players); // room of ann 12

await stop(other, otherParts);
await stop(node, parts);
if (room !== 'room of ann' || players !== 12) process.exitCode = 1;
