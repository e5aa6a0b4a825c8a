// A host composed by hand: @zlink/clientserver over @zlink/core-binding, without @zlink/framework. A server and a client
// in one process; the client's request goes through real ZeroMQ sockets. Then both close and the process ends by itself.
import { ClientServerChannel } from '@zlink/clientserver';
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

/** What the channels of one host share. */
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
    discovery: undefined, // no Location Store
    bindHost: '127.0.0.1',
    advertiseHost: undefined,
  };
}

/** The stages of a channel up to serving. Every mistake in its description is reported here, before anything is bound. */
async function start(channel, parts) {
  const problems = new Problems();
  const { bindHost, advertiseHost, services } = parts;
  channel.validate({ problems, bindHost, advertiseHost, services, hasLocationStore: false });
  problems.throwIfAny();
  await channel.open(parts);
  await channel.announce(new AbortController().signal);
  channel.serve();
}

/** Accepted work ends first, then links and sockets. */
async function stop(channel, parts) {
  channel.drain();
  await channel.drained();
  await channel.close(1_000);
  await parts.transport.close();
  parts.wheel.close();
  parts.flow.close();
  parts.log.close();
}

const Charge = request('billing.charge');
const open = () => undefined; // this composer freezes nothing

const serverParts = composeParts();
const server = new ClientServerChannel('billing', open);
server.server().addRequestHandler(Charge, ({ orderId }) => ({ receipt: `r-${orderId}` }));
await start(server, serverParts);

const clientParts = composeParts();
const client = new ClientServerChannel('billing', open);
client.client().connect(server.endpoint);
await start(client, clientParts);

const call = new RequestBuilder(client.path, resolveOutbound(Charge({ orderId: '7' })));
const { receipt } = await call.timeoutMs(5_000).submit();
console.log(receipt); // r-7

await stop(client, clientParts);
await stop(server, serverParts);
if (receipt !== 'r-7') process.exitCode = 1;
