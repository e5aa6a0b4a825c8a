/**
 * Compares rounds of channel calls with the weights of the servers.
 *
 * Owns the numbers. Leaves to the caller which rounds count: those in which the servers were the same from begin to end.
 *
 * R1 A round is even if every server answered exactly its share; nearly is not enough.
 */
import { sum } from '../calls.ts';
import type { Answer } from './contracts.ts';
import type { RoundCounts } from './reports.ts';

export class RoundTally {
  readonly #answered = new Map<string, number>();
  #even = 0;
  #uneven = 0;

  /** @param weights - by RID */
  add(answers: readonly Answer[], weights: Readonly<Record<string, number>>): void {
    const byRid = new Map<string, number>();
    for (const { name, rid } of answers) {
      this.#answered.set(name, (this.#answered.get(name) ?? 0) + 1);
      byRid.set(rid, (byRid.get(rid) ?? 0) + 1);
    }
    const total = sum(weights);
    const isEven = Object.entries(weights).every(
      ([rid, weight]) => (byRid.get(rid) ?? 0) * total === answers.length * weight, // R1
    );
    if (isEven) this.#even++;
    else this.#uneven++;
  }

  counts(): RoundCounts {
    return { even: this.#even, uneven: this.#uneven, answered: Object.fromEntries(this.#answered) };
  }
}
