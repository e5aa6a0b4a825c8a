/**
 * The two ends of a memory connection.
 *
 * Owns the life of one end and of the pair. Leaves order and faults to `MemoryLane`, addresses to `MemoryNetwork`.
 *
 * E1 An end reports exactly one `onPipeClosed`, in a later turn, unless its owner closed it first: then none.
 * E2 A message arrives, or its receiver learns that the pipe is closed; only a black hole swallows without a word.
 * E3 The receiver gets the very buffers that were sent: nothing is copied.
 */
import type { Pipe, PipeSink } from '@zlink/kernel/internal/transport';
import type { Clock } from '@zlink/kernel/internal/time';
import type { LaneItem, MemoryLane } from './memory-lane.ts';

const LOST = 'connection lost';
const CLOSED_BY_PEER = 'closed by the peer';

/** The leading part of messages at accepted ends, which share a listener's socket: receivers must honour `first`. */
const ROUTING_PART = Uint8Array.of(0, 0, 0, 0, 1);

type PipeState =
  /** Dialled, the other side has not answered. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** Gone; the owner is told in a later turn. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closed' };

export interface PipeEndOptions {
  readonly address: string;
  readonly maxPartBytes: number;
  /** Whether this end has dialled; the other one shares its listener's socket. */
  readonly dialed: boolean;
  /** Measures linger. */
  readonly clock: Clock;
  /** What this end sends, and what it gets. */
  readonly outgoing: MemoryLane;
  readonly incoming: MemoryLane;
  /** Runs a callback in a later turn. */
  readonly later: (task: () => void) => void;
  /** The other end's view of a break that this end has noticed. */
  readonly breakOther: (reason: string) => void;
  /** Nothing of this end is under way any more. */
  readonly onReleased: (pipe: MemoryPipe) => void;
}

export class MemoryPipe implements Pipe {
  readonly address: string;
  readonly #options: PipeEndOptions;
  #sink: PipeSink | undefined;
  #state: PipeState;

  constructor(options: PipeEndOptions) {
    this.address = options.address;
    this.#options = options;
    this.#state = { kind: options.dialed ? 'connecting' : 'open' };
  }

  get isOver(): boolean {
    return this.#state.kind === 'failed' || this.#state.kind === 'closed';
  }

  /** Set once, before anything arrives. */
  attach(sink: PipeSink): void {
    this.#sink = sink;
  }

  send(parts: Uint8Array[]): void {
    if (this.isOver) return; // E2: the owner knows or is about to be told
    this.#options.outgoing.send({ kind: 'message', parts });
  }

  close(lingerMs: number): void {
    const { kind } = this.#state;
    if (kind === 'closed') return;
    this.#state = { kind: 'closed' }; // E1: from here on the sink hears nothing
    if (kind === 'failed') return; // `fail` has released everything
    this.#options.incoming.clear();
    this.#leave(kind === 'connecting' ? 0 : lingerMs); // an attempt without an answer has sent nothing
  }

  /** The connection broke, or its engine was closed under it. */
  fail(reason: string): void {
    if (this.isOver) return;
    this.#state = { kind: 'failed', reason };
    this.#options.incoming.clear();
    this.#options.outgoing.clear();
    this.#options.onReleased(this);
    this.#options.later(() => this.#report());
  }

  /** Ends an end whose owner has not closed it: the owner is told, the other side gets an orderly end. */
  abandon(reason: string): void {
    if (this.isOver) return;
    this.fail(reason);
    this.#options.outgoing.send({ kind: 'end', reason: CLOSED_BY_PEER });
  }

  receive(item: LaneItem): void {
    switch (item.kind) {
      case 'opened':
        if (this.#state.kind !== 'connecting') return;
        this.#state = { kind: 'open' };
        this.#sink?.onPipeOpen();
        return;
      case 'message':
        this.#receiveMessage(item.parts);
        return;
      case 'end':
        this.fail(item.reason);
        return;
      case 'attempt':
        return; // the network's business
    }
  }

  #receiveMessage(parts: Uint8Array[]): void {
    if (this.isOver) return;
    const { maxPartBytes, dialed } = this.#options;
    const oversize = maxPartBytes > 0 ? parts.find((part) => part.length > maxPartBytes) : undefined;
    if (oversize !== undefined) {
      this.#options.breakOther(LOST);
      this.fail(`a message part of ${oversize.length} bytes is above the limit of ${maxPartBytes}`);
      return;
    }
    if (!dialed) parts.unshift(ROUTING_PART);
    this.#sink?.onPipeMessage(parts, dialed ? 0 : 1);
  }

  /** What was sent still leaves within `lingerMs`; the other side learns of the end behind it (E2). */
  #leave(lingerMs: number): void {
    const { outgoing, clock, onReleased } = this.#options;
    if (lingerMs <= 0) outgoing.clear();
    outgoing.send({ kind: 'end', reason: CLOSED_BY_PEER });
    if (lingerMs <= 0) {
      onReleased(this);
      return;
    }
    const giveUp = clock.setTimer(() => {
      outgoing.clear();
      outgoing.send({ kind: 'end', reason: CLOSED_BY_PEER });
    }, lingerMs);
    outgoing.whenDrained(() => {
      clock.clearTimer(giveUp);
      onReleased(this);
    });
  }

  #report(): void {
    if (this.#state.kind !== 'failed') return; // E1: closed by its owner meanwhile
    const { reason } = this.#state;
    this.#state = { kind: 'closed' };
    this.#sink?.onPipeClosed(reason);
  }
}
