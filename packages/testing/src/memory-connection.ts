/**
 * One connection of a memory network: two ends and the lanes between them.
 *
 * Owns which end an item belongs to, and that both ends break together.
 */
import type { Clock } from '@zlink/kernel/internal/time';
import type { Pipe, PipeSink } from '@zlink/kernel/internal/transport';
import { type LaneItem, MemoryLane } from './memory-lane.ts';
import { MemoryPipe } from './memory-pipe.ts';

/** A machine on a memory network; each is itself, whatever its name. */
export interface MemoryHost {
  readonly name: string;
}

/** What one side brings into a connection. */
export interface ConnectionSide {
  /** Undefined: nobody's, and no fault between hosts concerns it. */
  readonly host?: MemoryHost | undefined;
  readonly maxPartBytes: number;
  /** Nothing of the end is under way any more. */
  readonly onReleased: (pipe: MemoryPipe) => void;
}

/** What a connection asks of its network. */
export interface ConnectionHost {
  readonly clock: Clock;
  readonly ask: (lane: MemoryLane) => void;
  readonly later: (task: () => void) => void;
  /** The attempt has arrived: somebody accepts or breaks it. */
  readonly onAttempt: (connection: MemoryConnection) => void;
  /** Both ends are over. */
  readonly onOver: (connection: MemoryConnection) => void;
}

export class MemoryConnection {
  /** As dialled: faults by address go by it. */
  readonly address: string;
  readonly dialerHost: MemoryHost | undefined;
  /** Whose listener is there, as far as that is known yet. */
  listenerHost: MemoryHost | undefined;
  readonly dialer: MemoryPipe;
  readonly toListener: MemoryLane;
  readonly toDialer: MemoryLane;
  readonly #host: ConnectionHost;
  #acceptor: MemoryPipe | undefined;

  constructor(host: ConnectionHost, address: string, side: ConnectionSide, sink: PipeSink) {
    this.#host = host;
    this.address = address;
    this.dialerHost = side.host;
    this.toListener = new MemoryLane(host.clock, host.ask, (item) => this.#arriveAtListener(item));
    this.toDialer = new MemoryLane(host.clock, host.ask, (item) => this.dialer.receive(item));
    this.dialer = this.#makeEnd(address, side, true);
    this.dialer.attach(sink);
  }

  /** Whether something was lost to a black hole that has ended. */
  get hasGap(): boolean {
    return this.toListener.hasGap || this.toDialer.hasGap;
  }

  start(): void {
    this.toListener.send({ kind: 'attempt' });
  }

  has(pipe: Pipe): boolean {
    return pipe === this.dialer || pipe === this.#acceptor;
  }

  accept(endpoint: string, side: ConnectionSide, accept: (pipe: MemoryPipe) => PipeSink): void {
    const acceptor = this.#makeEnd(endpoint, side, false);
    this.#acceptor = acceptor;
    this.toDialer.send({ kind: 'opened' }); // ahead of whatever `accept` may send
    acceptor.attach(accept(acceptor));
  }

  break(reason: string): void {
    this.dialer.fail(reason);
    this.#acceptor?.fail(reason);
  }

  #makeEnd(address: string, side: ConnectionSide, dialed: boolean): MemoryPipe {
    return new MemoryPipe({
      address,
      dialed,
      maxPartBytes: side.maxPartBytes,
      clock: this.#host.clock,
      outgoing: dialed ? this.toListener : this.toDialer,
      incoming: dialed ? this.toDialer : this.toListener,
      later: this.#host.later,
      breakOther: (reason) => (dialed ? this.#acceptor : this.dialer)?.fail(reason),
      onReleased: (pipe) => {
        side.onReleased(pipe);
        if (this.dialer.isOver && (this.#acceptor?.isOver ?? true)) this.#host.onOver(this);
      },
    });
  }

  #arriveAtListener(item: LaneItem): void {
    if (item.kind === 'attempt') this.#host.onAttempt(this);
    else this.#acceptor?.receive(item);
  }
}
