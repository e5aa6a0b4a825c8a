/** The framework as an application uses it: a host, a ClientServer channel, handlers and calls. */
import { CHANNEL, ChannelCaller, createBenchHost, handlersOf, HostServer, packetsOf } from './bench-host.ts';
import type { Side } from './side.ts';

export const framework: Side = {
  async openServer(work, onMessage) {
    const host = createBenchHost();
    const { send, ask } = packetsOf(work);
    const { take, answer } = handlersOf(work, onMessage);
    const server = host.addClientServerChannel(CHANNEL).server().listen(0);
    server.addSendHandler(send, take).addRequestHandler(ask, answer);
    await host.start();
    return new HostServer(host, host.clientServerChannel(CHANNEL).endpoint ?? '');
  },

  async openClient(work, address) {
    const host = createBenchHost();
    host.addClientServerChannel(CHANNEL).client().connect(address);
    await host.start();
    await host.clientServerChannel(CHANNEL).whenReady(1);
    return new ChannelCaller(host, work);
  },
};
