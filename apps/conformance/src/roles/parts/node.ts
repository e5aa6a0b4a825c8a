/** A node of a mesh, with handlers of its own and in the channels that it serves. */
import { Ask, MESH, MESH_CHANNEL, Note } from '../../contracts.ts';
import type { NodePlan } from '../plan.ts';
import type { Composition } from './composition.ts';

export function describeNode(composition: Composition, plan: NodePlan): void {
  const { desk } = composition;
  const node = composition
    .mesh(plan.mesh ?? MESH)
    .addRouteRequestHandler(Ask, (payload, context) => desk.handle('node', payload, context))
    .addRouteSendHandler(Note, async (payload, context) => {
      await desk.handle('node', payload, context);
    });
  if (plan.rid !== undefined) node.routingId(plan.rid);
  if (plan.prefix !== undefined) node.setRoutingIdPrefix(plan.prefix);
  for (const peer of plan.connect ?? []) {
    if (typeof peer === 'string') node.connect(peer);
    else node.connect(...peer);
  }
  if (plan.concurrency !== undefined) node.concurrency(plan.concurrency);
  if (plan.mailbox !== undefined) node.setMailboxLimits(plan.mailbox);
  if (plan.sendTimeoutMs !== undefined) node.setSendTimeoutMs(plan.sendTimeoutMs);
  if (plan.requestTimeoutMs !== undefined) node.setRequestTimeoutMs(plan.requestTimeoutMs);
  for (const { name = MESH_CHANNEL, weight, concurrency } of plan.channels ?? []) {
    const channel = node.channel(name);
    if (weight === undefined) {
      channel.client();
      continue;
    }
    const server = channel
      .server()
      .setWeight(weight)
      .addRequestHandler(Ask, (payload, context) => desk.handle('channel', payload, context))
      .addSendHandler(Note, async (payload, context) => {
        await desk.handle('channel', payload, context);
      });
    if (concurrency !== undefined) server.concurrency(concurrency);
  }
}
