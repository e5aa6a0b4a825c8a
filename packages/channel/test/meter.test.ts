import type { CallLabels, HostMeter, SelectionFailure } from '@zlink/kernel/observe';
import { until } from '@zlink/testing';
import { rejection } from '@zlink/testing/internal';
import { ask, CHANNEL, describeNode, joinNode, MESH, startNode } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { Ask } from './packets.ts';

/** Keeps how calls ended, by surface. */
function recordingMeter(): { readonly meter: HostMeter; readonly labels: CallLabels[]; readonly told: unknown[] } {
  const labels: CallLabels[] = [];
  const told: unknown[] = [];
  const forCalls = (of: CallLabels): ReturnType<HostMeter['forCalls']> => {
    labels.push(of);
    const surface = of.topology === 'mesh_node' ? of.surface : of.topology;
    return {
      requestStarted: () => void told.push([surface, 'started']),
      requestEnded: (outcome) => void told.push([surface, outcome]),
      admissionWaited: (outcome) => void told.push([surface, `admission ${outcome}`]),
      selectionFailed: (reason: SelectionFailure) => void told.push([surface, reason]),
    };
  };
  const meter = { forCalls } as HostMeter; // a mesh asks its host for nothing else
  return { meter, labels, told };
}

test('[METRIC-003] calls to nodes and to channels of a mesh have meters of their own', async () => {
  const cluster = arrangeCluster();
  const server = await startNode(cluster, 'A', { weight: 100 });
  const { meter, labels, told } = recordingMeter();
  const caller = await joinNode(cluster, 'caller', { connect: [server], host: { meter } });
  expect(labels).toEqual([
    { topology: 'mesh_node', meshName: MESH, surface: 'channel', channelName: CHANNEL },
    { topology: 'mesh_node', meshName: MESH, surface: 'node' },
  ]);
  await ask(caller, 1);
  await caller.requestToNode(MESH, 'A', Ask(1)).submit();
  expect(told).toEqual([
    ['channel', 'started'],
    ['channel', 'succeeded'],
    ['node', 'started'],
    ['node', 'succeeded'],
  ]);
});

test('[METRIC-003] a call that finds no node says why: none is known, none is ready, all drain', async () => {
  const cluster = arrangeCluster();
  const { meter, told } = recordingMeter();
  const caller = await startNode(cluster, 'caller', { host: { meter } });
  const failing = async (): Promise<unknown> => {
    told.length = 0;
    await cluster.passing(rejection(caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit()));
    return told[1];
  };
  expect(await failing()).toEqual(['channel', 'no_member']);
  const server = await describeNode(cluster, 'A', { weight: 100, connect: [caller] }).open();
  await cluster.passing(until(() => caller.runtime(MESH).peers.list()[0]?.state === 'admitted', 'it is admitted'));
  expect(await failing()).toEqual(['channel', 'not_ready']);
  server.serve();
  await cluster.passing(caller.runtime(MESH).whenReady(1));
  server.drain();
  await cluster.passing(until(() => caller.runtime(MESH).peers.list()[0]?.draining === true, 'it drains'));
  expect(await failing()).toEqual(['channel', 'draining']);
  told.length = 0;
  await rejection(caller.requestToNode(MESH, 'nobody', Ask(1)).submit());
  expect(told[1]).toEqual(['node', 'no_member']);
});
