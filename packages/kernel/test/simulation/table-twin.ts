/**
 * A table of pending requests with few ids, beside a plain map that is told the same.
 *
 * T1 Both hold the same entries under the same ids, in any lap of the ids (WIRE-005).
 * T2 Each entry leaves exactly once; what is drained comes oldest first, whoever was passed over apart: by its id it seems
 *    younger than it is.
 */
import { PendingTable } from '../../src/internal/completion/index.ts';
import { ensure, type Stage } from './simulation.ts';

interface Entry {
  correlation: number;
  left: number;
  isPassedOver: boolean;
}

const range = { first: 1, last: 40 };
const maxSize = 24;

export class TableTwin {
  readonly #stage: Stage;
  /** Takes ids for free that are not. */
  readonly #isFlawed: boolean;
  readonly #table = new PendingTable<Entry>(maxSize, range);
  /** In the order in which they came. */
  readonly #model = new Map<number, Entry>();
  #next = range.first;

  constructor(stage: Stage, isFlawed: boolean) {
    this.#stage = stage;
    this.#isFlawed = isFlawed;
  }

  act(): void {
    const stage = this.#stage;
    const id = range.first + stage.below(range.last);
    switch (stage.below(8)) {
      case 0:
      case 1:
        return this.#left(this.#table.take(id), this.#model.get(id));
      case 2:
        return this.#remove(this.#model.get(id));
      case 3:
        return stage.chance(0.1) ? this.drain() : undefined;
      default:
        return this.#add();
    }
  }

  check(): void {
    ensure(this.#table.size === this.#model.size, `${this.#table.size} pending, should be ${this.#model.size}`); // T1
    const [due, found] = [this.#dueId(), this.#table.peekCorrelation()];
    ensure(due === found, `the next id is ${found}, should be ${due}`); // T1
    if (due !== 0) this.#next = due; // who has looked gets it, whatever becomes free
  }

  drain(): void {
    const due = [...this.#model.values()].filter(({ isPassedOver }) => !isPassedOver);
    this.#table.drain((entry) => {
      const expected = entry.isPassedOver ? entry : due.shift();
      ensure(entry === expected, `drained was ${entry.correlation}, due ${expected?.correlation}`); // T2
      this.#left(entry, entry);
    });
    ensure(this.#model.size === 0, `${this.#model.size} were not drained`); // T2
  }

  #add(): void {
    const id = this.#dueId();
    if (id === 0) return;
    const entry = { correlation: 0, left: 0, isPassedOver: false };
    this.#table.add(entry);
    ensure(entry.correlation === id, `given was ${entry.correlation}, due ${id}`);
    this.#model.set(id, entry);
    this.#next = successor(id);
  }

  #remove(entry: Entry | undefined): void {
    if (entry === undefined) return;
    ensure(this.#table.remove(entry), `${entry.correlation} was not pending`); // T2
    this.#left(entry, entry);
    ensure(!this.#table.remove(entry), `${entry.correlation} was pending twice`); // T2
  }

  #left(found: Entry | undefined, expected: Entry | undefined): void {
    ensure(found === expected, `taken was ${found?.correlation}, due ${expected?.correlation}`); // T1
    if (found === undefined) return;
    ensure(++found.left === 1, `${found.correlation} left twice`); // T2
    this.#model.delete(found.correlation);
  }

  #dueId(): number {
    if (this.#model.size >= maxSize) return 0;
    let id = this.#next;
    for (let entry = this.#model.get(id); entry !== undefined && !this.#isFlawed; entry = this.#model.get(id)) {
      entry.isPassedOver = true;
      id = successor(id);
    }
    return id;
  }
}

function successor(id: number): number {
  return id === range.last ? range.first : id + 1;
}
