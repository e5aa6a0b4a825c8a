/** Records what the owner of a pipe is told, and keeps the accepted pipes of a listener. */
import type { Pipe, PipeEngine, PipeListener, PipeSink } from '@zlink/kernel/internal/transport';
import { until } from '@zlink/testing';

class PipeRecorder implements PipeSink {
  readonly messages: Uint8Array[][] = [];
  readonly closed: string[] = [];
  opened = 0;
  /** Messages that had come when the pipe ended. */
  countAtEnd = -1;
  onMessage: (() => void) | undefined;

  onPipeOpen(): void {
    this.opened++;
  }

  onPipeMessage(parts: readonly Uint8Array[], first: number): void {
    this.messages.push(parts.slice(first));
    this.onMessage?.();
  }

  onPipeClosed(reason: string): void {
    this.closed.push(reason);
    this.countAtEnd = this.messages.length;
  }

  get texts(): string[] {
    return this.messages.map((parts) => parts.map((part) => Buffer.from(part).toString()).join('|'));
  }

  async received(count: number): Promise<void> {
    await until(() => this.messages.length >= count, `${count} messages, got ${this.messages.length}`);
  }

  /** Why the pipe was closed. */
  async end(giveUpMs?: number): Promise<string> {
    await until(() => this.closed.length > 0, 'end of the pipe', giveUpMs);
    return this.closed[0]!; // has one by now
  }
}

export interface RecordedListener {
  readonly listener: PipeListener;
  readonly address: string;
  readonly pipes: Pipe[];
  readonly recorders: PipeRecorder[];
  readonly refused: string[];
}

export interface RecordedPipe {
  readonly pipe: Pipe;
  readonly recorder: PipeRecorder;
}

export async function listen(
  engine: PipeEngine,
  address = 'tcp://127.0.0.1:0',
  maxPartBytes = 0,
): Promise<RecordedListener> {
  const pipes: Pipe[] = [];
  const recorders: PipeRecorder[] = [];
  const refused: string[] = [];
  const onRefused = (reason: string): void => void refused.push(reason);
  const listener = await engine.listen({ address, maxPartBytes, onRefused }, (pipe) => {
    const recorder = new PipeRecorder();
    pipes.push(pipe);
    recorders.push(recorder);
    return recorder;
  });
  return { listener, address: listener.address, pipes, recorders, refused };
}

export const newRecorder = (): PipeRecorder => new PipeRecorder();

export function dial(from: PipeEngine, address: string): RecordedPipe {
  const recorder = new PipeRecorder();
  return { pipe: from.connect({ address, maxPartBytes: 0 }, recorder), recorder };
}

/** Dials, waits until the pipe is open, and makes itself known by a first message. */
export async function dialAndGreet(from: PipeEngine, to: RecordedListener): Promise<RecordedPipe> {
  const known = to.pipes.length;
  const dialed = dial(from, to.address);
  await until(() => dialed.recorder.opened > 0, 'pipe opens');
  dialed.pipe.send([bytesOf('hello')]);
  await until(() => to.recorders[known]?.messages.length === 1, 'peer is accepted');
  return dialed;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
