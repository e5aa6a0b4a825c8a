/**
 * Cost of choosing a node of a mesh: a channel with 1,000 members against one with 2, by the route that calls take.
 *
 * In this process; nothing is sent. Mesh and route are those of production; what they run on is a transport that has its
 * links already, and the call only looks at the link it is given.
 */
import { builderOf, RouteMesh } from '@zlink/channel';
import type { CallPath, RoutableCall } from '@zlink/kernel/call';
import { CodecRegistry } from '@zlink/kernel/codec';
import { LastHandler } from '@zlink/kernel/dispatch';
import { isZLinkError, Problems } from '@zlink/kernel/errors';
import { JobPermits } from '@zlink/kernel/internal/execution';
import type { HostParts } from '@zlink/kernel/internal/host';
import { type Clock, DeadlineWheel, systemClock } from '@zlink/kernel/internal/time';
import type { Link } from '@zlink/kernel/internal/transport';
import { NameIndex, RecordKind } from '@zlink/kernel/internal/wire';
import { MessageFlow, NO_MONITOR, RateLimitedLog, stderrLogger } from '@zlink/kernel/observe';
import { choosing } from './choosing.ts';
import { LinkedTransport } from './linked-transport.ts';

export const meshSelection = choosing({
  name: 'mesh-selection',
  says: 'time to choose one of 1,000 members of a channel, against one of 2, by the route of a mesh',
  candidates: 'members',
  open: async (memberCount) => {
    const path = await openRoute(memberCount);
    const call = new ChoosingCall();
    return (choiceCount) => choose(path, call, choiceCount);
  },
});

const channelName = 'bench';

/** The way of the channel's calls in a mesh with so many members, all of which are ready. */
async function openRoute(memberCount: number): Promise<CallPath> {
  const mesh = new RouteMesh('bench', () => undefined);
  builderOf(mesh).channel(channelName).client();
  const problems = new Problems();
  const network = { bindHost: '127.0.0.1', advertiseHost: undefined };
  mesh.validate({ problems, ...network, services: undefined, hasLocationStore: false });
  problems.throwIfAny();
  await mesh.open({ ...createParts(memberCount), ...network });
  mesh.serve();
  await mesh.whenReady(memberCount);
  const path = mesh.channelPath(channelName);
  if (isZLinkError(path)) throw path;
  return path;
}

/** It stands still: what is measured is the order once it was found, not whether a busy machine finds it in time. */
const standingClock: Clock = { ...systemClock, nowMs: () => 0 };

function createParts(memberCount: number): Omit<HostParts, 'bindHost' | 'advertiseHost'> {
  const log = new RateLimitedLog(stderrLogger, standingClock);
  return {
    clock: standingClock,
    wheel: new DeadlineWheel({ clock: standingClock, onError: (error) => console.error(error) }),
    permits: new JobPermits({ max: 256, pauseThresholdPercent: 80, resumeThresholdPercent: 60 }),
    codecs: new CodecRegistry().freeze(new Problems()),
    names: new NameIndex(),
    transport: new LinkedTransport(channelName, memberCount),
    events: { bind: noEvents, subscribe: noEvents, close: async () => undefined },
    monitor: NO_MONITOR,
    discovery: undefined,
    filters: [],
    lastHandler: new LastHandler(),
    services: undefined,
    log,
    flow: new MessageFlow({ clock: standingClock, logger: stderrLogger, log }),
    meter: undefined,
    exposeErrorMessages: false,
    onUnhandled: (error) => console.error(error),
    requestTimeoutMs: 30_000,
    sendTimeoutMs: 1_000,
  };
}

function noEvents(): never {
  throw new Error('a mesh has no events');
}

/** A call that ends with its link; only what a route looks at is of use. */
class ChoosingCall implements RoutableCall {
  readonly kind = RecordKind.send;
  readonly name = undefined;
  readonly errorNumber = 0;
  readonly deadlineAtMs = 0;
  readonly metadata = undefined;
  readonly trace = undefined;
  readonly belongsToHandler = false;
  correlation = 0;
  costBytes = 0;
  /** How often the link was another one than before; reads nothing of it, which would time the memory instead. */
  changeCount = 0;
  #last: Link | undefined;

  takeLink(link: Link): void {
    if (link === this.#last) return;
    this.#last = link;
    this.changeCount++;
  }

  awaitTarget(): void {
    throw new Error('a member was not ready');
  }

  encode(): void {
    throw new Error('nothing is sent');
  }

  onAdmitted(): void {
    // Nothing is sent.
  }

  onRefused(error: Error): void {
    throw error;
  }
}

function choose(path: CallPath, call: ChoosingCall, choiceCount: number): void {
  const before = call.changeCount;
  for (let index = 0; index < choiceCount; index++) path.route(call);
  if (call.changeCount - before < choiceCount / 10) throw new Error('one member was chosen all the time');
}
