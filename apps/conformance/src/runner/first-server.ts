/** Calls that have no server yet: the first one answers them, unless the machine lets it come too late. */
import assert from 'node:assert/strict';
import type { CallPlan } from '../roles/plan.ts';
import type { HostHandle } from './host-handle.ts';

/** So long a call waits for a first server, at most. */
const waitMs = 5_000;

/**
 * Begins a call, and lets its server come.
 *
 * @throws AssertionError if the call has failed although the client had its server in time
 */
export async function firstServerAnswers(
  client: HostHandle,
  plan: CallPlan,
  letItCome: () => Promise<void>,
): Promise<void> {
  const beganAtMs = performance.now(); // the call begins later, so its wait ends later, too
  const waiting = await client.begin(plan);
  await letItCome();
  await client.ask('servers.ready', 1);
  const cameAfterMs = performance.now() - beganAtMs;
  const end = await waiting.end;
  if (end.ok) return;
  const facts = `it was ready after ${Math.round(cameAfterMs)} ms, the call ended after ${Math.round(end.ms)} ms`;
  assert.ok(cameAfterMs >= waitMs && end.ms >= waitMs, `a call that waits for the first server is answered: ${facts}`);
}
