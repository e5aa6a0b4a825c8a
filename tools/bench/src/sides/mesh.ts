/**
 * RouteMesh as an application uses it: two nodes, the calling one and one that serves the channel and direct messages.
 *
 * Owns two sides that share their server: calls to the channel, and calls to the node by its RID.
 */
import type { Host } from '@zlink/framework';
import type { Message } from '../cargo.ts';
import {
  CHANNEL,
  ChannelCaller,
  createBenchHost,
  handlersOf,
  HostServer,
  type Packets,
  packetsOf,
} from './bench-host.ts';
import type { ClientEnd, ServerEnd, Side, Work } from './side.ts';

export const mesh: Side = {
  openServer: openNode,
  openClient: async (work, address) => new ChannelCaller(await joinMesh(address), work),
};

export const meshNode: Side = {
  openServer: openNode,
  openClient: async (work, address) => new NodeCaller(await joinMesh(address), work),
};

const meshName = 'bench';
const serverRid = 'server';

async function openNode(work: Work, onMessage: () => void): Promise<ServerEnd> {
  const host = createBenchHost();
  const { send, ask } = packetsOf(work);
  const { take, answer } = handlersOf(work, onMessage);
  const node = host.addRouteMesh(meshName).listen(0).routingId(serverRid);
  node.addRouteSendHandler(send, take).addRouteRequestHandler(ask, answer);
  node.channel(CHANNEL).server().addSendHandler(send, take).addRequestHandler(ask, answer);
  await host.start();
  return new HostServer(host, host.routeMesh(meshName).endpoint);
}

async function joinMesh(address: string): Promise<Host> {
  const host = createBenchHost();
  host.addRouteMesh(meshName).connect(address).channel(CHANNEL).client();
  await host.start();
  await host.routeMesh(meshName).whenReady(1);
  return host;
}

/** Calls the one node. */
class NodeCaller implements ClientEnd {
  readonly #host: Host;
  readonly #packets: Packets;

  constructor(host: Host, work: Work) {
    this.#host = host;
    this.#packets = packetsOf(work);
  }

  send(value: Message): Promise<void> {
    return this.#host.routeClient.sendToNode(meshName, serverRid, this.#packets.send(value)).submit();
  }

  request(value: Message): Promise<Message> {
    return this.#host.routeClient.requestToNode(meshName, serverRid, this.#packets.ask(value)).submit();
  }

  async close(): Promise<void> {
    await this.#host.shutdown();
  }
}
