/**
 * Uses an engine, closes it and does nothing more: the process must end by itself.
 *
 * Argument: what is going on when it closes. Prints `closed` when `close` has settled.
 */
import { Router } from 'zeromq';
import type { Pipe, PipeSink } from '@zlink/kernel/internal/transport';
import { createZmqEngine } from '../../src/zmq-engine.ts';

const lingerMs = 300;
const [scene] = process.argv.slice(2);
const engine = createZmqEngine();
const peer = createZmqEngine();
const options = { address: 'tcp://127.0.0.1:0', maxPartBytes: 0, onRefused: () => undefined };

function sinkThat(onOpen: () => void): PipeSink {
  return { onPipeOpen: onOpen, onPipeMessage: () => undefined, onPipeClosed: () => undefined };
}

async function openPipe(address: string): Promise<Pipe> {
  return new Promise((resolve) => {
    const pipe: Pipe = engine.connect(
      { address, maxPartBytes: 0 },
      sinkThat(() => resolve(pipe)),
    );
  });
}

switch (scene) {
  case 'open pipes': {
    const listener = await engine.listen(options, () => sinkThat(() => undefined));
    const other = await peer.listen(options, () => sinkThat(() => undefined));
    (await openPipe(listener.address)).send([Buffer.from('hello')]);
    (await openPipe(other.address)).send([Buffer.from('hello')]);
    break;
  }
  case 'unreachable peer': {
    engine.connect(
      { address: 'tcp://127.0.0.1:1', maxPartBytes: 0 },
      sinkThat(() => undefined),
    );
    engine.connect(
      { address: 'tcp://192.0.2.1:1', maxPartBytes: 0 },
      sinkThat(() => undefined),
    ); // a network for documentation
    break;
  }
  case 'unsent messages': {
    const stalled = new Router({ receiveHighWaterMark: 1, linger: 0 }); // takes one message and no more
    await stalled.bind('tcp://127.0.0.1:0');
    const pipe = await openPipe(stalled.lastEndpoint!.replace('[::ffff:127.0.0.1]', '127.0.0.1'));
    for (let count = 0; count < 200; count++) pipe.send([Buffer.alloc(1_048_576)]);
    pipe.close(lingerMs);
    stalled.close();
    break;
  }
  case 'listening just begun': {
    engine.listen(options, () => sinkThat(() => undefined)).catch(() => undefined);
    break;
  }
  case 'publishing': {
    const publisher = await engine.bind({ bindAddress: 'tcp://127.0.0.1:0' });
    const sink = { onOpen: () => undefined, onMessage: () => undefined, onClosed: () => undefined };
    engine.subscribe({ address: publisher.endpoint }, sink);
    peer.subscribe({ address: publisher.endpoint }, sink).pause();
    peer.subscribe({ address: 'tcp://192.0.2.1:1' }, sink);
    while (publisher.subscriptions < 2) await new Promise((resolve) => setImmediate(resolve));
    for (let count = 0; count < 2_000; count++) publisher.send([Buffer.alloc(65_536)]);
    void publisher.close(lingerMs);
    break;
  }
  default:
    throw new Error(`scene ${scene} is unknown`);
}

await Promise.all([engine.close(), peer.close(), engine.close()]);
process.stdout.write('closed\n');
