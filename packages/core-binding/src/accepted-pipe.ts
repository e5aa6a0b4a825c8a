/**
 * The near end of a connection that a peer has made to a listener's ROUTER.
 *
 * Owns whether anybody still listens to one routing id. Leaves the socket to the listener.
 *
 * 1. The sink hears exactly one `onPipeClosed`, unless the owner has closed the pipe: then nothing more (E1).
 * 2. libzmq cannot drop a single accepted connection: a closed pipe is only forgotten, and the peer, told by the link's
 *    goodbye, hangs up.
 * 3. An owner that throws ends its own pipe and no other (WIRE-003).
 */
import type { Pipe, PipeSink } from '@zlink/kernel/internal/transport';
import { faultText, sendFailureText } from './native-errors.ts';

/** The listener's socket, which a pipe shares with all others. */
export interface SharedRouter {
  /** `onFailed` is told in a later microtask that the peer cannot be reached. */
  send(routingId: Uint8Array, parts: readonly Uint8Array[], onFailed: (error: unknown) => void): void;
  /** What was sent until now still leaves within this time, should the socket close. */
  keepSending(lingerMs: number): void;
  /** For the log; must not throw. */
  onFault(error: unknown): void;
}

type AcceptedState =
  /** The owner is making its sink. */
  | { readonly kind: 'new' }
  | { readonly kind: 'open'; readonly sink: PipeSink }
  /** Nobody listens; `wasHeard`: the peer has sent something nevertheless. */
  | { readonly kind: 'forgotten'; readonly wasHeard: boolean };

export class AcceptedPipe implements Pipe {
  readonly address: string;
  readonly #routingId: Uint8Array;
  readonly #router: SharedRouter;
  #state: AcceptedState = { kind: 'new' };

  constructor(address: string, routingId: Uint8Array, router: SharedRouter) {
    this.address = address;
    this.#routingId = routingId;
    this.#router = router;
  }

  /** Gets the sink from the listener's owner, who may close the pipe at once. */
  open(accept: (pipe: Pipe) => PipeSink): void {
    try {
      const sink = accept(this);
      if (this.#state.kind === 'new') this.#state = { kind: 'open', sink };
    } catch (error) {
      this.#onFault(error);
    }
  }

  send(parts: Uint8Array[]): void {
    if (this.#state.kind !== 'forgotten') this.#router.send(this.#routingId, parts, this.#onSendFailed);
  }

  close(lingerMs: number): void {
    if (this.#state.kind === 'forgotten') return;
    this.#state = { kind: 'forgotten', wasHeard: false }; // 2
    this.#router.keepSending(lingerMs);
  }

  /** A message has come, its routing id first. False: it is the first one that nobody hears. */
  hear(parts: readonly Uint8Array[]): boolean {
    const state = this.#state;
    if (state.kind === 'open') this.#tell(state.sink, parts);
    if (state.kind !== 'forgotten') return true;
    this.#state = { kind: 'forgotten', wasHeard: true };
    return state.wasHeard;
  }

  /** The peer has hung up, or the engine gives the pipe up. */
  fail(reason: string): void {
    const state = this.#state;
    if (state.kind === 'forgotten') return;
    this.#state = { kind: 'forgotten', wasHeard: false };
    if (state.kind !== 'open') return;
    try {
      state.sink.onPipeClosed(reason); // 1
    } catch (error) {
      this.#router.onFault(error); // 3
    }
  }

  #tell(sink: PipeSink, parts: readonly Uint8Array[]): void {
    try {
      sink.onPipeMessage(parts, 1); // behind the routing id
    } catch (error) {
      this.#onFault(error);
    }
  }

  #onFault(error: unknown): void {
    this.#router.onFault(error);
    this.fail(faultText(error)); // 3
  }

  readonly #onSendFailed = (error: unknown): void => this.fail(sendFailureText(error));
}
