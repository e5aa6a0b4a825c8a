import { createHost } from '@zlink/framework';
import { Charge, Notice } from './contracts.mjs';

const host = createHost();
host
  .addClientServerChannel('billing')
  .server()
  .listen(Number(process.env.PORT ?? 7200))
  .addRequestHandler(Charge, ({ orderId, amount }) => ({ receipt: `order ${orderId}: ${amount} charged` }))
  .addSendHandler(Notice, ({ text }) => console.log(text));
await host.start();
process.once('SIGINT', () => host.shutdown());
process.once('SIGTERM', () => host.shutdown());

console.log(`serving at ${host.clientServerChannel('billing').endpoint}`);
