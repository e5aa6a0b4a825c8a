/** What every child process of the demo and its parent say to each other over Node's IPC channel, whatever the act. */

/** Acts declare unions of these. */
export interface Report {
  readonly kind: string;
}

/** The process could not do its part. */
export interface FailedReport {
  readonly kind: 'failed';
  readonly reason: string;
}

/** What a parent wants of a child. Acts declare unions of these, too. */
export interface Wish {
  readonly kind: string;
}

/** `drain`: a server leaves, where the platform knows no SIGTERM; `finish`: a client ends its calls and leaves. */
export interface EndingWish {
  readonly kind: 'drain' | 'finish';
}
