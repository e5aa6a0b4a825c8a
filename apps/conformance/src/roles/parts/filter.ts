/** A filter that journals its passing, as a function or as a class with what its scope gives. */
import type { FilterContext } from '@zlink/framework';
import type { Payload } from '../../contracts.ts';
import type { Desk } from '../desk.ts';
import { contextFacts, errorFacts } from '../facts.ts';
import type { FilterPlan } from '../plan.ts';
import type { Composition } from './composition.ts';
import { Parcel } from './scopes.ts';

type Next = () => Promise<unknown>;

export function describeFilter({ host, desk }: Composition, plan: FilterPlan): void {
  if (plan.asClass !== true) {
    host.addFilter((context, next) => pass(desk, plan, context, next));
    return;
  }
  host.addFilter(
    class {
      static readonly inject = [Parcel];
      readonly #parcel: Parcel;

      constructor(parcel: Parcel) {
        this.#parcel = parcel;
      }

      invoke(context: FilterContext, next: Next): Promise<unknown> {
        desk.note({ owner: `filter ${plan.name}`, what: 'scope', mark: '', text: String(this.#parcel.scope) });
        return pass(desk, plan, context, next);
      }
    },
  );
}

async function pass(desk: Desk, plan: FilterPlan, context: FilterContext, next: Next): Promise<unknown> {
  const owner = `filter ${plan.name}`;
  const facts = { ...contextFacts(context.message, context.dispatchKind), keys: Object.keys(context).sort() };
  const meshName = context.meshName === undefined ? {} : { meshName: context.meshName };
  desk.note({ owner, what: 'in', mark: '', context: { ...facts, ...meshName } });
  switch (plan.behaviour) {
    case 'stop':
      return undefined;
    case 'throw':
      throw new Error(`filter ${plan.name}`);
    case 'twice':
      await next();
      await next().catch((error: unknown) => {
        const { kind, name } = errorFacts(error);
        desk.note({ owner, what: 'second', mark: '', text: kind ?? name });
      });
      break;
    default:
      await next();
  }
  desk.note({ owner, what: 'out', mark: '' });
  const own: Payload = { mark: 'of a filter', text: 'of a filter' };
  return plan.behaviour === 'override' ? own : undefined;
}
