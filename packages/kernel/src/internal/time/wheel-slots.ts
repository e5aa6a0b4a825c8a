/**
 * The slots of a deadline wheel: six levels of 32, each slot as long as the whole level below it.
 *
 * Owns which entries are due by which tick. Knows no clock, no timer and no callback. `current` is the tick up to which
 * everything was taken.
 *
 * 1. An entry lies at level L when its tick is 32^L to 32^(L+1) - 1 ticks ahead; so a slot's next start is at most 32
 *    slots away, and the slot in which `current` lies holds only what comes a lap later.
 * 2. A slot is emptied at its start: one of level 0 into the due list, a higher one into the levels below.
 * 3. Lists are circular around a fixed head: linking allocates nothing and knows no ends.
 * 4. `occupied` has a bit for exactly the slots that are not empty.
 */

export interface DeadlineEntry {
  /** An instant of the wheel's clock; not to be changed while the entry is in the wheel. */
  deadlineAtMs: number;
  /** The wheel's own, as the next two. It begins as -1, the links as `undefined`; one wheel at most. */
  wheelSlot: number;
  wheelNext: DeadlineEntry | undefined;
  wheelPrevious: DeadlineEntry | undefined;
  onDeadline(nowMs: number): void;
}

const tickMs = 16;

const levelCount = 6;
const levelBits = 5;
const slotsPerLevel = 1 << levelBits;
const slotMask = slotsPerLevel - 1;
const farthestTicks = 2 ** (levelCount * levelBits) - 1; // what is farther waits at this distance and is placed again
const dueSlot = levelCount * slotsPerLevel;
const outside = -1;

export class WheelSlots {
  readonly #originMs: number;
  readonly #heads: readonly SlotHead[] = Array.from({ length: dueSlot + 1 }, (_, slot) => new SlotHead(slot));
  readonly #occupied = new Int32Array(levelCount);
  #current = 0;
  #size = 0;

  constructor(originMs: number) {
    this.#originMs = originMs;
  }

  /** Entries that are in, those found due but not taken yet included. */
  get size(): number {
    return this.#size;
  }

  /** The last tick that has begun at `nowMs`. */
  tickAt(nowMs: number): number {
    return Math.floor((nowMs - this.#originMs) / tickMs);
  }

  startMs(tick: number): number {
    return this.#originMs + tick * tickMs;
  }

  /** Returns the tick at which the entry needs attention: its own, or an earlier one at which it moves down. */
  insert(entry: DeadlineEntry): number {
    this.#size++;
    return this.#place(entry, this.#tickOf(entry));
  }

  remove(entry: DeadlineEntry): void {
    if (entry.wheelSlot === outside) return;
    this.#size--;
    this.#unlink(entry);
  }

  /** The first tick at which an entry needs attention; `Infinity` when there is none. */
  nextEvent(): number {
    if (!this.#head(dueSlot).isEmpty()) return this.#current;
    let first = Infinity;
    for (let level = 0; level < levelCount; level++) {
      const slots = this.#occupied[level] ?? 0;
      if (slots === 0) continue;
      const shift = level * levelBits;
      // Turned so that bit 0 is the slot after the current one, which itself comes last (1).
      const after = (slotOf(this.#current, shift) + 1) & slotMask;
      const turned = (slots >>> after) | (slots << (slotsPerLevel - after));
      first = Math.min(first, slotStart(this.#current, shift) + (1 + lowestBit(turned)) * (1 << shift));
    }
    return first;
  }

  /** Moves on to a tick before the next event. */
  advanceTo(tick: number): void {
    if (tick > this.#current) this.#current = tick;
  }

  /** Takes one entry that is due at `tick`, or moves on to `tick` if there is none. */
  takeDue(tick: number): DeadlineEntry | undefined {
    const due = this.#head(dueSlot);
    while (due.isEmpty()) {
      const event = this.nextEvent();
      if (event > tick) {
        this.advanceTo(tick);
        return undefined;
      }
      this.#step(event);
    }
    const entry = due.wheelNext;
    this.remove(entry);
    return entry;
  }

  clear(): void {
    for (const head of this.#heads) {
      while (!head.isEmpty()) this.remove(head.wheelNext);
    }
  }

  /** 2: empties every slot that starts at `tick`. */
  #step(tick: number): void {
    this.#current = tick;
    for (let level = 0; level < levelCount; level++) {
      const shift = level * levelBits;
      if (slotStart(tick, shift) !== tick) return; // then no coarser slot starts here either
      const head = this.#head(level * slotsPerLevel + slotOf(tick, shift));
      while (!head.isEmpty()) {
        const entry = head.wheelNext;
        this.#unlink(entry);
        const entryTick = this.#tickOf(entry);
        // Written so that a deadline that is no number counts as due.
        if (entryTick > tick) this.#place(entry, entryTick);
        else this.#link(entry, dueSlot);
      }
    }
  }

  #place(entry: DeadlineEntry, tick: number): number {
    const wanted = tick - this.#current;
    // At least the next tick: the current one was taken. Also for a deadline that is no number.
    const ahead = wanted >= 1 ? Math.min(wanted, farthestTicks) : 1;
    const level = Math.floor((31 - Math.clz32(ahead)) / levelBits);
    const shift = level * levelBits;
    const placed = this.#current + ahead;
    const slot = slotOf(placed, shift);
    this.#link(entry, level * slotsPerLevel + slot);
    this.#occupied[level] = (this.#occupied[level] ?? 0) | (1 << slot);
    return slotStart(placed, shift);
  }

  #link(entry: DeadlineEntry, slot: number): void {
    const head = this.#head(slot);
    const last = head.wheelPrevious;
    entry.wheelSlot = slot;
    entry.wheelNext = head;
    entry.wheelPrevious = last;
    last.wheelNext = entry;
    head.wheelPrevious = entry;
  }

  #unlink(entry: DeadlineEntry): void {
    const slot = entry.wheelSlot;
    // An entry that is in a slot has neighbours (3).
    const next = entry.wheelNext as DeadlineEntry;
    const previous = entry.wheelPrevious as DeadlineEntry;
    previous.wheelNext = next;
    next.wheelPrevious = previous;
    entry.wheelSlot = outside;
    entry.wheelNext = undefined;
    entry.wheelPrevious = undefined;
    if (next !== previous || slot === dueSlot || !this.#head(slot).isEmpty()) return;
    const level = slot >>> levelBits;
    this.#occupied[level] = (this.#occupied[level] ?? 0) & ~(1 << (slot & slotMask)); // 4
  }

  /** The first tick that does not begin before the deadline. */
  #tickOf(entry: DeadlineEntry): number {
    return Math.ceil((entry.deadlineAtMs - this.#originMs) / tickMs);
  }

  #head(slot: number): SlotHead {
    return this.#heads[slot] as SlotHead; // slots are made from levels and masks: always within the array
  }
}

/** The fixed link of a slot's circle; it is never due. */
class SlotHead implements DeadlineEntry {
  deadlineAtMs = Infinity;
  wheelSlot: number;
  wheelNext: DeadlineEntry = this;
  wheelPrevious: DeadlineEntry = this;

  constructor(slot: number) {
    this.wheelSlot = slot;
  }

  isEmpty(): boolean {
    return this.wheelNext === this;
  }

  onDeadline(): void {
    // Heads are never handed out.
  }
}

/** Which slot of its level a tick lies in. Bit operations drop what is above 2^32; laps are shorter than that. */
function slotOf(tick: number, shift: number): number {
  return (tick >>> shift) & slotMask;
}

/** The tick at which the slot of a tick begins, above 2^32 too: only the bits below the slot are looked at. */
function slotStart(tick: number, shift: number): number {
  return tick - (tick & ((1 << shift) - 1));
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
