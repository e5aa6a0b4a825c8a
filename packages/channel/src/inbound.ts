/**
 * What other nodes send to this one: from a record to the owner of its handlers.
 *
 * Owns one dispatcher for direct messages and one per channel that is served here. Leaves handlers, permits and answers
 * to them.
 *
 * I1 Direct messages and channels are namespaces of their own: the scope of the record's name decides, never its packet
 *    or payload (NODE-002).
 * I2 A message for a channel that is not served here reaches nobody: a request is answered, a send is recorded (DISP-004).
 */
import type { Dispatcher, Refusal } from '@zlink/kernel/dispatch';
import { describeValue } from '@zlink/kernel/errors';
import type { InboundRecord, Link } from '@zlink/kernel/internal/transport';
import type { MessageBacklog, MessageCounters } from '@zlink/kernel/observe';

export class Inbound {
  readonly #direct: Dispatcher;
  readonly #channels: ReadonlyMap<string, Dispatcher>;
  readonly #all: readonly Dispatcher[];

  /** @param channels - by ChannelName */
  constructor(direct: Dispatcher, channels: ReadonlyMap<string, Dispatcher>) {
    this.#direct = direct;
    this.#channels = channels;
    this.#all = [direct, ...channels.values()];
    for (const dispatcher of this.#all) dispatcher.stopIntake('Unavailable'); // HOST-004: before the first peer can come
  }

  accept(record: InboundRecord, link: Link): void {
    const scope = record.name?.scope ?? '';
    if (scope === '') return this.#direct.accept(record, link); // I1
    const channel = this.#channels.get(scope);
    if (channel !== undefined) channel.accept(record, link);
    else this.#direct.refuse(record, link, notServed(scope)); // I2
  }

  cancel(correlation: number, link: Link): void {
    for (const dispatcher of this.#all) dispatcher.cancel(link, correlation);
  }

  linkClosed(link: Link): void {
    for (const dispatcher of this.#all) dispatcher.linkClosed(link);
  }

  serve(): void {
    for (const dispatcher of this.#all) dispatcher.resumeIntake();
  }

  drain(): void {
    for (const dispatcher of this.#all) dispatcher.stopIntake('ShuttingDown'); // DRAIN-004
  }

  async drained(): Promise<void> {
    for (const dispatcher of this.#all) await dispatcher.idle();
  }

  abort(): void {
    for (const dispatcher of this.#all) dispatcher.abortAll();
  }

  counters(): readonly MessageCounters[] {
    return this.#all.flatMap((dispatcher) => dispatcher.counters());
  }

  addBacklog(backlog: MessageBacklog): void {
    for (const dispatcher of this.#all) dispatcher.addBacklog(backlog);
  }
}

function notServed(channelName: string): Refusal {
  return { reason: 'no_handler', kind: 'NotFound', text: `does not serve channel ${describeValue(channelName)}` };
}
