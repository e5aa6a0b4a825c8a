/** Calls of a host as plans describe them, and how they ended. */
import { type Host, request as requestPacket, type RequestCall, type SendCall } from '@zlink/framework';
import { MESH, packets, type Payload, type Reply } from '../contracts.ts';
import { errorFacts } from './facts.ts';
import type { BurstEnd, CallEnd, CallPlan, ErrorFacts, PublishPlan, ReplyFacts } from './plan.ts';

let marks = 0;

function payloadOf(given: Partial<Payload> | undefined): Payload {
  return { mark: `mark-${++marks}`, ...given };
}

/** The call, not submitted yet. */
export function build(host: Host, plan: CallPlan): SendCall | RequestCall<Reply> {
  const { to, verb = 'request', packet = verb === 'request' ? 'ask' : 'note' } = plan;
  const { routeClient } = host;
  // Any packet may be sent either way, and what that leads to is for the host to say.
  const named = typeof packet === 'string' ? packets[packet] : requestPacket<Payload, Reply>(packet.name);
  const sendable = named(payloadOf(plan.payload));
  let call: SendCall | RequestCall<Reply>;
  if (verb === 'send') {
    call =
      'channel' in to
        ? routeClient.sendToChannel(to.channel, sendable)
        : routeClient.sendToNode(to.mesh ?? MESH, to.rid, sendable);
  } else {
    const request =
      'channel' in to
        ? routeClient.requestToChannel(to.channel, sendable)
        : routeClient.requestToNode(to.mesh ?? MESH, to.rid, sendable);
    call = plan.timeoutMs === undefined ? request : request.timeoutMs(plan.timeoutMs);
  }
  for (const [key, value] of plan.metadata ?? []) call.metadata(key, value);
  return call;
}

export async function submit(host: Host, plan: CallPlan, signal?: AbortSignal): Promise<Reply | undefined> {
  return (await build(host, plan).submit(signal)) as Reply | undefined; // a send resolves with nothing
}

export async function endOf(run: () => Promise<Reply | undefined>): Promise<CallEnd> {
  const startedAtMs = performance.now();
  const elapsed = (): number => performance.now() - startedAtMs;
  try {
    const reply = await run();
    return { ok: true, reply: reply === undefined ? undefined : replyFacts(reply), ms: elapsed() };
  } catch (error) {
    return { ok: false, error: errorFacts(error), ms: elapsed() };
  }
}

function replyFacts({ mark, by, text, bytes }: Reply): ReplyFacts {
  return { mark, by, text, ...(bytes === undefined ? {} : { bytes }) };
}

/** Starts `count` calls, all in one turn; their marks end with their numbers from 0. */
export async function burst(host: Host, plan: CallPlan, count: number): Promise<BurstEnd> {
  const mark = plan.payload?.mark ?? `burst-${++marks}`;
  const ends: Record<string, number> = {};
  const by = new Array<string>(count).fill('');
  let firstError: ErrorFacts | undefined;
  let mixedUp = 0;
  const one = async (number: number): Promise<void> => {
    const own = `${mark}-${number}`;
    const end = await endOf(() => submit(host, { ...plan, payload: { ...plan.payload, mark: own } }));
    const name = end.ok ? 'ok' : (end.error.kind ?? end.error.name);
    ends[name] = (ends[name] ?? 0) + 1;
    if (!end.ok) firstError ??= end.error;
    else if (end.reply !== undefined) {
      by[number] = end.reply.by;
      if (end.reply.mark !== own) mixedUp++;
    }
  };
  await Promise.all(Array.from({ length: count }, (_, number) => one(number)));
  return { ends, by, mixedUp, ...(firstError === undefined ? {} : { firstError }) };
}

export async function publish(host: Host, channel: string, plan: PublishPlan): Promise<void> {
  const { topic, packet = 'tick' } = plan;
  const event = (packets[packet] as typeof packets.tick)(payloadOf(plan.payload));
  const { fanoutClient } = host;
  await (
    topic === undefined ? fanoutClient.publish(channel, event) : fanoutClient.publish(channel, topic, event)
  ).submit();
}
