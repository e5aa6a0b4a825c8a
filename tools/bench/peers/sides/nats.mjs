// Owns: NATS request/reply with a server of its own on loopback: a broker between the two processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from '@nats-io/transport-node';
import { requestsOnly } from './requests-only.mjs';

const program = process.env.NATS_SERVER_BIN ?? 'nats-server';

/** Starts a broker on a free port and waits until it tells which. */
function startBroker() {
  const broker = spawn(program, ['--addr', '127.0.0.1', '--port', '-1'], { stdio: ['ignore', 'ignore', 'pipe'] });
  process.on('exit', () => broker.kill());
  return new Promise((resolve, reject) => {
    broker.on('error', reject);
    broker.on('exit', (code) => reject(new Error(`${program} ended with ${code}`)));
    let output = '';
    broker.stderr.on('data', (chunk) => {
      output += chunk;
      const address = /Listening for client connections on (\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve({ broker, address });
    });
  });
}

export const side = {
  async openServer({ cargo }, onMessage) {
    const { broker, address } = await startBroker();
    const connection = await connect({ servers: address });
    connection.subscribe('ask', {
      callback: (error, message) => {
        if (error) throw error;
        const value = message.json();
        cargo.check(value);
        onMessage();
        message.respond(JSON.stringify(value));
      },
    });
    await connection.flush();
    return {
      address,
      windowBytes: undefined,
      close: async () => {
        await connection.close();
        broker.removeAllListeners('exit').kill();
        await once(broker, 'exit');
      },
    };
  },

  async openClient(_work, address) {
    const connection = await connect({ servers: address });
    return requestsOnly(
      async (value) => {
        const reply = await connection.request('ask', JSON.stringify(value), { timeout: 30_000 });
        return reply.json();
      },
      () => connection.close(),
    );
  },
};
