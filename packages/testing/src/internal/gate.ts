/** A door that handlers wait at until the test opens it. */
export class Gate {
  readonly opened: Promise<void>;
  open!: () => void; // set by the promise's executor, which runs at once

  constructor() {
    this.opened = new Promise((resolve) => (this.open = resolve));
  }
}
