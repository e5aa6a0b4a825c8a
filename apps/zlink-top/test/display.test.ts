import { jsonDisplay } from '../src/display.ts';
import { ratesBetween } from '../src/watch/rates.ts';
import { linkedSnapshot, liveView, sampleReport, sampleTraffic } from './sample-host.ts';

function printed(...views: readonly ReturnType<typeof liveView>[]): readonly Readonly<Record<string, unknown>>[] {
  const lines: string[] = [];
  const display = jsonDisplay((text) => lines.push(text));
  for (const view of views) display.changed(view);
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

test('[MON-001] a line of JSON has, from the second report on, what goes over each link, and over all, per second', () => {
  const [before, after] = [1_000, 1_400].map((sentMessages, at) =>
    sampleReport({
      uptimeMs: at * 2_000,
      snapshot: linkedSnapshot(undefined, sampleTraffic({ sentMessages })),
      counters: [],
    }),
  );
  const [first, second] = printed(liveView(before), liveView(after, ratesBetween(before!, after!)));
  expect(first).toEqual({ path: '/run/4242.sock' });
  expect(second).toEqual({
    path: '/run/4242.sock',
    rates: [],
    linkRates: [
      {
        topology: 'channel',
        name: 'billing',
        endpoint: 'tcp://10.0.0.4:7200',
        rid: 'billing-4',
        sentMessages: 200,
        sentBytes: 0,
        receivedMessages: 0,
        receivedBytes: 0,
      },
    ],
    allLinkRates: { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 },
  });
});
