/** Lets other sockets, timers and callbacks of the event loop run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
