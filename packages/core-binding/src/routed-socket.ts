/** A listener's ROUTER as its pipes see it: many peers behind one socket. */
export interface RoutedSocket {
  /** Hands one message over. `onFailed` is told in a later microtask that the peer cannot be reached. */
  send(routingId: Uint8Array, parts: readonly Uint8Array[], onFailed: (error: unknown) => void): void;
  /** What was sent until now still leaves within this time, should the socket close. */
  keepSending(lingerMs: number): void;
}

/** A ROUTER that also dials: each dial has an address and an alias of its own for as long as it lasts. */
export interface DialingSocket<Dial> extends RoutedSocket {
  /**
   * Connects.
   * @returns the routing id of the other side; undefined: another dial has this address
   * @throws what zeromq.js throws
   */
  connect(address: string, dial: Dial): Uint8Array | undefined;
  /** Ends the connection; what was sent on it still leaves within `lingerMs`. */
  disconnect(address: string, dial: Dial, lingerMs: number): void;
}
