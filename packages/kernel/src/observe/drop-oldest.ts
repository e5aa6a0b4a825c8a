/** Keeps the memory of a log bounded, whatever it is told. */

/** Removes the first entries of a map that has grown beyond `limit`; each removed one is handed to `onDropped`. */
export function dropOldest<V>(map: Map<string, V>, limit: number, onDropped?: (value: V) => void): void {
  for (const [key, value] of map) {
    if (map.size <= limit) return;
    map.delete(key);
    onDropped?.(value);
  }
}
