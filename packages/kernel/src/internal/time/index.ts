/** Time and chance, injected everywhere else. */

export { Backoff } from './backoff.ts';
export {
  afterPendingReads,
  type Clock,
  type RandomSource,
  systemClock,
  systemDateMs,
  systemRandom,
  type TimerHandle,
} from './clock.ts';
export { DeadlineWheel, type DeadlineWheelOptions } from './deadline-wheel.ts';
export { requireSignal } from './require-signal.ts';
export { settleWithin } from './settle-within.ts';
export { deadlineOf, hasDeadline, setDeadline } from './signal-deadline.ts';
export { follow, type SignalFollower, unfollow } from './signal-followers.ts';
export { untilAborted } from './until-aborted.ts';
export { type DeadlineEntry } from './wheel-slots.ts';
