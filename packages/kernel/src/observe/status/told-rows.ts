/**
 * The peers, servers or publishers of one topology as they were told last.
 *
 * Owns that each change is told once, and nothing that has not changed (MON-021). Leaves which rows there are, and when to
 * look, to the topology.
 *
 * 1. A row that is gone is told a last time as its owner says, unless it was told so already or another row shows the same one.
 * 2. A look at some of the rows costs nothing for the others: there may be thousands.
 */

export interface ToldRowsOptions<R> {
  isEqual(row: R, other: R): boolean;
  /** Whether a row that is gone, and another that is there, show the same peer (1). */
  isSamePeer(gone: R, row: R): boolean;
  /** What is told of a row that is gone. */
  asGone(row: R): R;
  /** By what it can be asked for, beside others: its endpoint, its RID (2). */
  subjectsOf(row: R): readonly string[];
  tell(row: R, key: string): void;
}

export class ToldRows<R> {
  readonly #options: ToldRowsOptions<R>;
  readonly #told = new Map<string, R>();
  /** Keys of rows that were told, by subject. */
  readonly #bySubject = new Map<string, Set<string>>();

  constructor(options: ToldRowsOptions<R>) {
    this.#options = options;
  }

  /**
   * @param rows - by key: all that there are, or those with one of the subjects
   * @param subjects - undefined: all
   */
  update(rows: ReadonlyMap<string, R>, subjects?: readonly string[]): void {
    const options = this.#options;
    for (const key of this.#keysOf(subjects)) {
      const row = this.#told.get(key);
      if (row === undefined || rows.has(key)) continue;
      this.#forget(key, row);
      const last = options.asGone(row);
      if (!options.isEqual(row, last) && !this.#isShown(row, rows)) options.tell(last, key); // 1
    }
    for (const [key, row] of rows) {
      const before = this.#told.get(key);
      if (before !== undefined && options.isEqual(before, row)) continue;
      if (before !== undefined) this.#forget(key, before);
      this.#keep(key, row);
      options.tell(row, key);
    }
  }

  #keysOf(subjects: readonly string[] | undefined): Iterable<string> {
    if (subjects === undefined) return [...this.#told.keys()];
    return new Set(subjects.flatMap((subject) => [...(this.#bySubject.get(subject) ?? [])]));
  }

  #keep(key: string, row: R): void {
    this.#told.set(key, row);
    for (const subject of this.#options.subjectsOf(row)) {
      const keys = this.#bySubject.get(subject);
      if (keys === undefined) this.#bySubject.set(subject, new Set([key]));
      else keys.add(key);
    }
  }

  #forget(key: string, row: R): void {
    this.#told.delete(key);
    for (const subject of this.#options.subjectsOf(row)) {
      const keys = this.#bySubject.get(subject);
      if (keys?.delete(key) === true && keys.size === 0) this.#bySubject.delete(subject);
    }
  }

  #isShown(gone: R, rows: ReadonlyMap<string, R>): boolean {
    for (const row of rows.values()) if (this.#options.isSamePeer(gone, row)) return true;
    return false;
  }
}
