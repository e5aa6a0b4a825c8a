// Owns: gRPC in plain JavaScript, unary calls. Messages are JSON here too, so that no side has a codec of its own.
import grpc from '@grpc/grpc-js';
import { requestsOnly } from './requests-only.mjs';

const serialize = (value) => Buffer.from(JSON.stringify(value));
const deserialize = (bytes) => JSON.parse(bytes.toString('utf8'));
const definition = {
  ask: {
    path: '/bench.Bench/Ask',
    requestStream: false,
    responseStream: false,
    requestSerialize: serialize,
    requestDeserialize: deserialize,
    responseSerialize: serialize,
    responseDeserialize: deserialize,
  },
};
const BenchClient = grpc.makeGenericClientConstructor(definition, 'Bench');

export const side = {
  async openServer({ cargo }, onMessage) {
    const server = new grpc.Server();
    server.addService(definition, {
      ask: ({ request }, reply) => {
        cargo.check(request);
        onMessage();
        reply(null, request);
      },
    });
    const port = await new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    return {
      address: `127.0.0.1:${port}`,
      windowBytes: undefined,
      close: async () => server.forceShutdown(),
    };
  },

  async openClient(_work, address) {
    const client = new BenchClient(address, grpc.credentials.createInsecure());
    await new Promise((resolve, reject) => {
      client.waitForReady(Date.now() + 5_000, (error) => (error ? reject(error) : resolve()));
    });
    return requestsOnly(
      (message) =>
        new Promise((resolve, reject) => {
          client.ask(message, (error, reply) => (error ? reject(error) : resolve(reply)));
        }),
      async () => client.close(),
    );
  },
};
