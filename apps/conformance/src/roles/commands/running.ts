/** What a host says of itself as a whole, and what can be set of it while it runs. */
import type { DiagnosticsLevel, Host, MessageCounters } from '@zlink/framework';
import { caught } from '../facts.ts';
import { type HostFacts, hostFacts } from '../host-facts.ts';
import type { ErrorFacts, PartPlan } from '../plan.ts';

export class RunningCommands {
  readonly #host: () => Host;
  readonly #parts: readonly PartPlan[];
  readonly #unhandled: readonly string[];

  /** @param unhandled - grows with what the host reports */
  constructor(host: () => Host, parts: readonly PartPlan[], unhandled: readonly string[]) {
    this.#host = host;
    this.#parts = parts;
    this.#unhandled = unhandled;
  }

  facts(): HostFacts {
    return hostFacts(this.#host(), this.#parts);
  }

  state(): string {
    return this.#host().state;
  }

  counters(): readonly MessageCounters[] {
    return this.#host().query.counters();
  }

  inbound(): { readonly permitsInUse: number; readonly max: number; readonly flow: string } {
    return this.#host().query.inboundDispatch();
  }

  unhandled(): readonly string[] {
    return this.#unhandled;
  }

  setRouteTiming(timing: { routeCacheMaxAgeMs?: number; messageFollowDurationMs?: number }): ErrorFacts | undefined {
    return caught(() => this.#host().setRouteTiming(timing));
  }

  setLevel(level: DiagnosticsLevel): ErrorFacts | undefined {
    return caught(() => (this.#host().diagnosticsLevel = level));
  }
}
