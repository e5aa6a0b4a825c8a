/** Waiting for what others wait for, too: an abort ends this wait and nothing else. */

/** The same end as `result`, or the reason of `signal` if that aborts first. Leaves no listener behind. */
export function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error); // a reason may be any value
    signal.addEventListener('abort', onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
