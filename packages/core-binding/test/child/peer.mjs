// A ZeroMQ peer in a process of its own, to be killed by a test.
//
// Arguments: `dial ADDRESS` greets a listener; `listen` prints its address and answers every message.
import { Dealer, Router } from 'zeromq';

const [role, address] = process.argv.slice(2);

if (role === 'dial') {
  const dealer = new Dealer();
  dealer.connect(address);
  await dealer.send('hello from the child');
  await dealer.receive();
} else {
  const router = new Router();
  await router.bind('tcp://127.0.0.1:0');
  console.log(router.lastEndpoint);
  for await (const message of router) await router.send(message);
}
