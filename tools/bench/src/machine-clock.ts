/**
 * The monotonic clock that all processes of a machine share, in milliseconds.
 *
 * `performance.now()` counts from the start of its own process; `hrtime` reads the system's clock as it is, so that a
 * moment in the sender can be subtracted from one in the receiver.
 */
export function machineNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
