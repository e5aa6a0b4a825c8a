/**
 * A peer for `--against`: a server with the echo role, in a process of its own, until SIGINT or SIGTERM.
 *
 * `node dist/echo-peer.js [--port N] [--codec json|protobuf|msgpack]`; its first line is its endpoint.
 */
import { parseArgs } from 'node:util';
import { createHost } from '@zlink/framework';
import { CHANNEL } from './contracts.ts';
import { codecs } from './matrix.ts';
import { extensionOf } from './roles/codecs.ts';
import { Desk } from './roles/desk.ts';
import { Composition } from './roles/parts/composition.ts';
import { describePart } from './roles/parts/index.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, codec: { type: 'string', default: 'json' } },
});
const codec = codecs.find((name) => name === values.codec);
if (codec === undefined) throw new Error(`--codec: "${values.codec}" is not allowed, allowed: ${codecs.join(', ')}`);

const desk = new Desk('echo-peer');
desk.quieten();
const host = createHost();
desk.serve(host);
const extension = await extensionOf(codec);
if (extension !== undefined) host.codecs().use(extension);
describePart(new Composition(host, desk), { role: 'server', port: Number(values.port) });
await host.start();
console.log(host.clientServerChannel(CHANNEL).endpoint);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void host.shutdown());
