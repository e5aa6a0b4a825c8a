/**
 * The framework as an application uses it: a host, a ClientServer channel, handlers and calls.
 *
 * 1. At a diagnostics level of its own a side has a logger that does nothing: what shows is what the framework does.
 */
import type { DiagnosticsLevel, HostOptions, Logger } from '@zlink/framework';
import { CHANNEL, ChannelCaller, createBenchHost, handlersOf, HostServer, packetsOf } from './bench-host.ts';
import type { Side } from './side.ts';

export const framework: Side = sideWith({});

export function frameworkAt(level: DiagnosticsLevel): Side {
  return sideWith({ logger: deaf, diagnostics: { level } }); // 1
}

const ignore = (): void => undefined;
const deaf: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export function sideWith(options: HostOptions): Side {
  return {
    async openServer(work, onMessage) {
      const host = createBenchHost(options);
      const { send, ask } = packetsOf(work);
      const { take, answer } = handlersOf(work, onMessage);
      const server = host.addClientServerChannel(CHANNEL).server().listen(0);
      server.addSendHandler(send, take).addRequestHandler(ask, answer);
      await host.start();
      return new HostServer(host, host.clientServerChannel(CHANNEL).endpoint ?? '');
    },

    async openClient(work, address) {
      const host = createBenchHost(options);
      host.addClientServerChannel(CHANNEL).client().connect(address);
      await host.start();
      await host.clientServerChannel(CHANNEL).whenReady(1);
      return new ChannelCaller(host, work);
    },
  };
}
