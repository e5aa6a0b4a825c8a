/** The hosts of one test over Redis, each in a process of its own, and what all of them must have in common. */
import type { CallEnds } from '../fixtures/fault-calls.ts';
import type { CallKind, FaultStoreHost, StoreHostOptions } from '../fixtures/fault-store-host.ts';
import { type FaultChild, startChild } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';

export type StoreHost = FaultChild<FaultStoreHost>;

export const SERVERS: CallKind = { verb: 'request', to: 'servers' };
export const MESH_CALLS: readonly CallKind[] = [
  { verb: 'request', to: 'mesh' },
  { verb: 'send', to: 'mesh' },
];

/** A process that can become a host. */
export function startProcess(): Promise<StoreHost> {
  return startChild<FaultStoreHost>('store-host');
}

export async function startHost(options: StoreHostOptions): Promise<StoreHost> {
  const host = await startProcess();
  await host.ask('start', options);
  return host;
}

/** Ends all in order; each must succeed. */
export async function endHosts(hosts: readonly StoreHost[]): Promise<void> {
  const results = await Promise.all(hosts.map((host) => host.ask('shutdown')));
  expect(results).toEqual(hosts.map(() => ({ outcome: 'stopped', reason: 'none' })));
  await Promise.all(hosts.map((host) => host.ended));
}

/** Resolves when the host has found its store ready or degraded; every finding counts once. */
export async function findsStore(host: StoreHost, state: 'ready' | 'degraded'): Promise<void> {
  for (;;) {
    const found = (await host.next('zlink.runtime.location.store_changed')) as { readonly state: string }; // its record
    if (found.state === state) return;
  }
}

/** Calls until one is answered, by that host if one is named; resolves with how long that took, in ms. */
export function reaches(host: StoreHost, kind: CallKind, by?: string): Promise<number> {
  const what = `a call of ${JSON.stringify(kind)} is answered${by === undefined ? '' : ` by ${by}`}`;
  return eventually(async () => {
    const end = await host.ask('ask', kind, 1_000);
    return end.kind === 'ok' && (by === undefined || end.by === by);
  }, what);
}

/** Every call had an end of one of these kinds, and no message was handled more than once anywhere. */
export async function expectOnce(
  hosts: readonly StoreHost[],
  ends: readonly CallEnds[],
  kinds: readonly string[] = ['ok'],
): Promise<void> {
  for (const { started, counts, errors } of ends) {
    expect(errors.filter(({ kind }) => !kinds.includes(kind))).toEqual([]);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(started);
    expect(counts['ok']).toBeGreaterThan(0);
  }
  const marks = (await Promise.all(hosts.map((host) => host.ask('handled')))).flat();
  expect(marks.length - new Set(marks).size).toBe(0);
}
