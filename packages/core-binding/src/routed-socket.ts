/** A listener's ROUTER as its pipes see it: many peers behind one socket. */
export interface RoutedSocket {
  /** Hands one message over. `onFailed` is told in a later microtask that the peer cannot be reached. */
  send(routingId: Uint8Array, parts: readonly Uint8Array[], onFailed: (error: unknown) => void): void;
  /** What was sent until now still leaves within this time, should the socket close. */
  keepSending(lingerMs: number): void;
}

export type DialStart =
  { readonly ok: true; readonly routingId: Uint8Array } | { readonly ok: false; readonly reason: string };

/** A ROUTER that also dials: each dial has an address and a routing id of its own for as long as it lasts. */
export interface DialingSocket<Dial> extends RoutedSocket {
  dial(address: string, dial: Dial): DialStart;
  /** Ends the connection; what was sent on it still leaves within `lingerMs`. */
  hangUp(address: string, lingerMs: number): void;
}
