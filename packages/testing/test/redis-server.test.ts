/** The redis-server of a test: what it keeps, how it hangs, and what is said when it does not run. */
import { connect } from 'node:net';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';

jest.setTimeout(120_000); // tells a hang from a success, also on a machine that has no time for the test

const servers: RedisServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(...args: Parameters<typeof startRedisServer>): Promise<RedisServer> {
  const server = await startRedisServer(...args);
  servers.push(server);
  return server;
}

test('[LOC-021] a redis-server of a test starts empty on its port again, unless it keeps its data', async () => {
  const forgets = await start();
  const keeps = await start({ keepsData: true });
  for (const server of [forgets, keeps]) {
    expect(await server.command('SET a 1')).toBe('+OK\r\n');
    await server.stop();
    await expect(server.command('PING')).rejects.toThrow(/has not answered "PING"/);
    await server.start();
  }
  expect(await forgets.command('EXISTS a')).toBe(':0\r\n');
  expect(await keeps.command('EXISTS a')).toBe(':1\r\n');
  await keeps.stop();
  keeps.erase();
  await keeps.start();
  expect(await keeps.command('EXISTS a')).toBe(':0\r\n');
});

test('[LOC-021] a paused redis-server keeps its connections and answers nothing until it goes on', async () => {
  const server = await start();
  const socket = connect(server.port, '127.0.0.1').setEncoding('latin1');
  let heard = '';
  socket.on('data', (text: string) => (heard += text));
  await new Promise((resolve) => socket.once('connect', resolve));
  server.pause();
  const patience = AbortSignal.timeout(100);
  socket.write('PING\r\n');
  await new Promise((resolve) => patience.addEventListener('abort', resolve));
  expect(heard).toBe('');
  server.resume();
  await new Promise((resolve) => socket.once('data', resolve));
  expect(heard).toBe('+PONG\r\n');
  socket.destroy();
});

test('[LOC-021] a redis-server that does not run is reported with its last words', async () => {
  await expect(startRedisServer({ args: ['--no-such-option', '1'] })).rejects.toThrow(/no-such-option/);
});
