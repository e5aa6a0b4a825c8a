/**
 * A side of a comparison: one way to carry messages from a client process to a server process.
 *
 * Owns the contract that lets one load drive all sides. Each process holds one end of one side.
 *
 * 1. Every side does the same work: the receiver decodes each message and checks it; a request is answered with its own
 *    content, decoded and encoded again.
 * 2. An end that is broken throws or rejects; it never loses a message in silence.
 */
import type { Cargo, Message } from '../cargo.ts';

export interface Work {
  readonly verb: 'send' | 'request';
  readonly cargo: Cargo;
}

export interface Side {
  /** @param onMessage - called for each message once it was decoded */
  openServer(work: Work, onMessage: () => void): Promise<ServerEnd>;
  /** Resolves when messages can be sent. */
  openClient(work: Work, address: string): Promise<ClientEnd>;
}

export interface ServerEnd {
  readonly address: string;
  /** Bytes that a sender may have under way to this end, where the side has such a limit. */
  readonly windowBytes: number | undefined;
  close(): Promise<void>;
}

export interface ClientEnd {
  /** One message; a promise when the caller has to wait before the next one. */
  send(message: Message): Promise<void> | undefined;
  /** One request; resolves with the decoded answer. */
  request(message: Message): Promise<Message>;
  close(): Promise<void>;
}
