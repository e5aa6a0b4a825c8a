/** Looks at what may be sent: classes, literals, schemas, names and metadata. */
import { createHost, message, metadata, request, type StandardSchemaV1, ZLinkMessage } from '@zlink/framework';
import { Ask } from '../../contracts.ts';
import { errorFacts } from '../facts.ts';
import { ExpressLetter, Letter, Postcard } from '../parts/class-server.ts';
import type { ProbeSite } from '../probes.ts';

async function endOf(run: () => unknown): Promise<{ readonly kind: string; readonly submitted?: boolean }> {
  try {
    await run();
    return { kind: 'ok' };
  } catch (error) {
    const { kind, name, submitted } = errorFacts(error);
    return { kind: kind ?? name, ...(submitted === undefined ? {} : { submitted }) };
  }
}

export async function sendClasses({ host }: ProbeSite, channel: string): Promise<void> {
  const { routeClient } = host;
  await routeClient.sendToChannel(channel, new Letter('by static')).submit();
  await routeClient.sendToChannel(channel, ZLinkMessage.from(new ExpressLetter('as its base'), Letter)).submit();
  await routeClient.sendToChannel(channel, new Postcard('by class')).submit();
}

export function sendLiteral({ host }: ProbeSite, channel: string): ReturnType<typeof endOf> {
  return endOf(() => host.routeClient.sendToChannel(channel, { text: 'nameless' }).submit());
}

/** Takes texts of one character. */
const oneChar: StandardSchemaV1<unknown, string> = {
  '~standard': {
    version: 1,
    vendor: 'conformance',
    validate: (value) =>
      typeof value === 'string' && value.length === 1 ? { value } : { issues: [{ message: 'must be one character' }] },
  },
};

/** Both sides of a schema, in a host of its own beside the one that is asked. */
export async function schemaEnds(): Promise<Record<string, unknown>> {
  const [name, noteName, replyName] = ['schema.ask', 'schema.note', 'schema.reply'];
  const Strict = request<string, string>(name, { schema: oneChar });
  const Loose = request<string, string>(name);
  const StrictNote = message<string>(noteName, { schema: oneChar });
  const LooseNote = message<string>(noteName);
  const StrictReply = request<string, string>(replyName, { reply: { schema: oneChar } });
  const LooseReply = request<string, string>(replyName);
  const bare = request<string, string>('schema.bare');
  const handled: string[] = [];
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const host = createHost({ logger: quiet, onUnhandled: () => undefined, testing: { allowSeveralHosts: true } });
  const channel = host.addClientServerChannel('schemas');
  channel.client();
  channel
    .server()
    .addRequestHandler(Strict, (text) => {
      handled.push(text);
      return '2';
    })
    .addSendHandler(StrictNote, (text) => void handled.push(text))
    .addRequestHandler(StrictReply, () => 'more than one')
    .addRequestHandler(bare, () => 'more than one');
  await host.start();
  const { routeClient } = host;
  const askEnd = async (run: () => Promise<unknown>): Promise<string> => (await endOf(run)).kind;
  const StrictBare = request<string, string>('schema.bare', { reply: { schema: oneChar } });
  const result = {
    fits: await routeClient.requestToChannel('schemas', Strict('1')).submit(),
    unfitHere: await askEnd(() => routeClient.requestToChannel('schemas', Strict('too long')).submit()),
    unfitThere: await askEnd(() => routeClient.requestToChannel('schemas', Loose('too long')).submit()),
    unfitReply: await askEnd(() => routeClient.requestToChannel('schemas', LooseReply('1')).submit()),
    unfitReplyHere: await askEnd(() => routeClient.requestToChannel('schemas', StrictBare('1')).submit()),
  };
  await routeClient.sendToChannel('schemas', LooseNote('too long')).submit();
  await routeClient
    .requestToChannel('schemas', LooseReply('in line behind it'))
    .submit()
    .catch(() => undefined);
  const counters = host.query.counters().find((row) => row.owner === 'schemas' && row.verb === 'send');
  await host.shutdown();
  return { ...result, handled, droppedSends: counters?.dropped['decode_error'] ?? 0 };
}

export async function packetNames({ host }: ProbeSite, channel: string): Promise<Record<string, string>> {
  const named = async (name: string): Promise<string> =>
    (await endOf(() => host.routeClient.requestToChannel(channel, request<number, number>(name)(1)).submit())).kind;
  return {
    longest: await named('x'.repeat(255)),
    tooLong: await named('x'.repeat(256)),
    tooLongInBytes: await named('ü'.repeat(128)),
    empty: await named(''),
    withNul: await named('a\0b'),
  };
}

/** The longest value of a one-letter key that passes, and how the next one ends. */
export async function metadataSizes(
  { host }: ProbeSite,
  channel: string,
): Promise<{ readonly largest: number; readonly beyond: { readonly kind: string; readonly submitted?: boolean } }> {
  const call = (length: number): ReturnType<typeof endOf> =>
    endOf(() =>
      host.routeClient
        .requestToChannel(channel, Ask({ mark: 'm' }))
        .metadata(metadata([['k', 'v'.repeat(length)]]))
        .submit(),
    );
  let [passes, fails] = [0, 1_025];
  while (fails - passes > 1) {
    const middle = Math.floor((passes + fails) / 2);
    if ((await call(middle)).kind === 'ok') passes = middle;
    else fails = middle;
  }
  return { largest: passes, beyond: await call(fails) };
}
