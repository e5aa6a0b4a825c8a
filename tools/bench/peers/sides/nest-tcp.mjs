// Owns: NestJS microservices over their TCP transport, message patterns.
import 'reflect-metadata';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { requestsOnly } from './requests-only.mjs';

/** Nest does not tell which port it got for 0. */
async function findFreePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Decorators are applied by hand: this is plain JavaScript. */
function defineModule(cargo, onMessage) {
  class BenchController {
    ask(message) {
      cargo.check(message);
      onMessage();
      return message;
    }
  }
  Controller()(BenchController);
  const ask = Object.getOwnPropertyDescriptor(BenchController.prototype, 'ask');
  MessagePattern('ask')(BenchController.prototype, 'ask', ask);
  class BenchModule {}
  Module({ controllers: [BenchController] })(BenchModule);
  return BenchModule;
}

export const side = {
  async openServer({ cargo }, onMessage) {
    const port = await findFreePort();
    const app = await NestFactory.createMicroservice(defineModule(cargo, onMessage), {
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port },
      logger: ['error', 'warn'],
    });
    await app.listen();
    return { address: String(port), windowBytes: undefined, close: () => app.close() };
  },

  async openClient(_work, address) {
    const client = ClientProxyFactory.create({
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port: Number(address) },
    });
    await client.connect();
    return requestsOnly(
      (message) => firstValueFrom(client.send('ask', message)),
      async () => client.close(),
    );
  },
};
