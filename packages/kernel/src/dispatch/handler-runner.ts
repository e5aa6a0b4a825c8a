/**
 * Runs one handler: with its filters and its scope, or plainly when there are none.
 *
 * Owns the way from a decoded message to the end of its handler. Leaves who runs when to the dispatcher and what becomes
 * of the result to the reply path.
 *
 * 1. A function without filters costs no scope, no chain and, unless it is async, no promise (DISP-010).
 * 2. The result is answered before instances and scope are disposed, and the handler is over after that (DISP-009).
 * 3. A class starts in the same turn as a function would, unless its container gives promises (DISP-005).
 */
import type { ChannelContext, FanoutContext, NodeContext } from './contexts.ts';
import type { Verb } from './counters.ts';
import type { Dispatch } from './dispatch.ts';
import type { FailureLog } from './failure-log.ts';
import { type FilterContext, type FilterEntry, FilterRun } from './filter-chain.ts';
import type { HandlerEntry, HandlerFunction } from './handler-registry.ts';
import type { ReplyPath } from './reply-path.ts';
import { DispatchScope, type ServiceProvider } from './scope.ts';
import type { DispatchSurface } from './surface.ts';
import { isThenable } from '../message/thenable.ts';

type HandlerContext = ChannelContext | NodeContext | FanoutContext;

export interface HandlerRunnerOptions {
  readonly filters: readonly FilterEntry[];
  readonly surface: DispatchSurface;
  readonly services: ServiceProvider | undefined;
  readonly replies: ReplyPath;
  readonly failures: FailureLog;
  /** Handler, filters and scope are over. */
  readonly onOver: (dispatch: Dispatch) => void;
}

export class HandlerRunner {
  readonly #options: HandlerRunnerOptions;
  readonly #surface: DispatchSurface;
  readonly #replies: ReplyPath;
  readonly #hasFilters: boolean;

  constructor(options: HandlerRunnerOptions) {
    this.#options = options;
    this.#surface = options.surface;
    this.#replies = options.replies;
    this.#hasFilters = options.filters.length > 0;
  }

  /** Never throws. */
  run(dispatch: Dispatch, entry: HandlerEntry, message: unknown): void {
    if (this.#hasFilters) void this.#runFiltered(dispatch, entry, message);
    else if (entry.call === undefined) void this.#runClass(dispatch, entry, message);
    else this.#runFunction(dispatch, entry, entry.call, message);
  }

  #runFunction(dispatch: Dispatch, entry: HandlerEntry, call: HandlerFunction, message: unknown): void {
    try {
      const result = call(message, this.#surface.makeContext(dispatch));
      if (isThenable(result)) {
        void this.#await(dispatch, entry, result);
        return;
      }
      this.#replies.returned(dispatch, entry, result);
    } catch (error) {
      this.#replies.threw(dispatch, error);
    }
    this.#options.onOver(dispatch);
  }

  async #await(dispatch: Dispatch, entry: HandlerEntry, pending: PromiseLike<unknown>): Promise<void> {
    try {
      this.#replies.returned(dispatch, entry, await pending);
    } catch (error) {
      this.#replies.threw(dispatch, error);
    }
    this.#options.onOver(dispatch);
  }

  async #runClass(dispatch: Dispatch, entry: HandlerEntry, message: unknown): Promise<void> {
    const scope = new DispatchScope(this.#options.services);
    try {
      const result = invoke(scope, entry, message, this.#surface.makeContext(dispatch));
      this.#replies.returned(dispatch, entry, isThenable(result) ? await result : result);
    } catch (error) {
      this.#replies.threw(dispatch, error);
    }
    await this.#dispose(scope, dispatch);
    this.#options.onOver(dispatch);
  }

  async #runFiltered(dispatch: Dispatch, entry: HandlerEntry, message: unknown): Promise<void> {
    const { filters, services } = this.#options;
    const scope = new DispatchScope(services);
    const context = this.#surface.makeContext(dispatch);
    const handler = (): unknown => invoke(scope, entry, message, context);
    const end = await new FilterRun(filters, this.#filterContext(dispatch.verb, context), scope, handler).run();
    if (end.kind === 'returned') this.#replies.returned(dispatch, entry, end.value);
    else if (end.kind === 'threw') this.#replies.threw(dispatch, end.error);
    else this.#replies.stopped(dispatch);
    await this.#dispose(scope, dispatch);
    this.#options.onOver(dispatch);
  }

  #filterContext(verb: Verb, message: HandlerContext): FilterContext {
    const { dispatchKinds, meshName } = this.#surface;
    const dispatchKind = dispatchKinds[verb];
    return Object.freeze(meshName === undefined ? { dispatchKind, message } : { dispatchKind, meshName, message });
  }

  async #dispose(scope: DispatchScope, dispatch: Dispatch): Promise<void> {
    if (scope.isEmpty) return;
    await scope.dispose((error) => this.#options.failures.disposeFailed(dispatch, error));
  }
}

function invoke(scope: DispatchScope, entry: HandlerEntry, message: unknown, context: HandlerContext): unknown {
  if (entry.call !== undefined) {
    const call = entry.call; // called as a function, without a `this`
    return call(message, context);
  }
  const instance = scope.create(entry.type, entry.inject);
  if (!isThenable(instance)) return instance.handle(message, context);
  return instance.then((handler) => handler.handle(message, context));
}
