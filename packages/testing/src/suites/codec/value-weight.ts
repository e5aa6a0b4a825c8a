/** How much a decoded value is: its values and the characters and bytes in them. */

/**
 * Stops counting above `limit`, and goes into no array whose length alone is above it: a codec that trusts an announced
 * length may have made one of billions.
 */
export function weightOf(value: unknown, limit: number): number {
  let weight = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && weight <= limit) {
    const next = open.pop();
    weight += 1;
    if (typeof next === 'string') weight += next.length;
    else if (ArrayBuffer.isView(next)) weight += next.byteLength;
    else if (Array.isArray(next)) {
      weight += next.length;
      if (weight <= limit) for (const item of next) open.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        weight += key.length;
        open.push(member);
      }
    }
  }
  return weight;
}
