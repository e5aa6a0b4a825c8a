/**
 * Filters around the handlers of Node direct, Channel and fanout messages.
 *
 * Owns the order, the rule that `next` counts once, and what a finished chain amounts to. Leaves the reply to the
 * dispatcher and instances to the scope.
 *
 * 1. Filters run in the order of registration; what follows `await next()` runs in reverse (DISP-006).
 * 2. The handler runs at most once, and only while the filters before it are waiting or running (DISP-008).
 * 3. A chain is over when everything it started is over, also what a filter did not await.
 * 4. What a filter returns is dropped: `next` always gives the handler's result (DISP-008).
 * 5. A swallowed failure does not make a reply: without a result the first failure stands.
 * 6. Promises given to filters are never left unhandled, whatever the filters do with them.
 */
import { describeValue, type Problems, ZLinkError } from '../errors/index.ts';
import type { Type } from '../message/index.ts';
import type { ChannelContext, FanoutContext, NodeContext } from './contexts.ts';
import {
  type DispatchScope,
  injectTokens,
  type InjectToken,
  isClassWith,
  requireServices,
  type ServiceProvider,
} from './scope.ts';

/**
 * What a filter runs around.
 * - `nodeSend`, `nodeRequest`: a message to this node itself
 * - `channelSend`, `channelRequest`: a message to a channel that this process serves
 * - `fanout`: an event that this process subscribes to
 */
export type DispatchKind = 'nodeSend' | 'nodeRequest' | 'channelSend' | 'channelRequest' | 'fanout';

export interface FilterContext {
  readonly dispatchKind: DispatchKind;
  /** Node direct and RouteMesh Channels only. */
  readonly meshName?: string;
  readonly message: ChannelContext | NodeContext | FanoutContext;
}

/** Runs around handlers: a function, or a class of which each dispatch gets its own instance. */
export type Filter =
  | ((context: FilterContext, next: () => Promise<unknown>) => unknown)
  | Type<{ invoke(context: FilterContext, next: () => Promise<unknown>): unknown }>;

type FilterFunction = (context: FilterContext, next: () => Promise<unknown>) => unknown;
type FilterClass = Type<{ invoke: FilterFunction }>;

/** A registered filter; `what` names it in messages. */
export type FilterEntry =
  | { readonly what: string; readonly call: FilterFunction }
  | {
      readonly what: string;
      readonly call: undefined;
      readonly type: FilterClass;
      readonly inject: readonly InjectToken[];
    };

/** The filters of a host, understood. Every mistake goes to `problems`, and its filter not into the result. */
export function freezeFilters(
  filters: readonly Filter[],
  services: ServiceProvider | undefined,
  problems: Pick<Problems, 'note'>,
): readonly FilterEntry[] {
  const entries: FilterEntry[] = [];
  for (const [index, filter] of filters.entries()) {
    const entry = resolveFilter(filter, `filter ${index + 1} (${describeValue(filter)})`, problems);
    if (entry === undefined) continue;
    entries.push(entry);
    if (entry.call === undefined) requireServices([entry], 'host', services, problems);
  }
  return Object.freeze(entries);
}

function resolveFilter(filter: Filter, what: string, problems: Pick<Problems, 'note'>): FilterEntry | undefined {
  const note = (text: string): undefined => void problems.note(`host: ${what} ${text}`);
  if (typeof filter !== 'function') return note('is neither a function nor a class');
  // What is no class is a function.
  if (!isClassWith(filter, 'invoke')) return Object.freeze({ what, call: filter as FilterFunction });
  const type = filter as FilterClass;
  const inject = injectTokens(type);
  if (inject === undefined) return note('has a static inject that is no list of classes');
  return Object.freeze({ what, call: undefined, type, inject });
}

/** What a chain came to. `stopped`: a filter did not call `next`. */
export type ChainEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'stopped' };

/** One pass of one message through all filters. */
export class FilterRun {
  readonly #filters: readonly FilterEntry[];
  readonly #context: FilterContext;
  readonly #scope: DispatchScope;
  readonly #handler: () => unknown;
  #returned: { readonly value: unknown } | undefined;
  #firstFailure: { readonly error: unknown } | undefined;

  constructor(filters: readonly FilterEntry[], context: FilterContext, scope: DispatchScope, handler: () => unknown) {
    this.#filters = filters;
    this.#context = context;
    this.#scope = scope;
    this.#handler = handler;
  }

  /** Never rejects. */
  async run(): Promise<ChainEnd> {
    try {
      await this.#step(0);
    } catch (error) {
      return { kind: 'threw', error };
    }
    if (this.#returned !== undefined) return { kind: 'returned', value: this.#returned.value };
    if (this.#firstFailure !== undefined) return { kind: 'threw', error: this.#firstFailure.error }; // 5
    return { kind: 'stopped' };
  }

  async #step(index: number): Promise<unknown> {
    const filter = this.#filters[index];
    if (filter === undefined) return this.#runHandler();
    let inner: Promise<unknown> | undefined;
    let isOver = false;
    const next = (): Promise<unknown> => {
      if (inner !== undefined) return refuseNext(`next was called twice in ${filter.what}`); // 2
      if (isOver) return refuseNext(`next was called after ${filter.what} had ended`);
      inner = handled(this.#step(index + 1));
      return inner;
    };
    try {
      await this.#invoke(filter, next);
    } catch (error) {
      this.#firstFailure ??= { error };
      throw error;
    } finally {
      isOver = true;
      await settled(inner); // 3
    }
    return this.#returned?.value; // 4
  }

  async #invoke(filter: FilterEntry, next: () => Promise<unknown>): Promise<void> {
    if (filter.call !== undefined) {
      const call = filter.call; // called as a function, without a `this`
      await call(this.#context, next);
      return;
    }
    const instance = await this.#scope.create(filter.type, filter.inject);
    await instance.invoke(this.#context, next);
  }

  async #runHandler(): Promise<unknown> {
    try {
      const value = await this.#handler();
      this.#returned = { value };
      return value;
    } catch (error) {
      this.#firstFailure ??= { error };
      throw error;
    }
  }
}

function refuseNext(text: string): Promise<never> {
  return handled(Promise.reject(new ZLinkError('InvalidOperation', text)));
}

/** The same promise; its rejection counts as seen, also when nobody awaits it (6). */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

async function settled(promise: Promise<unknown> | undefined): Promise<void> {
  try {
    await promise;
  } catch {
    // Its failure was noted where it happened.
  }
}

function ignore(): void {}
