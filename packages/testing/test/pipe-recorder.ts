/** Records what a pipe's owner is told, and keeps the accepted pipes of a listener. */
import type { Pipe, PipeEngine, PipeListener, PipeSink } from '@zlink/kernel/internal/transport';

export class PipeRecorder implements PipeSink {
  readonly messages: (readonly Uint8Array[])[] = [];
  /** Where in its parts each message began. */
  readonly firsts: number[] = [];
  readonly closed: string[] = [];
  opened = 0;
  onMessage: (() => void) | undefined;

  onPipeOpen(): void {
    this.opened++;
  }

  onPipeMessage(parts: readonly Uint8Array[], first: number): void {
    this.firsts.push(first);
    this.messages.push(parts.slice(first));
    this.onMessage?.();
  }

  onPipeClosed(reason: string): void {
    this.closed.push(reason);
  }

  get texts(): string[] {
    return this.messages.map((parts) => parts.map((part) => Buffer.from(part).toString()).join('|'));
  }
}

export interface RecordedListener {
  readonly listener: PipeListener;
  readonly pipes: Pipe[];
  readonly recorders: PipeRecorder[];
}

export async function record(
  engine: PipeEngine,
  address = 'tcp://node:0',
  maxPartBytes = 0,
): Promise<RecordedListener> {
  const pipes: Pipe[] = [];
  const recorders: PipeRecorder[] = [];
  const listener = await engine.listen({ address, maxPartBytes, onRefused: () => undefined }, (pipe) => {
    const recorder = new PipeRecorder();
    pipes.push(pipe);
    recorders.push(recorder);
    return recorder;
  });
  return { listener, pipes, recorders };
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
