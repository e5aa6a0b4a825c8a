/**
 * The stores of one case.
 *
 * Owns their namespace, their opening and their end, and the passing of the store's time. Leaves what is done with them
 * to the rigs.
 */

interface Endable {
  open(): Promise<void>;
  dispose(): Promise<void>;
}

interface Source<Store> {
  create(namespace: string): Store | Promise<Store>;
  advance?(ms: number): void | Promise<void>;
}

export class OpenStores<Store extends Endable> {
  readonly namespace = `suite-${crypto.randomUUID()}`;
  readonly #source: Source<Store>;
  readonly #stores: Store[] = [];

  constructor(source: Source<Store>) {
    this.#source = source;
  }

  async open(store?: Store | Promise<Store>): Promise<Store> {
    const opened = await (store ?? this.#source.create(this.namespace));
    this.#stores.push(opened);
    await opened.open();
    return opened;
  }

  /** Not opened; it ends with the case all the same. */
  async create(): Promise<Store> {
    const created = await this.#source.create(this.namespace);
    this.#stores.push(created);
    return created;
  }

  async openMany(count: number): Promise<readonly Store[]> {
    return Promise.all(Array.from({ length: count }, () => this.open()));
  }

  /**
   * Lets the store's time pass until it is `atMs` or later; `look` runs at several moments before and at one after.
   * A harness that can advance time stops 1 ms before and exactly at `atMs`.
   */
  async passUntil(atMs: number, nowMs: () => Promise<number>, look?: () => Promise<void>): Promise<void> {
    for (;;) {
      const leftMs = atMs - (await nowMs());
      await look?.();
      if (leftMs <= 0) return;
      await this.#source.advance?.(leftMs > 1 ? leftMs - 1 : 1);
    }
  }

  async dispose(): Promise<void> {
    for (const store of this.#stores) await store.dispose();
  }
}
