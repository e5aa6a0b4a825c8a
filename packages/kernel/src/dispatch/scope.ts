/**
 * Instances of handler and filter classes for one dispatch.
 *
 * Owns their construction, the application's scope behind it, and the disposal of both. Leaves calling them to the
 * dispatcher and the filter chain.
 *
 * 1. One application scope per dispatch, opened for the first class that takes part; none for plain functions (DISP-010).
 * 2. The framework constructs: the container is asked for `static inject` tokens only, never for the class (DISP-009).
 * 3. Everything is disposed exactly once, in reverse order, instances before the scope; a failure changes nothing for
 *    the rest.
 * 4. Without promises in play, construction is synchronous, so that handlers start in order of arrival (DISP-005).
 */
import { type Problems, ZLinkError } from '../errors/index.ts';
import type { Type } from '../message/index.ts';
import { isThenable } from '../message/thenable.ts';

/** The application's container, as far as the framework needs it. */
export interface ServiceProvider {
  /**
   * Called at most once per dispatch, for the first class that takes part. What it throws fails the dispatch like an error
   * of the handler.
   *
   * @see DISP-009, DISP-010
   */
  createScope(): ServiceScope;
}

/** What instances of one dispatch share. */
export interface ServiceScope {
  /**
   * The part of that class for this dispatch. What it throws or rejects with fails the dispatch like an error of the
   * handler: a request is answered with it, and `onUnhandled` hears of all but a `ZLinkError` that was such an answer.
   */
  get<T>(token: Type<T>): T | Promise<T>;
  /**
   * Called once, when the dispatch is over and the instances made for it are disposed. Its failure changes no answer: it is
   * logged and told to `onUnhandled`.
   */
  dispose(): void | Promise<void>;
}

export type InjectToken = Type<unknown>;

/**
 * Whether a handler or filter is to be constructed rather than called: a class, of which `method` may be an instance
 * field, or an old-style constructor with `method` on its prototype.
 */
export function isClassWith(candidate: unknown, method: 'handle' | 'invoke'): boolean {
  if (typeof candidate !== 'function') return false;
  const prototype: unknown = (candidate as { readonly prototype?: unknown }).prototype; // arrow functions have none
  if (typeof prototype !== 'object' || prototype === null) return false;
  return method in prototype || Function.prototype.toString.call(candidate).startsWith('class');
}

/** The constructor tokens of a class; undefined when its `static inject` is no list of classes. */
export function injectTokens(type: object): readonly InjectToken[] | undefined {
  const inject: unknown = (type as { readonly inject?: unknown }).inject; // a static that the class may or may not have
  if (inject === undefined) return [];
  if (!Array.isArray(inject) || !inject.every((token) => typeof token === 'function')) return undefined;
  return Object.freeze([...(inject as InjectToken[])]); // checked above
}

/** Notes every class that wants constructor arguments while the host has no provider for them. */
export function requireServices(
  classes: Iterable<{ readonly what: string; readonly inject: readonly InjectToken[] }>,
  where: string,
  services: ServiceProvider | undefined,
  problems: Pick<Problems, 'note'>,
): void {
  if (services !== undefined) return;
  for (const { what, inject } of classes) {
    if (inject.length > 0)
      problems.note(`${where}: ${what}: its class has static inject, but the host has no services`);
  }
}

export class DispatchScope {
  readonly #services: ServiceProvider | undefined;
  #scope: ServiceScope | undefined;
  #instances: unknown[] = [];

  constructor(services: ServiceProvider | undefined) {
    this.#services = services;
  }

  get isEmpty(): boolean {
    return this.#scope === undefined && this.#instances.length === 0;
  }

  /** A new instance; a promise only if the container gave one (4). */
  create<T>(type: Type<T>, inject: readonly InjectToken[]): T | Promise<T> {
    this.#scope ??= this.#services?.createScope();
    const args: unknown[] = [];
    for (const token of inject) {
      const part = this.#get(token);
      if (isThenable(part)) return this.#createLater(type, inject, args, part);
      args.push(part);
    }
    return this.#construct(type, args);
  }

  /** Disposes what this dispatch made; failures go to `onError`. */
  async dispose(onError: (error: unknown) => void): Promise<void> {
    const instances = this.#instances.reverse();
    const scope = this.#scope;
    this.#instances = [];
    this.#scope = undefined; // 3
    for (const instance of instances) await disposing(() => disposeInstance(instance), onError);
    if (scope !== undefined) await disposing(() => scope.dispose(), onError);
  }

  async #createLater<T>(
    type: Type<T>,
    inject: readonly InjectToken[],
    args: unknown[],
    pending: PromiseLike<unknown>,
  ): Promise<T> {
    args.push(await pending);
    for (const token of inject.slice(args.length)) args.push(await this.#get(token));
    return this.#construct(type, args);
  }

  #get(token: InjectToken): unknown {
    if (this.#scope === undefined) {
      throw new ZLinkError('NotConfigured', 'a class has static inject, but the host has no services');
    }
    return this.#scope.get(token);
  }

  #construct<T>(type: Type<T>, args: readonly unknown[]): T {
    const instance = new type(...args);
    this.#instances.push(instance);
    return instance;
  }
}

interface Disposer {
  [Symbol.asyncDispose]?(): unknown;
  [Symbol.dispose]?(): unknown;
  dispose?(): unknown;
}

/** The first of `Symbol.asyncDispose`, `Symbol.dispose` and `dispose` that the instance has. */
function disposeInstance(instance: unknown): unknown {
  const disposer = instance as Disposer; // an object made by `new`; each member is looked for before it is called
  if (typeof disposer[Symbol.asyncDispose] === 'function') return disposer[Symbol.asyncDispose]?.();
  if (typeof disposer[Symbol.dispose] === 'function') return disposer[Symbol.dispose]?.();
  return typeof disposer.dispose === 'function' ? disposer.dispose() : undefined;
}

async function disposing(dispose: () => unknown, onError: (error: unknown) => void): Promise<void> {
  try {
    await dispose();
  } catch (error) {
    onError(error);
  }
}
