/**
 * One host of a role process, from its description to its end.
 *
 * Owns that life, and what only its description knows. Leaves to the commands what else the driver asks, IPC to the process, and
 * what parts do to the parts.
 */
import {
  createHost,
  type Host,
  type LocationStore,
  type Logger,
  type MessageCounters,
  type RelocationStore,
  type ShutdownResult,
} from '@zlink/framework';
import { extensionOf } from './codecs.ts';
import { Desk } from './desk.ts';
import { errorFacts } from './facts.ts';
import { type HostFacts, hostFacts } from './host-facts.ts';
import { describePart } from './parts/index.ts';
import { Composition } from './parts/composition.ts';
import { createScopes } from './parts/scopes.ts';
import type { Telemetry } from './parts/telemetry.ts';
import type { ErrorFacts, HostPlan, StorePlan } from './plan.ts';

export type StartEnd =
  | { readonly ok: true; readonly facts: HostFacts; readonly ms: number }
  | { readonly ok: false; readonly error: ErrorFacts; readonly state: string; readonly ms: number };

export type ShutdownEnd =
  | { readonly ok: true; readonly result: ShutdownResult; readonly state: string; readonly ms: number }
  | { readonly ok: false; readonly error: ErrorFacts; readonly ms: number };

export interface StoreSource {
  location(plan: StorePlan): Promise<LocationStore>;
  relocation(plan: StorePlan): Promise<RelocationStore>;
}

export interface RoleHostParts {
  readonly plan: HostPlan;
  readonly logger: Logger;
  readonly stores: StoreSource;
  /** Whether other hosts share the process. */
  readonly isShared: boolean;
}

export class RoleHost {
  readonly desk: Desk;
  readonly #parts: RoleHostParts;
  readonly #unhandled: string[] = [];
  #telemetry: Telemetry | undefined;
  #host: Host | undefined;

  constructor(parts: RoleHostParts) {
    this.#parts = parts;
    this.desk = new Desk(parts.plan.name);
  }

  get plan(): HostPlan {
    return this.#parts.plan;
  }

  /** Described, started or not. */
  get running(): Host {
    if (this.#host === undefined) throw new Error(`host ${this.plan.name} was not described`);
    return this.#host;
  }

  get telemetry(): Telemetry {
    if (this.#telemetry === undefined) throw new Error(`host ${this.plan.name} has no telemetry part`);
    return this.#telemetry;
  }

  /** Errors that nobody handled; it grows. */
  get unhandled(): readonly string[] {
    return this.#unhandled;
  }

  /** Without a start. */
  async describe(): Promise<void> {
    const { plan, logger, stores, isShared } = this.#parts;
    const { options = {}, store, codec = 'json', parts } = plan;
    const wantsScopes = parts.some((part) => part.role === 'classServer' || (part.role === 'filter' && part.asClass));
    const told = parts.find((part) => part.role === 'telemetry');
    if (told !== undefined) this.#telemetry = (await import('./parts/telemetry.ts')).keep(told);
    const host = createHost({
      ...options,
      logger: this.#telemetry?.loggerBefore(logger) ?? logger,
      ...(this.#telemetry === undefined ? {} : { telemetry: this.#telemetry.options }),
      onUnhandled: (error, { where }) => void this.#unhandled.push(`${where}: ${errorFacts(error).message}`),
      ...(wantsScopes ? { services: createScopes(this.desk) } : {}),
      testing: { allowSeveralHosts: isShared },
    });
    this.#host = host;
    this.desk.serve(host);
    const extension = await extensionOf(codec);
    if (extension !== undefined) host.codecs().use(extension);
    if (store !== undefined) host.addLocationStore(await stores.location(store));
    if (store?.kind === 'redis' && store.relocation === true) host.addRelocationStore(await stores.relocation(store));
    const composition = new Composition(host, this.desk);
    for (const part of parts) describePart(composition, part);
  }

  /** Describes it, too, where that was not done. */
  async start(timeoutMs?: number): Promise<StartEnd> {
    const startedAtMs = performance.now();
    try {
      if (this.#host === undefined) await this.describe();
      await this.running.start(timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs));
      return { ok: true, facts: hostFacts(this.running, this.plan.parts), ms: performance.now() - startedAtMs };
    } catch (error) {
      const ms = performance.now() - startedAtMs;
      return { ok: false, error: errorFacts(error), state: this.#host?.state ?? 'undescribed', ms };
    }
  }

  async shutdown(options: { readonly deadlineMs?: number; readonly abortAfterMs?: number } = {}): Promise<ShutdownEnd> {
    const startedAtMs = performance.now();
    const { deadlineMs, abortAfterMs } = options;
    try {
      const result = await this.running.shutdown({
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        ...(abortAfterMs === undefined ? {} : { signal: AbortSignal.timeout(abortAfterMs) }),
      });
      return { ok: true, result, state: this.running.state, ms: performance.now() - startedAtMs };
    } catch (error) {
      return { ok: false, error: errorFacts(error), ms: performance.now() - startedAtMs };
    }
  }

  /** Ends whatever state the scenario has left it in; the counters are those at rest. */
  async leave(deadlineMs: number): Promise<readonly MessageCounters[]> {
    this.desk.release();
    await this.#host?.shutdown({ deadlineMs });
    this.desk.release();
    this.#telemetry?.end();
    return this.#host?.query.counters() ?? [];
  }
}
