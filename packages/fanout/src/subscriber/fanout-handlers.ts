/**
 * The handlers of a fanout subscriber: any number of them for one packet.
 *
 * Owns their order and their checks. Leaves what a handler is to the kernel's registry.
 *
 * 1. The k-th handlers of all packets form the k-th table: each is a set of handlers like that of any other owner, so every
 *    handler of an event gets a dispatch of its own (FAN-003).
 * 2. The same handler twice for one packet is a mistake, another one is not (DISP-002). So is a request: nobody is answered
 *    (HOSTREG-006).
 */
import { type FanoutContext, HandlerRegistry, type HandlerTable, type SendHandler } from '@zlink/kernel/dispatch';
import { describeValue, type Problems } from '@zlink/kernel/errors';
import { type PacketContract, packetContract, type PacketKey } from '@zlink/kernel/message';

type Handler = SendHandler<unknown, FanoutContext>;

interface Registration {
  readonly packet: PacketKey<unknown>;
  readonly handler: Handler;
}

export class FanoutHandlers {
  readonly #where: string;
  readonly #registrations: Registration[] = [];

  /** @param where - names the owner in messages: `fanout channel "news"` */
  constructor(where: string) {
    this.#where = where;
  }

  /** Nothing was registered, not even by mistake. */
  get isEmpty(): boolean {
    return this.#registrations.length === 0;
  }

  add<T>(packet: PacketKey<T>, handler: SendHandler<T, FanoutContext>): void {
    // The packet says what its handlers get; the two are kept together.
    this.#registrations.push({ packet: packet as PacketKey<unknown>, handler: handler as Handler });
  }

  /** The tables by rank (1), at least one if anything was registered. Every mistake goes to `problems`. */
  freeze(problems: Pick<Problems, 'note'>): readonly HandlerTable[] {
    const ranks: HandlerRegistry<FanoutContext>[] = [];
    const handlers = new Map<string, Handler[]>();
    for (const { packet, handler } of this.#registrations) {
      const contract = contractOf(packet);
      const earlier = contract === undefined ? [] : (handlers.get(contract.packetName) ?? []);
      const mistake = contract === undefined ? undefined : mistakeOf(contract, handler, earlier);
      if (mistake !== undefined) {
        problems.note(`${this.#where}: ${mistake}`);
        continue;
      }
      const rank = (ranks[earlier.length] ??= new HandlerRegistry(this.#where));
      rank.addSend(packet, handler); // says itself what is no packet
      if (contract !== undefined) handlers.set(contract.packetName, [...earlier, handler]);
    }
    return ranks.map((rank) => rank.freeze(problems));
  }
}

/** 2 */
function mistakeOf(contract: PacketContract, handler: Handler, earlier: readonly Handler[]): string | undefined {
  const packet = `packet ${describeValue(contract.packetName)}`;
  if (contract.kind === 'request') return `handler of ${packet}: the packet is a request, and nobody answers an event`;
  if (earlier.includes(handler)) return `the same handler of ${packet} is registered twice`;
  return undefined;
}

function contractOf(packet: unknown): PacketContract | undefined {
  try {
    return packetContract(packet as PacketKey<unknown>); // checks what it is
  } catch {
    return undefined;
  }
}
