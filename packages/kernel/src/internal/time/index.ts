/** Time and chance, injected everywhere else. */

export { Backoff } from './backoff.ts';
export {
  afterPendingReads,
  type Clock,
  type RandomSource,
  systemClock,
  systemRandom,
  type TimerHandle,
} from './clock.ts';
export { DeadlineWheel, type DeadlineWheelOptions } from './deadline-wheel.ts';
export { deadlineOf, withDeadline } from './signal-deadline.ts';
export { type DeadlineEntry } from './wheel-slots.ts';
