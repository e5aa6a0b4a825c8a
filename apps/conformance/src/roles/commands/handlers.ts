/** What the driver asks about the handlers of a host: what they noted, and to let them go on. */
import type { Desk } from '../desk.ts';
import type { JournalEntry } from '../plan.ts';

export class HandlerCommands {
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  journal(): readonly JournalEntry[] {
    return this.#desk.journal;
  }

  /** The journal, once it has so many entries of that kind. */
  async seen(count: number, what?: string): Promise<readonly JournalEntry[]> {
    await this.#desk.seen(count, what);
    return this.#desk.journal;
  }

  quieten(): void {
    this.#desk.quieten();
  }

  release(): number {
    return this.#desk.release();
  }
}
