/** A hosted service that journals what is asked of it. */
import { endOf, submit } from '../calls.ts';
import type { ServicePlan } from '../plan.ts';
import type { Composition } from './composition.ts';

export function describeService({ host, desk }: Composition, plan: ServicePlan): void {
  const owner = `service ${plan.name}`;
  const step = (what: 'start' | 'requestStop' | 'stop'): void => {
    desk.note({ owner, what, mark: plan.name, text: host.state });
    if (plan.fails === what) throw new Error(`${plan.name} does not ${what}`);
  };
  const held = (what: 'start' | 'stop'): Promise<unknown> => {
    if (plan.holds !== what) return Promise.resolve();
    return desk.handle(owner, { mark: plan.name, act: 'hold' }, { signal: new AbortController().signal });
  };
  host.addHostedService({
    start: async (signal) => {
      step('start');
      const { callsAtStart } = plan;
      if (callsAtStart !== undefined) {
        const end = await endOf(() => submit(host, callsAtStart, signal));
        desk.note({ owner, what: 'called', mark: plan.name, text: end.ok ? 'ok' : (end.error.kind ?? end.error.name) });
      }
      await held('start');
      desk.note({ owner, what: 'started', mark: plan.name });
    },
    requestStop: () => step('requestStop'),
    stop: async () => {
      step('stop');
      await held('stop');
    },
  });
}
