/**
 * How far the connection to a peer, server or publisher has come.
 * - `connecting`: never connected so far
 * - `admitted`: both sides agreed, but the other side does not serve yet
 * - `ready`: messages can flow
 * - `notRequired`: both sides have nothing to say to each other, no failure
 * - `rejected`: the other side, or this one, refused; the reason tells why; it is tried again
 * - `reconnecting`: was connected and is being dialled again
 * - `closed`: not wanted any more, or another connection to the same peer is kept
 */
export type LinkState = 'connecting' | 'admitted' | 'ready' | 'notRequired' | 'rejected' | 'reconnecting' | 'closed';
