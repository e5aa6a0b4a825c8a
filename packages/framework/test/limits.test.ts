import { until } from '@zlink/testing';
import { accepted, ask, counters, makeHost, startClient, startPair, startServer } from './hosts.ts';
import { rejection } from './outcome.ts';
import { Ask, CHANNEL, Notice } from './packets.ts';

const text = (bytes: number): string => 'x'.repeat(bytes - 2); // JSON puts two quotes around it

test('[CS-003] [JOBQ-010] a message above the server’s limit fails at the sender and nothing of it leaves', async () => {
  const { server, client } = await startPair({
    answer: () => 'taken',
    with: (builder) => builder.maxMessageSize(1_000).addSendHandler(Notice, () => undefined),
  });
  expect(await ask(client, text(1_000))).toBe('taken');
  const error = await rejection(ask(client, text(1_001)));
  expect(error).toMatchObject({ kind: 'InvalidOperation', submitted: false });
  expect(error.message).toContain('has 1001 bytes');
  expect(error.message).toContain('accepts at most 1000');
  const withMetadata = client.routeClient.requestToChannel(CHANNEL, Ask(text(1_000))).metadata('k', 'v');
  expect((await rejection(withMetadata.submit())).kind).toBe('InvalidOperation'); // metadata counts
  const send = client.routeClient.sendToChannel(CHANNEL, Notice(text(1_001)));
  expect((await rejection(send.submit())).kind).toBe('InvalidOperation');
  expect(await ask(client, 'still connected')).toBe('taken');
  expect([counters(server, 'request').accepted, counters(server, 'send').accepted]).toEqual([2, 0]);
});

test('[CS-003] without another word the limit is 16 MiB, and 0 is none', async () => {
  const limited = await startPair({ answer: (asked) => String(asked).length });
  expect((await rejection(ask(limited.client, text(16_777_217)))).message).toContain('accepts at most 16777216');
  expect(await ask(limited.client, text(16_777_216))).toBe(16_777_214);
  const unlimited = await startPair({
    answer: (asked) => String(asked).length,
    with: (builder) => builder.maxMessageSize(0),
  });
  expect(await ask(unlimited.client, text(20_000_000))).toBe(19_999_998);
});

test('[JOBQ-010] the limit is checked against neither budget nor window nor queue', async () => {
  const { client } = await startPair({
    options: { inboundDispatch: { coreHwmBudgetBytes: 1, coreHwmProfile: 'compact', maxQueuedApplicationJobs: 1 } },
    answer: (asked) => String(asked).length,
    with: (builder) => builder.maxMessageSize(1_048_576),
  });
  expect(await ask(client, text(1_048_576))).toBe(1_048_574); // larger than the window and the whole budget
});

test('[CS-011] a weight changes while messages flow; 0 takes nothing new and keeps the link', async () => {
  const [a, b] = [await startServer({ answer: () => 'a' }), await startServer({ answer: () => 'b' })];
  const client = await startClient([a, b]);
  const weights = () =>
    client
      .clientServerChannel(CHANNEL)
      .servers()
      .map(({ weight }) => weight);
  const share = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => ask(client, 1)));
    return answers.filter((answer) => answer === 'a').length;
  };
  expect(await share(20)).toBe(10);

  a.clientServerChannel(CHANNEL).setWeight(0);
  await until(() => weights()[0] === 0, 'the client knows');
  expect(await share(20)).toBe(0);
  expect(client.clientServerChannel(CHANNEL).servers()).toMatchObject([
    { state: 'ready', weight: 0 },
    { state: 'ready' },
  ]);

  a.clientServerChannel(CHANNEL).setWeight(300);
  await until(() => weights()[0] === 300, 'the client knows');
  expect(await share(20)).toBe(15);
});

test('[CS-011] what was sent before a weight of 0 is still served', async () => {
  const server = await startServer({ answer: async (asked) => asked });
  const client = await startClient([server]);
  const calls = Array.from({ length: 50 }, (_, at) => ask(client, at));
  server.clientServerChannel(CHANNEL).setWeight(0);
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

test.each([-1, 10_001, 1.5, NaN, '7', undefined])(
  '[CS-011] weight %p is refused and the old one stays',
  async (weight) => {
    const { server, client } = await startPair({ with: (builder) => builder.setWeight(7) });
    expect(() => server.clientServerChannel(CHANNEL).setWeight(weight as number)).toThrow(
      /^channel "billing" weight: .* is not allowed, allowed: integer 0\.\.10000$/,
    );
    expect(await ask(client, 1)).toBe(1);
    expect(client.clientServerChannel(CHANNEL).servers()).toMatchObject([{ weight: 7 }]);
  },
);

test('[CS-011] only a local server has a weight to set', async () => {
  const { client } = await startPair();
  expect(() => client.clientServerChannel(CHANNEL).setWeight(1)).toThrow('[NotConfigured]');
  expect(() => makeHost().clientServerChannel(CHANNEL)).toThrow('[NotFound]');
});

test('[CS-002] a server of the same process is a target like any other, and its weight counts', async () => {
  const other = await startServer({ answer: () => 'other' });
  const host = makeHost();
  const channel = host.addClientServerChannel(CHANNEL);
  channel
    .server()
    .setWeight(0)
    .addRequestHandler(Ask, () => 'own');
  channel.client().connect(other.clientServerChannel(CHANNEL).endpoint ?? '');
  await host.start();
  await host.clientServerChannel(CHANNEL).whenReady(2);
  expect(await ask(host, 1)).toBe('other');
  host.clientServerChannel(CHANNEL).setWeight(10_000);
  await until(() => host.clientServerChannel(CHANNEL).servers()[0]?.weight === 10_000, 'the client knows');
  expect(host.clientServerChannel(CHANNEL).servers()).toMatchObject([{ local: true }, { local: false }]);
  expect(await ask(host, 1)).toBe('own');
  await accepted(host, 'request', 1);
});
