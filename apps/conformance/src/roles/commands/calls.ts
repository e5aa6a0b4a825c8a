/**
 * What the driver asks of a host about calls.
 *
 * Owns the calls that go on. Leaves how one is made and told of to `../calls.ts`.
 *
 * 1. A call that was begun is kept until its end was asked for.
 */
import type { Host } from '@zlink/framework';
import { build, burst, endOf, submit } from '../calls.ts';
import type { BurstEnd, CallEnd, CallPlan } from '../plan.ts';

interface BegunCall {
  readonly end: Promise<CallEnd>;
  readonly abort: AbortController;
}

export class CallCommands {
  readonly #host: () => Host;
  readonly #begun = new Map<number, BegunCall>();

  constructor(host: () => Host) {
    this.#host = host;
  }

  call(plan: CallPlan): Promise<CallEnd> {
    return endOf(() => submit(this.#host(), plan));
  }

  burst(plan: CallPlan, count: number): Promise<BurstEnd> {
    return burst(this.#host(), plan, count);
  }

  /** 1 */
  begin(id: number, plan: CallPlan): void {
    const abort = new AbortController();
    this.#begun.set(id, { end: endOf(() => submit(this.#host(), plan, abort.signal)), abort });
  }

  abort(id: number): void {
    this.#begun.get(id)?.abort.abort();
  }

  async end(id: number): Promise<CallEnd> {
    const begun = this.#begun.get(id);
    if (begun === undefined) throw new Error(`call ${id} was not begun`);
    const end = await begun.end;
    this.#begun.delete(id);
    return end;
  }

  /** A call whose signal has aborted before, and one that is submitted twice. */
  async misuse(
    plan: CallPlan,
  ): Promise<{ readonly aborted: CallEnd; readonly twice: CallEnd; readonly once: CallEnd }> {
    const aborted = await endOf(() => submit(this.#host(), plan, AbortSignal.abort(new Error('before submit'))));
    const call = build(this.#host(), plan);
    const once = endOf(async () => (await call.submit()) ?? undefined);
    const twice = await endOf(async () => (await call.submit()) ?? undefined);
    return { aborted, twice, once: await once };
  }
}
