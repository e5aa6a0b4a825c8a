/**
 * A message flow whose records a test reads: written as they are made, with ids and times that a test can tell.
 *
 * Owns logger, log and random words. Leaves spans to a tracer that the test gives.
 */
import { ManualClock } from '@zlink/testing';
import { type Logger, MessageFlow, type MessageFlowOptions, RateLimitedLog } from '../../../src/observe/index.ts';

export type LoggedRecord = Readonly<Record<string, unknown>>;

/** 2026-01-02T03:04:05.678Z */
export const AT_MS = 1_767_323_045_678;

export class TestFlow {
  /** At `debug`: phases. */
  readonly phases: LoggedRecord[] = [];
  /** At `warn`: dispatch errors. */
  readonly errors: LoggedRecord[] = [];
  readonly clock = new ManualClock();
  readonly log: RateLimitedLog;
  readonly logger: Logger;
  readonly flow: MessageFlow;
  #word = 0;

  constructor(options: Partial<MessageFlowOptions> = {}) {
    const keepIn =
      (records: LoggedRecord[]) =>
      (record: object): void =>
        void records.push(record as LoggedRecord); // records are plain objects
    const never = (): never => {
      throw new Error('records go to debug and warn alone');
    };
    this.logger = { debug: keepIn(this.phases), info: never, warn: keepIn(this.errors), error: never };
    this.log = new RateLimitedLog(this.logger, this.clock);
    this.flow = new MessageFlow({
      clock: this.clock,
      logger: this.logger,
      log: this.log,
      dateMs: () => AT_MS,
      fillRandom: (words) => {
        for (let at = 0; at < words.length; at++) words[at] = ++this.#word;
      },
      nextTurn: (turn) => turn(),
      ...options,
    });
  }
}
