/**
 * The handler that was started last.
 *
 * Owns two words, written at every start and read by whoever finds out that the event loop has stood still: what was
 * started last is most likely what blocked it (C16).
 */
export class LastHandler {
  owner = '';
  packetName = '';
}
