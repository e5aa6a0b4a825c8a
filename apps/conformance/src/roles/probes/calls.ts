/** Looks at calls from within: listeners, turns and arguments. */
import { createHost, type FanoutPublishCall, message, metadata, request } from '@zlink/framework';
import { Ask, CHANNEL, FEED, Note, Tick } from '../../contracts.ts';
import { errorFacts } from '../facts.ts';
import type { ProbeSite } from '../probes.ts';

function kindOf(error: unknown): string {
  const { kind, name } = errorFacts(error);
  return kind ?? name;
}

async function endKind(run: () => unknown): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (error) {
    return kindOf(error);
  }
}

/** Whether the promise of a send is settled before any turn of the event loop. */
export async function admitsAtOnce({ host }: ProbeSite, channel: string): Promise<boolean> {
  let isDone = false;
  const sent = host.routeClient
    .sendToChannel(channel, Note({ mark: 'at once' }))
    .submit()
    .then(() => (isDone = true));
  for (let microtask = 0; microtask < 5; microtask++) await Promise.resolve();
  const wasDone = isDone;
  await sent;
  return wasDone;
}

/** Listeners that answered and aborted calls have left at their signal. */
export async function leavesNoListeners({ host }: ProbeSite, channel: string): Promise<number> {
  const { signal } = new AbortController();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  let listeners = 0;
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  for (let call = 0; call < 20; call++) {
    await host.routeClient.requestToChannel(channel, Ask({ mark: String(call) })).submit(signal);
  }
  return listeners;
}

export async function badArguments({ host }: ProbeSite, channel: string): Promise<Record<string, string>> {
  const { routeClient } = host;
  const good = Ask({ mark: 'bad arguments' });
  return {
    emptyChannel: await endKind(() => routeClient.requestToChannel('', good).submit()),
    emptyPacketName: await endKind(() => request('')),
    noMessage: await endKind(() => routeClient.requestToChannel(channel, undefined as unknown as object).submit()),
    metadataWithNul: await endKind(() => routeClient.requestToChannel(channel, good).metadata('a\0b', 'c').submit()),
    metadataTooLarge: await endKind(() =>
      routeClient
        .requestToChannel(channel, good)
        .metadata(metadata({ k: 'v'.repeat(1_024) }))
        .submit(),
    ),
  };
}

export async function callsBeforeStart(_site: ProbeSite, channel: string): Promise<string> {
  const host = createHost({ testing: { allowSeveralHosts: true } });
  host.addClientServerChannel(channel).client().connect('tcp://127.0.0.1:1');
  const kind = await endKind(() => host.routeClient.requestToChannel(channel, Ask({ mark: 'early' })).submit());
  await host.shutdown();
  return kind;
}

/** Names that an application finds on what it gets. */
export function surfaceNames({ host }: ProbeSite, channel: string): Record<string, readonly string[]> {
  const publish: FanoutPublishCall = host.fanoutClient.publish(FEED, Tick({ mark: 'never' }));
  return {
    host: namesOf(host),
    routeClient: namesOf(host.routeClient),
    fanoutClient: namesOf(host.fanoutClient),
    query: namesOf(host.query),
    channel: namesOf(host.clientServerChannel(CHANNEL)),
    feed: namesOf(host.fanoutChannel(FEED)),
    send: methodsOf(host.routeClient.sendToChannel(channel, message<string>('conformance.text')('never'))),
    request: methodsOf(host.routeClient.requestToChannel(channel, Ask({ mark: 'never' }))),
    publish: methodsOf(publish),
  };
}

function methodsOf(value: object): readonly string[] {
  return namesOf(value).filter((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

function namesOf(value: object): readonly string[] {
  const names = new Set<string>();
  for (
    let at: object | null = value;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object
  ) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  names.delete('constructor');
  return [...names].sort();
}
