/**
 * Where log records go.
 *
 * Owns the contract, the default logger on stderr and the guard around an application's logger. Leaves what is recorded,
 * and at which level, to the components.
 *
 * 1. Neither the default logger nor a guarded one ever throws, and no promise of theirs is left rejected.
 * 2. A record is one JSON line: bigint as decimal text, errors as name and message, no stack. What a terminal or a viewer could
 *    take for an order stands in it as an escape: names come from peers.
 * 3. A failing logger shows on stderr at most once per minute and text, and with at most 256 texts (MON-023).
 */
import { describeValue } from '../errors/index.ts';
import { type Clock, systemClock } from '../internal/time/index.ts';
import { dropOldest } from './drop-oldest.ts';
import { errorText } from './error-text.ts';

/** Receives records: plain objects with an `eventId` or a `message`. */
export interface Logger {
  debug(record: object): void;
  info(record: object): void;
  warn(record: object): void;
  error(record: object): void;
}

export type LogLevel = keyof Logger;

type WriteLine = (line: string) => void;

export interface StderrLoggerOptions {
  /** The calendar time of a line; the clock of the framework is monotonic and knows none. */
  readonly date?: () => Date;
  readonly write?: WriteLine;
}

const lineLimit = 16_384;
const fieldLimit = 64;

/** JSON lines on stderr, `warn` and `error` only; in a browser the console's error channel. */
export function createStderrLogger(options: StderrLoggerOptions = {}): Logger {
  const date = options.date ?? (() => new Date());
  const write = options.write ?? writeStderr;
  const log = (level: LogLevel, record: object): void => {
    try {
      write(formatLine(level, date(), record));
    } catch {
      // 1: a closed stderr is no reason for anything else to fail.
    }
  };
  return Object.freeze({
    debug: ignore,
    info: ignore,
    warn: (record: object) => log('warn', record),
    error: (record: object) => log('error', record),
  });
}

export const stderrLogger: Logger = createStderrLogger();

interface GuardLoggerOptions {
  readonly clock?: Clock;
  readonly write?: WriteLine;
}

const reportEveryMs = 60_000;
const rememberedTexts = 256;

/** The same logger, but what it throws or rejects with ends here (1). */
export function guardLogger(logger: Logger, options: GuardLoggerOptions = {}): Logger {
  const clock = options.clock ?? systemClock;
  const write = options.write ?? writeStderr;
  const reportedAtMs = new Map<string, number>();

  const report = (level: LogLevel, thrown: unknown): void => {
    try {
      const text = errorText(thrown);
      const nowMs = clock.nowMs();
      const lastAtMs = reportedAtMs.get(text);
      if (lastAtMs !== undefined && nowMs - lastAtMs < reportEveryMs) return; // 3
      if (lastAtMs === undefined && reportedAtMs.size >= rememberedTexts) {
        const [oldestAtMs = -Infinity] = reportedAtMs.values();
        if (nowMs - oldestAtMs < reportEveryMs) return; // 3
      }
      reportedAtMs.delete(text); // so that the map's order is the order of reports
      reportedAtMs.set(text, nowMs);
      dropOldest(reportedAtMs, rememberedTexts);
      write(escaped(JSON.stringify({ level: 'error', message: `logger failed in ${level}: ${text}` })));
    } catch {
      // 1: there is nowhere left to tell it.
    }
  };

  const guarded =
    (level: LogLevel) =>
    (record: object): void => {
      try {
        const result: unknown = logger[level](record);
        // The contract says void, but an async method fits it as well, and its rejection would end the process.
        if (result !== undefined) Promise.resolve(result).catch((error: unknown) => report(level, error));
      } catch (error) {
        report(level, error);
      }
    };
  return Object.freeze({
    debug: guarded('debug'),
    info: guarded('info'),
    warn: guarded('warn'),
    error: guarded('error'),
  });
}

function formatLine(level: LogLevel, at: Date, record: object): string {
  const head = { level, at: at.toISOString() };
  let line: string | undefined;
  try {
    line = escaped(JSON.stringify({ ...head, ...record }, toPlain));
  } catch {
    line = undefined; // a cycle, a getter or toJSON that throws
  }
  return line !== undefined && line.length <= lineLimit
    ? line
    : escaped(JSON.stringify({ ...head, ...outline(record) }));
}

/** Line ends, control and direction characters that JSON leaves alone (2); in JSON they stand within texts only. */
const unprintable = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escaped(json: string): string {
  return json.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function toPlain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString(); // 2
  return value instanceof Error ? errorText(value, 1_024) : value;
}

/** Names the fields of a record that has no JSON form or is too large, each value in a few words. */
function outline(record: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  try {
    for (const key of Object.keys(record).slice(0, fieldLimit)) fields[key.slice(0, 64)] = outlineValue(record, key);
  } catch {
    fields['message'] = 'unreadable record';
  }
  return fields;
}

function outlineValue(record: object, key: string): unknown {
  try {
    const value = (record as Record<string, unknown>)[key]; // any object may be asked for any property
    if (value instanceof Error) return errorText(value);
    return typeof value === 'number' || typeof value === 'boolean' ? value : shortText(value);
  } catch (error) {
    return `unreadable: ${errorText(error)}`;
  }
}

function shortText(value: unknown): string {
  return typeof value === 'string' && value.length <= 1_024 ? value : describeValue(value);
}

function writeStderr(line: string): void {
  // Browsers have no process; some bundlers give a partial one.
  if (typeof process === 'object' && typeof process.stderr?.write === 'function') process.stderr.write(`${line}\n`);
  else console.error(line);
}

function ignore(): void {}
