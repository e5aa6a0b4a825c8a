/**
 * A connection whose messages arrive when the test says so.
 *
 * Owns two pipe ends and what is under way between them. Keeps E1 to E3 of the engine port.
 */
import type { Pipe, PipeSink } from '../../../src/internal/transport/index.ts';

type Item = { readonly kind: 'message'; readonly parts: Uint8Array[] } | { readonly kind: 'end' };

export class TestPipe implements Pipe {
  readonly address: string;
  /** Where messages arrive; set before anything is delivered. */
  sink: PipeSink | undefined;
  /** Every message that was sent, for tests that look at bytes. */
  readonly sent: Uint8Array[][] = [];
  isClosed = false;
  /** Thrown by the next `send`. */
  sendFault: Error | undefined;
  #underWay: Item[] = [];
  #other: TestPipe | undefined;

  constructor(address: string) {
    this.address = address;
  }

  static pair(): [near: TestPipe, far: TestPipe] {
    const near = new TestPipe('tcp://far:1');
    const far = new TestPipe('tcp://far:1');
    near.#other = far;
    far.#other = near;
    return [near, far];
  }

  get underWay(): number {
    return this.#underWay.length;
  }

  send(parts: Uint8Array[]): void {
    if (this.sendFault !== undefined) throw this.sendFault;
    if (this.isClosed) return;
    this.sent.push(parts);
    this.#underWay.push({ kind: 'message', parts });
  }

  close(lingerMs: number): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (lingerMs <= 0) this.#underWay = [];
    this.#underWay.push({ kind: 'end' });
  }

  /** Both ends learn in their next delivery that the connection is gone; what was under way is lost. */
  break(): void {
    for (const end of [this, this.#other]) {
      if (end === undefined) continue;
      end.#underWay = [{ kind: 'end' }];
    }
  }

  /** Delivers what this end sent first; false: there was nothing. */
  deliver(): boolean {
    const item = this.#underWay.shift();
    if (item === undefined) return false;
    this.#other?.receive(item);
    return true;
  }

  private receive(item: Item): void {
    if (this.isClosed) return;
    if (item.kind === 'message') return this.sink?.onPipeMessage(item.parts, 0);
    this.isClosed = true;
    this.#underWay = this.#underWay.filter(({ kind }) => kind === 'end');
    this.sink?.onPipeClosed('connection lost');
  }
}
