/** A meter that keeps what it was told. */
import type { AdmissionOutcome, CallMeter, RequestOutcome, SelectionFailure } from '../../src/observe/index.ts';

export class FakeMeter implements CallMeter {
  started = 0;
  readonly ended: (readonly [outcome: RequestOutcome, seconds: number])[] = [];
  readonly waits: (readonly [outcome: AdmissionOutcome, seconds: number])[] = [];
  readonly failures: SelectionFailure[] = [];

  requestStarted(): void {
    this.started++;
  }

  requestEnded(outcome: RequestOutcome, seconds: number): void {
    this.ended.push([outcome, seconds]);
  }

  admissionWaited(outcome: AdmissionOutcome, seconds: number): void {
    this.waits.push([outcome, seconds]);
  }

  selectionFailed(reason: SelectionFailure): void {
    this.failures.push(reason);
  }
}
