/** An engine that breaks its contract now and then, on the way to the side that dialled. */
import type { PipeEngine, PipeSink } from '../../src/internal/transport/index.ts';
import { creditMessage } from '../internal/link/raw-peer.ts';
import { maxWindowBytes } from './link-end.ts';
import type { Stage } from './simulation.ts';

export type EngineFlaw = 'loses' | 'repeats' | 'swaps' | 'mixesLinks' | 'exaggeratesWindows';

export function breakContract(engine: PipeEngine, stage: Stage, flaw: EngineFlaw): PipeEngine {
  const sinks: PipeSink[] = [];
  return {
    security: engine.security,
    listen: (options, accept) => engine.listen(options, accept),
    connect: (options, sink) => {
      sinks.push(sink);
      return engine.connect(options, brokenSink(sink, sinks, stage, flaw));
    },
    close: () => engine.close(),
  };
}

function brokenSink(sink: PipeSink, sinks: readonly PipeSink[], stage: Stage, flaw: EngineFlaw): PipeSink {
  let kept: Parameters<PipeSink['onPipeMessage']> | undefined;
  return {
    onPipeOpen: () => sink.onPipeOpen(),
    onPipeClosed: (reason) => sink.onPipeClosed(reason),
    onPipeMessage: (...message) => {
      if (!stage.chance(0.05)) {
        sink.onPipeMessage(...message);
        if (kept !== undefined) sink.onPipeMessage(...kept);
        kept = undefined;
        return;
      }
      if (flaw === 'repeats') sink.onPipeMessage(...message);
      if (flaw === 'repeats') sink.onPipeMessage(...message);
      if (flaw === 'swaps') kept = message;
      if (flaw === 'mixesLinks') stage.pick(sinks).onPipeMessage(...message);
      if (flaw !== 'exaggeratesWindows') return;
      sink.onPipeMessage(...message);
      sink.onPipeMessage([creditMessage(0, 10 * maxWindowBytes)], 0);
    },
  };
}
