/** What both ends of a control socket agree on. docs/inspector.md lists it. */

/** Grows when an older reader would misread a line. */
export const PROTOCOL = 1;

export const MIN_INTERVAL_MS = 100;
export const MAX_INTERVAL_MS = 3_600_000;

/** Of the one line that a client sends. */
export const REQUEST_BYTES = 256;

/** Of a line that a host sends: some ten thousand peers. */
export const REPORT_BYTES = 16_777_216;

/** Of objects and lists within each other in a line: a report has some six, and unknown fields room for more. */
export const LINE_DEPTH = 32;

/** What is kept of the reason of a refusal, in characters. */
export const REASON_LENGTH = 200;

export const isIntervalMs = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= MIN_INTERVAL_MS && (value as number) <= MAX_INTERVAL_MS;
