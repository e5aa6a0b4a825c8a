/** Whether two pieces of memory hold the same; a loop, as it is asked for every event. */
export function areSameBytes(bytes: Uint8Array, others: Uint8Array): boolean {
  if (bytes.length !== others.length) return false;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== others[at]) return false;
  return true;
}
