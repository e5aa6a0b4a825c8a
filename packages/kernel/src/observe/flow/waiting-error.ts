/** A dispatch error until its record is written: the record, which is made at once, with the key that limits it. */
import type { DispatchErrorRecord } from './records.ts';

export class WaitingError {
  order = 0;
  key = '';
  record: DispatchErrorRecord | undefined = undefined;

  hold(order: number, key: string, record: DispatchErrorRecord): void {
    this.order = order;
    this.key = key;
    this.record = record;
  }

  release(): void {
    this.record = undefined;
  }
}
