/**
 * Asks the I/O threads of engines whether they have done what was there for them to do.
 *
 * Owns a pipe from each engine to itself. Leaves turns of the event loop to who asks.
 *
 * 1. An engine has one I/O thread, which takes up its work in order: when a message has gone through it and the system once,
 *    everything sent before is with the system, and everything that was with the system is with the event loop.
 * 2. Whose engine has closed is not waited for.
 */
import type { Pipe } from '@zlink/kernel/internal/transport';
import type { ZmqEngine } from '../src/index.ts';

const listenOptions = { address: 'tcp://127.0.0.1:0', maxPartBytes: 0, onRefused: (): void => undefined };

export class ThreadProbes {
  readonly #probes: Promise<ThreadProbe>[] = [];

  add(engine: ZmqEngine): void {
    this.#probes.push(ThreadProbe.open(engine));
  }

  async caughtUp(): Promise<void> {
    await Promise.all(this.#probes.map(async (probe) => (await probe).caughtUp()));
  }
}

class ThreadProbe {
  #pipe: Pipe | undefined;
  /** Called when the message is back, and when none will come any more. */
  #onBack: () => void = () => undefined;
  #isOver = false;

  static async open(engine: ZmqEngine): Promise<ThreadProbe> {
    const probe = new ThreadProbe();
    const accepted = { onPipeOpen: ignore, onPipeMessage: () => probe.#onBack(), onPipeClosed: ignore };
    try {
      const { address } = await engine.listen(listenOptions, () => accepted);
      await new Promise<void>((resolve) => {
        probe.#onBack = resolve;
        const dialed = { onPipeOpen: resolve, onPipeMessage: ignore, onPipeClosed: () => probe.#end() };
        probe.#pipe = engine.connect({ address, maxPartBytes: 0 }, dialed);
      });
    } catch {
      probe.#end(); // 2
    }
    return probe;
  }

  /** Waits asleep: a thread that has slept is let run soon, also on a busy machine. */
  async caughtUp(): Promise<void> {
    if (this.#isOver) return;
    await new Promise<void>((resolve) => {
      this.#onBack = resolve;
      this.#pipe?.send([Uint8Array.of(0)]);
    });
  }

  #end(): void {
    this.#isOver = true;
    this.#onBack();
  }
}

function ignore(): void {
  // The other end of the pipe is told as well.
}
