/**
 * The calls of the demo's client.
 *
 * Owns a number of callers that each wait for one call before they make the next. Leaves counting to the tallies.
 *
 * L1 Every call has a deadline, so `finish` ends.
 * L2 A caller rests after an error: a call that fails at once must not become a loop that lets nothing else run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RouteClient } from '@zlink/framework';
import { CallTally, SendTally } from '../tally.ts';
import { Invoice, Quote, SHOP, Viewed } from './contracts.ts';
import { LatencyRecord } from './latency.ts';

const quoteCallers = 32;
const invoiceCallers = 8;
const callTimeoutMs = 5_000;
const restMs = 10;

/**
 * One-way messages share the rotation of the servers with requests. One after every 6 quotes makes a pattern of 7, which
 * has no factor in common with rotations of 5 and 4 (weights 100, 300, 100 and 300, 100): so both kinds reach every server
 * by its weight.
 */
const quotesPerView = 6;

export class Load {
  readonly calls = new CallTally();
  readonly sends = new SendTally();
  /** Of quotes; invoices take as long as the server says. */
  readonly latency = new LatencyRecord();
  readonly #client: RouteClient;
  readonly #callers: readonly Promise<void>[];
  #isOn = true;
  #lastOrderId = 0;
  #quoteCount = 0;

  constructor(client: RouteClient) {
    this.#client = client;
    this.#callers = [
      ...Array.from({ length: quoteCallers }, () => this.#repeat(() => this.#askForQuote())),
      ...Array.from({ length: invoiceCallers }, () => this.#repeat(() => this.#askForInvoice())),
    ];
  }

  /** No new calls; resolves when every call has ended (L1). */
  async finish(): Promise<void> {
    this.#isOn = false;
    await Promise.all(this.#callers);
  }

  async #repeat(call: () => Promise<void>): Promise<void> {
    while (this.#isOn) {
      this.calls.accept();
      try {
        await call();
      } catch (error) {
        this.calls.fail(error);
        await delay(restMs); // L2
      }
    }
  }

  async #askForQuote(): Promise<void> {
    const order = { orderId: ++this.#lastOrderId, unitCents: 250, count: 1 + (this.#lastOrderId % 9) };
    const startedAtMs = performance.now();
    const quote = this.#client.requestToChannel(SHOP, Quote(order)).timeoutMs(callTimeoutMs).submit();
    const view = ++this.#quoteCount % quotesPerView === 0 ? this.#sendView(`/orders/${order.orderId}`) : undefined;
    const { orderId, servedBy, totalCents } = await quote;
    this.latency.add(performance.now() - startedAtMs);
    if (orderId === order.orderId && totalCents === order.unitCents * order.count) this.calls.answer(servedBy);
    else this.calls.answerWrongly();
    await view;
  }

  async #askForInvoice(): Promise<void> {
    const asked = { orderId: ++this.#lastOrderId };
    const { orderId, servedBy } = await this.#client
      .requestToChannel(SHOP, Invoice(asked))
      .metadata('reason', 'end of month')
      .timeoutMs(callTimeoutMs)
      .submit();
    if (orderId === asked.orderId) this.calls.answer(servedBy);
    else this.calls.answerWrongly();
  }

  /** Never rejects: one-way messages have counts of their own. */
  async #sendView(page: string): Promise<void> {
    try {
      await this.#client.sendToChannel(SHOP, Viewed({ page })).submit();
      this.sends.accept();
    } catch (error) {
      this.sends.fail(error);
    }
  }
}
