// A ZeroMQ peer in a process of its own, to be killed by a test.
//
// Arguments: `dial ADDRESS` greets a listener; `listen` prints its address and answers every message; `subscribe ADDRESS`
// prints `subscribed` at the first message and how many there were at one of a single byte; `publish ADDRESS` prints its address and sends something every 10 ms.
import { Dealer, Publisher, Router, Subscriber } from 'zeromq';

const [role, address] = process.argv.slice(2);

if (role === 'subscribe') {
  const subscriber = new Subscriber({ receiveHighWaterMark: 64 });
  subscriber.subscribe();
  subscriber.connect(address);
  await subscriber.receive();
  console.log('subscribed');
  let count = 0;
  for await (const [part] of subscriber) {
    count++;
    if (part.length === 1) console.log(`received ${count}`);
  }
} else if (role === 'publish') {
  const publisher = new Publisher();
  await publisher.bind(address);
  console.log(publisher.lastEndpoint.replace('[::ffff:127.0.0.1]', '127.0.0.1'));
  setInterval(() => void publisher.send('news'), 10);
} else if (role === 'dial') {
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
