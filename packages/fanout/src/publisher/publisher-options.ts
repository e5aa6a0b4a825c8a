/** Configuration of a channel's publisher: what the builder collects and the checks of the start. */
import { type Bind, checkListen, checkRid, type ValidationContext } from '@zlink/kernel/internal/host';

export interface PublisherOptions {
  /** A port, or an endpoint that also names the host to bind; undefined: this process does not publish. */
  listen: number | string | undefined;
  bindHost: string | undefined;
  advertiseHost: string | undefined;
  routingId: string | undefined;
  ridPrefix: string | undefined;
}

/** What the checks of the start have made of a description. */
export interface CheckedPublisher {
  readonly bind: Bind;
  readonly advertiseHost: string | undefined;
  readonly routingId: string | undefined;
  readonly ridPrefix: string;
}

/** What a fresh RID begins with. */
const DEFAULT_PREFIX = 'publisher';

export function newPublisherOptions(): PublisherOptions {
  return {
    listen: undefined,
    bindHost: undefined,
    advertiseHost: undefined,
    routingId: undefined,
    ridPrefix: undefined,
  };
}

/** @returns undefined: there is no publisher */
export function checkPublisher(
  where: string,
  options: PublisherOptions,
  context: ValidationContext,
): CheckedPublisher | undefined {
  const { listen, bindHost, advertiseHost, routingId, ridPrefix } = options;
  if (listen === undefined) {
    if ([bindHost, advertiseHost, routingId, ridPrefix].some((value) => value !== undefined)) {
      context.problems.note(`${where}: there is no publisher to set this for, call enablePublisher()`);
    }
    return undefined;
  }
  const publisher = `${where} publisher`;
  const option = typeof listen === 'string' ? 'endpoint' : 'port'; // of `enablePublisher`
  const bind = checkListen(option, publisher, { listen, bindHost, advertiseHost }, context);
  checkRid(publisher, options, context.problems);
  if (ridPrefix !== undefined && !context.hasLocationStore) {
    const text = 'routingIdPrefix needs a location store, register one with host.addLocationStore(store)';
    context.problems.note(`${publisher}: ${text}`);
  }
  return { bind, advertiseHost, routingId, ridPrefix: ridPrefix ?? DEFAULT_PREFIX };
}
