/** Publishes to, or hears, a fanout channel. */
import { FEED, Tick } from '../../contracts.ts';
import type { PublisherPlan, SubscriberPlan } from '../plan.ts';
import type { Composition } from './composition.ts';

export function describePublisher(composition: Composition, { channel = FEED }: PublisherPlan): void {
  composition.fanout(channel).enablePublisher();
}

export function describeSubscriber(composition: Composition, plan: SubscriberPlan): void {
  const { desk } = composition;
  const fanout = composition.fanout(plan.channel ?? FEED);
  for (let number = 1; number <= (plan.handlers ?? 1); number++) {
    const owner = number === 1 ? 'subscriber' : `subscriber ${number}`;
    fanout.addHandler(Tick, async (payload, context) => {
      await desk.handle(owner, payload, context);
    });
  }
  if (plan.connect === undefined) fanout.enableSubscriber();
  else for (const endpoint of plan.connect) fanout.connect(endpoint);
}
