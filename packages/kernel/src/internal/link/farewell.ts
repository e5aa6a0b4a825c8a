/**
 * The end of a link as far as words go: who has said goodbye, and when the last word may be said (CORE-010).
 *
 * Owns the states. Leaves to the link what is refused, freed and told on the way.
 *
 * ```text
 * open ──► finishing ──► finished ──► closed      each may also go straight to closed
 * ```
 * F1 Each of the two goodbyes is said once, and nothing after the second.
 * F2 The last word waits until the other side is finishing, too, and neither owes this one or is owed by it anything.
 * F3 When both sides have said their last word it is over.
 */
import type { ErrorKindName } from '../../errors/index.ts';
import type { LinkPhase } from '../transport/transport.ts';
import { GoodbyePhase } from '../wire/record.ts';

export type FarewellState =
  | { readonly kind: 'open' }
  /** This side has said that it takes no new work; `peer`: what the other side has said so far. */
  | { readonly kind: 'finishing'; readonly peer: 'nothing' | PeerWord }
  /** This side has said its last word and only waits for the other one's. */
  | { readonly kind: 'finished' }
  | { readonly kind: 'closed'; readonly reason: string };

export type PeerWord = 'finishing' | 'finished';

export interface FarewellOwner {
  say(phase: number): void;
  /** This side waits for something of the other one, or owes it something. */
  isOwing(): boolean;
  /** No new work any more; what waits to be sent is refused with `kind`. */
  onFinishing(kind: ErrorKindName): void;
  /** The other side owes nothing any more: who still waits for it will get nothing. */
  onPeerFinished(): void;
  /** F3 */
  onOver(): void;
}

export class Farewell {
  readonly #owner: FarewellOwner;
  #state: FarewellState = OPEN;

  constructor(owner: FarewellOwner) {
    this.#owner = owner;
  }

  get state(): FarewellState {
    return this.#state;
  }

  /** What topics see of the state. */
  get phase(): LinkPhase {
    const { kind } = this.#state;
    return kind === 'finished' ? 'finishing' : kind;
  }

  /** This side wants to end. */
  begin(kind: ErrorKindName): void {
    if (this.#state.kind === 'open') this.#finish('nothing', kind);
  }

  /** The other side has said its goodbye; a last word only to a link that is not open any more. */
  hear(word: PeerWord): void {
    const { kind } = this.#state;
    if (kind === 'open') return this.#finish(word, 'Unavailable');
    if (kind === 'finishing') this.#state = { kind, peer: word };
    if (word === 'finished') this.#owner.onPeerFinished();
    if (word === 'finished' && this.#state.kind === 'finished') return this.#owner.onOver(); // F3
    this.conclude();
  }

  /** Something that was owed is owed no more. */
  conclude(): void {
    const state = this.#state;
    if (state.kind !== 'finishing' || state.peer === 'nothing' || this.#owner.isOwing()) return; // F2
    this.#state = FINISHED;
    this.#owner.say(GoodbyePhase.finished); // F1
    if (state.peer === 'finished') this.#owner.onOver(); // F3
  }

  /** @returns false if it was closed before */
  close(reason: string): boolean {
    if (this.#state.kind === 'closed') return false;
    this.#state = { kind: 'closed', reason };
    return true;
  }

  #finish(peer: 'nothing' | PeerWord, kind: ErrorKindName): void {
    this.#state = { kind: 'finishing', peer };
    this.#owner.say(GoodbyePhase.finishing); // F1
    this.#owner.onFinishing(kind);
    this.conclude();
  }
}

const OPEN: FarewellState = Object.freeze({ kind: 'open' });
const FINISHED: FarewellState = Object.freeze({ kind: 'finished' });
