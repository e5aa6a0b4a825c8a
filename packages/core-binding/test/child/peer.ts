/**
 * A peer in a process of its own, to be killed by a test.
 *
 * Arguments: `dial ADDRESS` greets a listener; `listen ADDRESS` prints its address and answers every message.
 */
import type { Pipe, PipeSink } from '@zlink/kernel/internal/transport';
import { createZmqEngine } from '../../src/index.ts';

const [role, address = ''] = process.argv.slice(2);
const engine = createZmqEngine();
const silent: PipeSink = {
  onPipeOpen: () => undefined,
  onPipeMessage: () => undefined,
  onPipeClosed: () => undefined,
};

if (role === 'dial') {
  const pipe: Pipe = engine.connect(
    { address, maxPartBytes: 0 },
    { ...silent, onPipeOpen: () => pipe.send([Buffer.from('hello from the child')]) },
  );
} else {
  const listener = await engine.listen({ address, maxPartBytes: 0, onRefused: () => undefined }, (pipe) => ({
    ...silent,
    onPipeMessage: (parts, first) => pipe.send(parts.slice(first)),
  }));
  process.stdout.write(`${listener.address}\n`);
}
