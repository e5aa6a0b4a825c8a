/**
 * What the caller saw last, for those who wait for something to be seen.
 *
 * Owns the waiting. Leaves what is waited for to who waits.
 *
 * B1 A wait ends with the first sights that fulfil it, at the time at which they were reported here, or at its limit.
 */
import type { Sight } from './sights.ts';

type Sights = readonly Sight[];

interface Wait {
  readonly isSeen: (sights: Sights) => boolean;
  readonly settle: (atMs: number) => void;
}

export class SightBoard {
  readonly #waits = new Set<Wait>();
  #sights: Sights = [];
  #atMs = performance.now();

  get sights(): Sights {
    return this.#sights;
  }

  show(sights: Sights): void {
    [this.#sights, this.#atMs] = [sights, performance.now()];
    for (const wait of [...this.#waits]) this.#settle(wait);
  }

  /**
   * When it was seen, on the clock of this process. Rejects if it is not seen in time.
   *
   * @param what - for people: `has not seen ${what}`
   */
  seen(what: string, isSeen: (sights: Sights) => boolean, limitMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#waits.delete(wait);
        reject(new Error(`the caller has not seen ${what} within ${limitMs} ms`));
      };
      const timer = setTimeout(late, limitMs).unref(); // what is played holds the process
      const wait: Wait = {
        isSeen,
        settle: (atMs) => {
          clearTimeout(timer);
          resolve(atMs);
        },
      };
      this.#waits.add(wait);
      this.#settle(wait);
    });
  }

  #settle(wait: Wait): void {
    if (!wait.isSeen(this.#sights)) return;
    this.#waits.delete(wait);
    wait.settle(this.#atMs); // B1
  }
}
