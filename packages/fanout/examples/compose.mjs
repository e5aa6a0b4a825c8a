// A host composed by hand: @zlink/fanout over @zlink/core-binding, without @zlink/framework. One process publishes, another
// one (here: another host) subscribes; the event goes through real ZeroMQ sockets. Then both close and the process ends by
// itself.
import { createZmqTransports } from '@zlink/core-binding';
import { builderOf, createFanoutClient, FanoutChannel, runtimeOf } from '@zlink/fanout';
import { CodecRegistry } from '@zlink/kernel/codec';
import { LastHandler } from '@zlink/kernel/dispatch';
import { Problems } from '@zlink/kernel/errors';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { DeadlineWheel, systemClock } from '@zlink/kernel/internal/time';
import { NameIndex } from '@zlink/kernel/internal/wire';
import { message } from '@zlink/kernel/message';
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
    ...createZmqTransports({ permits, memory, logger: stderrLogger }), // events, and links that are not used here
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

/** Handlers that have started end first, then sockets. */
async function stop(channel, parts) {
  channel.drain();
  await channel.drained();
  await channel.close(1_000);
  await parts.transport.close();
  parts.wheel.close();
  parts.flow.close();
  parts.log.close();
}

const Goal = message('match.goal');
const open = () => undefined; // this composer freezes nothing
let onGoal;
const goal = new Promise((resolve) => (onGoal = resolve));

const publisherParts = composeParts();
const publisher = new FanoutChannel('scores', open);
builderOf(publisher).enablePublisher();
await start(publisher, publisherParts);

const subscriberParts = composeParts();
const subscriber = new FanoutChannel('scores', open);
builderOf(subscriber)
  .connect(publisher.endpoint)
  .addHandler(Goal, ({ minute }, { topicText }) => onGoal(`${topicText} ${minute}`));
await start(subscriber, subscriberParts);

const client = createFanoutClient({ toChannel: () => publisher.path });
await client.ready('scores', 1);
await client.publish('scores', 'final', Goal({ minute: 89 })).submit();
console.log(await goal); // final 89
console.log(runtimeOf(subscriber).publishers()[0].missedEvents); // 0

const isRight = (await goal) === 'final 89';
await stop(subscriber, subscriberParts);
await stop(publisher, publisherParts);
if (!isRight) process.exitCode = 1;
