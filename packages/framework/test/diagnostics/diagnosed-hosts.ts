/** Hosts whose records a test reads, all levels of the logger together. */
import type { DiagnosticsLevel, HostOptions } from '@zlink/framework';
import { until } from '@zlink/testing';
import { LogRecorder, type LogRecord } from '../log-recorder.ts';

export class Diagnosed {
  readonly log = new LogRecorder();
  readonly options: HostOptions;

  constructor(level: DiagnosticsLevel | undefined, more: HostOptions['diagnostics'] = {}) {
    this.options = { logger: this.log, diagnostics: { ...(level === undefined ? {} : { level }), ...more } };
  }

  get phases(): LogRecord[] {
    return this.log.of('zlink.message_flow');
  }

  get errors(): LogRecord[] {
    return this.log.of('zlink.dispatch_error');
  }

  /** Of one kind, once there are so many. */
  async phase(name: string, count = 1): Promise<LogRecord[]> {
    const found = (): LogRecord[] => this.phases.filter(({ phase }) => phase === name);
    await until(() => found().length >= count, `${count} records of phase ${name}`);
    return found();
  }
}
