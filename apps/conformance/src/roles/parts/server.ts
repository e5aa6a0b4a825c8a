/** Serves a ClientServer channel: the conformance echo role. */
import { Ask, CHANNEL, Note } from '../../contracts.ts';
import type { ServerPlan } from '../plan.ts';
import type { Composition } from './composition.ts';

export function describeServer(composition: Composition, plan: ServerPlan): void {
  const { desk } = composition;
  const server = composition
    .clientServer(plan.channel ?? CHANNEL)
    .server()
    .addRequestHandler(Ask, (payload, context) => desk.handle('server', payload, context))
    .addSendHandler(Note, async (payload, context) => {
      await desk.handle('server', payload, context);
    });
  if (plan.port !== undefined) server.listen(plan.port);
  if (plan.bindHost !== undefined) server.setBindHost(plan.bindHost);
  if (plan.advertiseHost !== undefined) server.setAdvertiseHost(plan.advertiseHost);
  if (plan.weight !== undefined) server.setWeight(plan.weight);
  if (plan.concurrency !== undefined) server.concurrency(plan.concurrency);
  if (plan.maxMessageSize !== undefined) server.maxMessageSize(plan.maxMessageSize);
  if (plan.routingId !== undefined) server.routingId(plan.routingId);
}
