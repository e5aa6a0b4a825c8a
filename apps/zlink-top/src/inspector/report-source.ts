/**
 * The reports of one host, as lines.
 *
 * Owns how much of the host's time they take. Leaves who gets them to the connections.
 *
 * 1. However many ask, a report is made at most every 50 ms, and making them takes at most a twentieth of the time: meanwhile
 *    the last one is given again.
 */
import type { RuntimeQuery } from '@zlink/framework';
import { hostLine } from '../report/report.ts';
import type { Clock } from './clock.ts';

/** The part of a host that is shown. */
export interface Inspectable {
  readonly query: Pick<RuntimeQuery, 'snapshot' | 'counters' | 'listeners'>;
}

const PAUSE_MS = 50;
const PAUSE_PER_COST = 20;

export class ReportSource {
  readonly #host: Inspectable;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  #last: { readonly line: string; readonly freshUntilMs: number } | undefined;

  constructor(host: Inspectable, name: string, clock: Clock) {
    this.#host = host;
    this.#name = name;
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
  }

  line(): string {
    const nowMs = this.#clock.nowMs();
    if (this.#last !== undefined && nowMs < this.#last.freshUntilMs) return this.#last.line; // 1
    const line = this.#make(nowMs);
    const madeAtMs = this.#clock.nowMs();
    const pauseMs = Math.max(PAUSE_MS, PAUSE_PER_COST * (madeAtMs - nowMs));
    this.#last = { line, freshUntilMs: madeAtMs + pauseMs };
    return line;
  }

  #make(nowMs: number): string {
    const { query } = this.#host;
    return hostLine('report', {
      pid: process.pid,
      name: this.#name,
      uptimeMs: Math.round(nowMs - this.#startedAtMs),
      snapshot: query.snapshot(),
      counters: query.counters(),
      listeners: query.listeners(),
    });
  }
}
