import { createHost, request, ZLinkError } from '@zlink/framework';

const Charge = request('billing.charge');

const host = createHost();
host.addClientServerChannel('billing').client().connect('tcp://127.0.0.1:1'); // nobody listens there
await host.start();

try {
  await host.routeClient
    .requestToChannel('billing', Charge({ orderId: '7', amount: 3 }))
    .timeoutMs(500)
    .submit();
} catch (error) {
  if (!(error instanceof ZLinkError)) throw error;
  console.log(error.kind, error.submitted); // NotFound false: no server was there, nothing was sent
}
await host.shutdown();
