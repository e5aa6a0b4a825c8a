// Owns: Moleculer over its TCP transporter, action calls.
import { createServer } from 'node:net';
import { once } from 'node:events';
import moleculer from 'moleculer';
import { requestsOnly } from './requests-only.mjs';

const serverId = 'bench-server';

/** Nodes find each other by a list of addresses, so the port has to be known first. */
async function findFreePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

function createBroker(nodeID, options) {
  return new moleculer.ServiceBroker({
    nodeID,
    namespace: 'bench',
    logger: { type: 'Console', options: { level: 'error' } },
    transporter: { type: 'TCP', options: { udpDiscovery: false, ...options } },
  });
}

export const side = {
  async openServer({ cargo }, onMessage) {
    const port = await findFreePort();
    const broker = createBroker(serverId, { port, urls: [] });
    broker.createService({
      name: 'bench',
      actions: {
        ask({ params }) {
          cargo.check(params);
          onMessage();
          return params;
        },
      },
    });
    await broker.start();
    return { address: String(port), windowBytes: undefined, close: () => broker.stop() };
  },

  async openClient(_work, address) {
    const broker = createBroker('bench-client', { urls: [`127.0.0.1:${address}/${serverId}`] });
    await broker.start();
    await broker.waitForServices('bench', 20_000);
    return requestsOnly(
      (message) => broker.call('bench.ask', message),
      () => broker.stop(),
    );
  },
};
