/** How the life of a host ended (DRAIN-006). Leaves ending it to the host. */

export interface ShutdownResult {
  /**
   * - `stopped`: all accepted work and all services ended by themselves, or nothing ran
   * - `forceStopped`: something was cut off or could not be freed; the host is stopped all the same
   */
  readonly outcome: 'stopped' | 'forceStopped';
  /**
   * - `none`: the host stopped in order
   * - `deadlineExceeded`: work or services had not ended in time; requests that still ran got `ShuttingDown`
   * - `teardownFailed`: a listener, link or the transport could not be released; the log says which
   */
  readonly reason: 'none' | 'deadlineExceeded' | 'teardownFailed';
}

/** Everything ended in time, or nothing ran. */
export const STOPPED: ShutdownResult = Object.freeze({ outcome: 'stopped', reason: 'none' });
