/** A logger that keeps what it is given. */
import type { Logger } from '@zlink/framework';

export type LogRecord = Readonly<Record<string, unknown>>;

export class LogRecorder implements Logger {
  readonly records: LogRecord[] = [];

  debug(record: object): void {
    this.#keep(record);
  }

  info(record: object): void {
    this.#keep(record);
  }

  warn(record: object): void {
    this.#keep(record);
  }

  error(record: object): void {
    this.#keep(record);
  }

  of(eventId: string): LogRecord[] {
    return this.records.filter((record) => record['eventId'] === eventId);
  }

  #keep(record: object): void {
    this.records.push(record as LogRecord); // records are plain objects
  }
}

/** What a host tells of itself and not of the machine, which may have had no time for this process. */
export function isOfHost({ eventId }: LogRecord): boolean {
  return eventId !== 'zlink.runtime.event_loop_stalled';
}
