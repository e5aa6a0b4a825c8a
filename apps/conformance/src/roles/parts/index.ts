/** From a part of a plan to the role that describes it. */
import type { PartPlan } from '../plan.ts';
import { describeChain } from './chain.ts';
import { describeClassServer } from './class-server.ts';
import { describeClient } from './client.ts';
import type { Composition } from './composition.ts';
import { describePublisher, describeSubscriber } from './fanout.ts';
import { describeFilter } from './filter.ts';
import { describeNode } from './node.ts';
import { describeServer } from './server.ts';
import { describeService } from './service.ts';

export function describePart(composition: Composition, plan: PartPlan): void {
  switch (plan.role) {
    case 'server':
      return describeServer(composition, plan);
    case 'client':
      return describeClient(composition, plan);
    case 'node':
      return describeNode(composition, plan);
    case 'publisher':
      return describePublisher(composition, plan);
    case 'subscriber':
      return describeSubscriber(composition, plan);
    case 'service':
      return describeService(composition, plan);
    case 'filter':
      return describeFilter(composition, plan);
    case 'classServer':
      return describeClassServer(composition);
    case 'telemetry':
      return; // its host was made with it
    case 'chain':
      return describeChain(composition, plan);
  }
}
