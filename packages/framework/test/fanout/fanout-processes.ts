/** The hosts of one fanout test, each in a process of its own. Owns what such tests ask of them in common. */
import type { PublisherStatus } from '@zlink/framework';
import { type ChildOptions, type FaultChild, startChild } from '../faults/fault-child.ts';
import type { FanoutHostOptions, FaultFanoutHost } from '../fixtures/fault-fanout-host.ts';
import { eventually } from '../redis/eventually.ts';

export type FanoutHost = FaultChild<FaultFanoutHost>;

export async function startHost(options: FanoutHostOptions, child?: ChildOptions): Promise<FanoutHost> {
  const host = await startChild<FaultFanoutHost>('fanout-host', child);
  await host.ask('start', options);
  return host;
}

/** Until that event of the publisher is the last one that the subscriber has seen of it. */
export async function reaches(subscriber: FanoutHost, by: string, seq: number, limitMs?: number): Promise<void> {
  await eventually(async () => (await subscriber.ask('seen'))[by]?.last === seq, `${by} ${seq} is seen`, limitMs);
}

/** Until the publishers that the subscriber shows are as they should be. */
export async function shows(
  subscriber: FanoutHost,
  areRight: (publishers: readonly PublisherStatus[]) => boolean,
  what: string,
  limitMs?: number,
): Promise<readonly PublisherStatus[]> {
  let rows: readonly PublisherStatus[] = [];
  await eventually(async () => areRight((rows = await subscriber.ask('publishers'))), what, limitMs);
  return rows;
}

/** Ends all in order; each must succeed. */
export async function endHosts(hosts: readonly FanoutHost[]): Promise<void> {
  const results = await Promise.all(hosts.map((host) => host.ask('shutdown')));
  expect(results).toEqual(hosts.map(() => ({ outcome: 'stopped', reason: 'none' })));
  await Promise.all(hosts.map((host) => host.ended));
}

/** All of these numbers, each once, in order. */
export const whole = (first: number, last: number): object => ({
  count: last - first + 1,
  first,
  last,
  repeated: [],
  inOrder: true,
});
