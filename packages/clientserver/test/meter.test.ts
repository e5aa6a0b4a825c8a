import type { CallLabels, HostMeter, SelectionFailure } from '@zlink/kernel/observe';
import { rejection } from '@zlink/testing/internal';
import { CHANNEL, configureServer, dialingClient, startClient, startServer } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { Ask } from './packets.ts';

/** Keeps whom calls are counted for, and how they ended. */
function recordingMeter(): { readonly meter: HostMeter; readonly labels: CallLabels[]; readonly told: unknown[] } {
  const labels: CallLabels[] = [];
  const told: unknown[] = [];
  const forCalls = (of: CallLabels): ReturnType<HostMeter['forCalls']> => {
    labels.push(of);
    return {
      requestStarted: () => void told.push('started'),
      requestEnded: (outcome) => void told.push(outcome),
      admissionWaited: (outcome) => void told.push(`admission ${outcome}`),
      selectionFailed: (reason: SelectionFailure) => void told.push(reason),
    };
  };
  const meter = { forCalls } as HostMeter; // a channel asks its host for nothing else
  return { meter, labels, told };
}

const shortWait = {
  with: (client: { setRequestTimeoutMs(ms: number): unknown }) => void client.setRequestTimeoutMs(500),
};

test('[METRIC-003] calls of a channel are told to the meter of its labels', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server');
  const { meter, labels, told } = recordingMeter();
  const client = await startClient(cluster, [server], { host: { meter } });
  expect(labels).toEqual([{ topology: 'client_server', channelName: CHANNEL }]);
  await client.request(CHANNEL, Ask(1)).submit();
  expect(told).toEqual(['started', 'succeeded']);
});

test('[METRIC-003] a call that finds no server says why: none is known, none is ready, all drain', async () => {
  const cluster = arrangeCluster();
  const { meter, told } = recordingMeter();
  const failing = async (servers: Parameters<typeof dialingClient>[1], name: string): Promise<void> => {
    const client = await dialingClient(cluster, servers, { ...shortWait, name, host: { meter } });
    await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).submit()));
  };
  await failing([await configureServer(cluster, 'starting').open()], 'first');
  const draining = await startServer(cluster, 'draining');
  draining.drain();
  await failing([draining], 'second');
  expect(told).toEqual(['started', 'not_ready', 'failed', 'started', 'draining', 'failed']);
});
