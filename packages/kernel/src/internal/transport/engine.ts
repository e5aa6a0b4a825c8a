/**
 * The engine port: what a wire technology must offer so that links can run on it.
 *
 * Owns the vocabulary of pipes: one pipe is one physical connection that carries multipart messages in order. Leaves
 * everything else (handshake, batching, credit, liveness, reconnecting) to `internal/link`, so that libzmq, memory and
 * later engines share one link protocol.
 *
 * E1 A pipe reports exactly one `onPipeClosed`, unless its owner closed it first: then none.
 * E2 What was sent to one pipe is never delivered over another one (CORE-014).
 * E3 Messages of one pipe arrive whole, in order, at most once.
 */

export interface Pipe {
  /** Where this pipe leads, for messages and monitoring: the dialled address or the listener's endpoint. */
  readonly address: string;
  /** Hands over one multipart message; the parts belong to the engine from here on and are never written again. */
  send(parts: Uint8Array[]): void;
  /** Ends the pipe; what was sent before still leaves within `lingerMs`. Idempotent. */
  close(lingerMs: number): void;
}

export interface PipeSink {
  /** The pipe can carry messages now. Accepted pipes are open from the start and do not call it. */
  onPipeOpen(): void;
  /** `parts[first…]` is the message; the buffers stay valid and unchanged for as long as anyone holds them. */
  onPipeMessage(parts: readonly Uint8Array[], first: number): void;
  /** The connection is gone or never came to be. `reason` is for people: no errno, no engine names. */
  onPipeClosed(reason: string): void;
}

export interface PipeListenOptions {
  /** `tcp://host:port`; port 0 takes a free one. */
  readonly address: string;
  /** Largest single message part in bytes that the engine lets in; 0: no limit. */
  readonly maxPartBytes: number;
  /** Told about connections that ended before they could carry a message, by reason label. */
  readonly onRefused: (reason: string) => void;
}

export interface PipeConnectOptions {
  readonly address: string;
  readonly maxPartBytes: number;
}

export interface PipeListener {
  /** The bound address with its real port. */
  readonly address: string;
  /** Takes no newcomers any more; accepted pipes live on until they are closed. The port is free after `close`. */
  unbind(): Promise<void>;
  /** Releases the socket once all accepted pipes are closed. */
  close(): Promise<void>;
}

export interface PipeEngine {
  listen(options: PipeListenOptions, accept: (pipe: Pipe) => PipeSink): Promise<PipeListener>;
  connect(options: PipeConnectOptions, sink: PipeSink): Pipe;
  /** Proof of identity, where the engine is secured; `undefined` otherwise (SEC-001). */
  readonly security: PipeSecurity | undefined;
  close(): Promise<void>;
}

/** How an engine proves and checks who is at the other end of an encrypted pipe (SEC-001). */
export interface PipeSecurity {
  readonly publicKey: string;
  /** Key that the other end of a dialled pipe must own; undefined: this host does not dial. */
  readonly serverPublicKey: string | undefined;
  /**
   * Whether the accepting side has let in a client with this key. A peer proves a key inside the connection; that it is
   * one of those which may connect is another question, asked at the connection's beginning and here again.
   */
  admits(publicKey: string): boolean;
  /** Proves to the owner of `forPublicKey` that the sender of `message` owns `publicKey`. */
  sign(message: Uint8Array, forPublicKey: string): Uint8Array;
  /** Whether `message` was signed by the owner of `publicKey`. */
  verify(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean;
}
