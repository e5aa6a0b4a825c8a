// server.ts
import { createHost } from '@zlink/framework';
import { Charge, Notice } from './contracts.ts';

const host = createHost();
host
  .addClientServerChannel('billing')
  .server()
  .listen(Number(process.env['PORT'] ?? 7200))
  .addRequestHandler(Charge, async ({ orderId, amount }) => ({ receipt: `order ${orderId}: ${amount} charged` }))
  .addSendHandler(Notice, ({ text }) => console.log(text));
await host.start();
const stop = (): void => void host.shutdown();
process.once('SIGINT', stop).once('SIGTERM', stop);

console.log(`serving at ${host.clientServerChannel('billing').endpoint}`);
