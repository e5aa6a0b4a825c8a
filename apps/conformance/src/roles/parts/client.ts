/** Calls a ClientServer channel. */
import { CHANNEL } from '../../contracts.ts';
import type { ClientPlan } from '../plan.ts';
import type { Composition } from './composition.ts';

export function describeClient(composition: Composition, plan: ClientPlan): void {
  const client = composition.clientServer(plan.channel ?? CHANNEL).client();
  for (const endpoint of plan.connect ?? []) client.connect(endpoint);
  if (plan.sendTimeoutMs !== undefined) client.setSendTimeoutMs(plan.sendTimeoutMs);
  if (plan.requestTimeoutMs !== undefined) client.setRequestTimeoutMs(plan.requestTimeoutMs);
}
