// client.ts
import { createHost } from '@zlink/framework';
import { Charge, Notice } from './contracts.ts';

const host = createHost();
host
  .addClientServerChannel('billing')
  .client()
  .connect(`tcp://127.0.0.1:${process.env['PORT'] ?? 7200}`);
await host.start();
try {
  const charge = Charge({ orderId: '7', amount: 3 });
  const reply = await host.routeClient.requestToChannel('billing', charge).timeoutMs(2_000).submit();
  console.log(reply.receipt); // reply is a Receipt

  await host.routeClient.sendToChannel('billing', Notice({ text: 'the client has its receipt' })).submit();
} finally {
  await host.shutdown();
}
