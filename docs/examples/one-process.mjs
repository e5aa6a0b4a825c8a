import { createHost, request } from '@zlink/framework';

const Add = request('sums.add');

const host = createHost();
const sums = host.addClientServerChannel('sums');
sums.server().addRequestHandler(Add, ({ a, b }) => ({ total: a + b }));
sums.client(); // finds the server of its own process by itself
await host.start();

const { total } = await host.routeClient.requestToChannel('sums', Add({ a: 2, b: 3 })).submit();
console.log(total); // 5
await host.shutdown();
