/** Configuration of a channel's publisher: what the builder collects and the checks of the start. */
import { describeValue, type Problems } from '@zlink/kernel/errors';
import { isRid, isRidPrefix, parseEndpoint } from '@zlink/kernel/identity';
import { checkListenHosts, checkPort, type ValidationContext } from '@zlink/kernel/internal/host';

export interface PublisherOptions {
  /** A port, or an endpoint that also names the host to bind; undefined: this process does not publish. */
  listen: number | string | undefined;
  bindHost: string | undefined;
  advertiseHost: string | undefined;
  routingId: string | undefined;
  ridPrefix: string | undefined;
}

/** Where the publisher binds; a host only if the description names one. */
interface PublisherBind {
  readonly host: string | undefined;
  readonly port: number;
}

/** What the checks of the start have made of a description. */
export interface CheckedPublisher {
  readonly bind: PublisherBind;
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
  const bind = checkBind(`${where} publisher`, listen, bindHost, context.problems);
  checkListenHosts(`${where} publisher`, { bindHost: bind.host, advertiseHost }, context);
  checkRid(`${where} publisher`, options, context);
  return { bind, advertiseHost, routingId, ridPrefix: ridPrefix ?? DEFAULT_PREFIX };
}

function checkBind(
  where: string,
  listen: number | string,
  bindHost: string | undefined,
  problems: Problems,
): PublisherBind {
  if (typeof listen !== 'string') {
    checkPort(`${where} port`, listen, problems);
    return { host: bindHost, port: listen };
  }
  const endpoint = parseEndpoint(listen);
  if (endpoint === undefined) {
    problems.add(`${where} endpoint`, listen, 'tcp://host:port');
    return { host: bindHost, port: 0 };
  }
  if (bindHost !== undefined) {
    problems.note(`${where}: endpoint "${listen}" and bindHost ${describeValue(bindHost)} both name a host`);
  }
  return endpoint;
}

function checkRid(where: string, { routingId, ridPrefix }: PublisherOptions, context: ValidationContext): void {
  const { problems, hasLocationStore } = context;
  if (routingId !== undefined && !isRid(routingId)) {
    problems.add(`${where} routingId`, routingId, '1..255 bytes of UTF-8 without NUL');
  }
  if (ridPrefix === undefined) return;
  if (!isRidPrefix(ridPrefix)) problems.add(`${where} routingIdPrefix`, ridPrefix, '[A-Za-z0-9._-]{1,64}');
  if (routingId !== undefined) {
    problems.note(`${where}: routingId and routingIdPrefix are both set; a fixed RID has no prefix`);
  }
  if (!hasLocationStore) {
    problems.note(`${where}: routingIdPrefix needs a location store, register one with host.addLocationStore(store)`);
  }
}
