/**
 * What handlers of one host do, and what has happened there.
 *
 * Owns the journal, the gates that held handlers wait at, and the acts. Leaves to the parts whose handlers they are.
 *
 * 1. Whoever waits for entries is woken by the entry that completes them: nothing polls.
 * 2. A held handler ends when it is released, or when its dispatch is aborted.
 */
import { trace } from '@opentelemetry/api';
import { ConfigurationError, type ErrorKindName, type Host, ZLinkError } from '@zlink/framework';
import type { Payload, Reply } from '../contracts.ts';
import { submit } from './calls.ts';
import { contextFacts } from './facts.ts';
import type { CallPlan, JournalEntry } from './plan.ts';

interface Waiter {
  readonly what: string | undefined;
  readonly count: number;
  readonly wake: () => void;
}

export class Desk {
  readonly name: string;
  readonly journal: JournalEntry[] = [];
  #host: Host | undefined;
  /** Each lets one held handler go on. */
  #gates: (() => void)[] = [];
  #waiters: Waiter[] = [];
  #isQuiet = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Whose calls relays make. */
  serve(host: Host): void {
    this.#host = host;
  }

  /** From here on messages are counted by the host alone: for loads that would fill the journal. */
  quieten(): void {
    this.#isQuiet = true;
  }

  note(entry: Omit<JournalEntry, 'text'> & { readonly text?: string }): void {
    if (this.#isQuiet) return;
    this.journal.push({ text: '', ...entry });
    this.#waiters = this.#waiters.filter((waiter) => {
      const isDone = this.#count(waiter.what) >= waiter.count;
      if (isDone) waiter.wake();
      return !isDone;
    });
  }

  /** Resolves once so many entries of that kind are there. */
  seen(count: number, what: string | undefined): Promise<void> {
    if (this.#count(what) >= count) return Promise.resolve();
    return new Promise((wake) => this.#waiters.push({ what, count, wake }));
  }

  #count(what: string | undefined): number {
    if (what === undefined) return this.journal.length;
    return this.journal.reduce((sum, entry) => sum + (entry.what === what ? 1 : 0), 0);
  }

  /** Lets held handlers go on. */
  release(): number {
    const held = this.#gates;
    this.#gates = [];
    for (const open of held) open();
    return held.length;
  }

  async handle(owner: string, payload: Payload, context: { readonly signal: AbortSignal }): Promise<Reply> {
    const { mark } = payload;
    const text = payload.text ?? '';
    this.note({ owner, what: 'begun', mark, text, payload, ...activeSpan(), context: contextFacts(context) });
    const reply = await this.#act(owner, payload, context.signal);
    this.note({ owner, what: 'ended', mark, text, ...activeSpan() });
    return reply;
  }

  async #act(owner: string, payload: Payload, signal: AbortSignal): Promise<Reply> {
    const { mark, act = 'echo', bytes } = payload;
    const text = payload.text ?? '';
    const answer = (said: string): Reply => ({
      mark,
      by: this.name,
      text: said,
      ...(bytes === undefined || bytes.length === 0 ? {} : { bytes }),
    });
    switch (act) {
      case 'hold':
        await this.#hold(owner, mark, signal);
        return answer(text);
      case 'throw':
        throw new Error(text);
      case 'throwNothing':
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- what a handler may do
        throw undefined;
      case 'refuse':
        throw new ZLinkError(text as ErrorKindName, 'as asked'); // the driver asks with kinds only
      case 'misconfigure':
        throw new ConfigurationError([text]);
      case 'unfit':
        return { mark, by: this.name, text: NaN as unknown as string };
      case 'relay':
      case 'lateRelay':
      case 'bareRelay': {
        if (act !== 'relay') await this.#hold(owner, mark, signal);
        const plan = JSON.parse(text) as CallPlan; // what the driver wrote
        const reply = await submit(this.#running, plan, act === 'bareRelay' ? undefined : signal);
        return answer(reply?.by ?? '');
      }
      case 'spin': {
        const endsAtMs = performance.now() + Number(text);
        while (performance.now() < endsAtMs);
        return answer(text);
      }
      default:
        return answer(text);
    }
  }

  /** 2 */
  async #hold(owner: string, mark: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#gates.push(resolve);
      signal.addEventListener('abort', () => {
        this.#gates = this.#gates.filter((gate) => gate !== resolve);
        this.note({ owner, what: 'aborted', mark });
        resolve();
      });
    });
  }

  get #running(): Host {
    if (this.#host === undefined) throw new Error('the host was not described yet');
    return this.#host;
  }
}

function activeSpan(): Pick<JournalEntry, 'activeSpanId'> {
  const activeSpanId = trace.getActiveSpan()?.spanContext().spanId;
  return activeSpanId === undefined ? {} : { activeSpanId };
}
