/** What the driver asks about that which a host with a telemetry part has measured and recorded. */
import type { Host } from '@zlink/framework';
import { endOf, submit } from '../calls.ts';
import type { CarriedHeaders } from '../parts/planned-propagator.ts';
import type { MetricRow, SpanFacts, SpannedCall, Telemetry } from '../parts/telemetry.ts';
import type { CallPlan } from '../plan.ts';
import type { LogFacts } from '../protocol.ts';

export class TelemetryCommands {
  readonly #host: () => Host;
  readonly #telemetry: () => Telemetry;

  constructor(host: () => Host, telemetry: () => Telemetry) {
    this.#host = host;
    this.#telemetry = telemetry;
  }

  metrics(): Promise<readonly MetricRow[]> {
    return this.#telemetry().rows();
  }

  spans(): readonly SpanFacts[] {
    return this.#telemetry().spans();
  }

  /** What its propagator has read of messages, in their order. */
  carried(): readonly CarriedHeaders[] {
    return this.#telemetry().carried();
  }

  /** Records of messages, in the order in which they were logged. */
  records(): readonly LogFacts[] {
    return this.#telemetry().records;
  }

  recordCount(): number {
    return this.#telemetry().records.length;
  }

  forgetRecords(): void {
    this.#telemetry().records.length = 0;
  }

  /** A call within a span of the application; the ids of that span, and of the one that is active behind the call. */
  callInSpan(name: string, plan: CallPlan): Promise<SpannedCall> {
    return this.#telemetry().within(name, () => endOf(() => submit(this.#host(), plan)));
  }
}
