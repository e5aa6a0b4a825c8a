/**
 * Checks of what an own endpoint is called and where it binds.
 *
 * Owns the rules and how mistakes are worded. Leaves which endpoints there are to each topic.
 *
 * 1. Nothing is thrown: every mistake of a start is reported together (ERR-002).
 */
import { describeValue, type Problems } from '../../errors/index.ts';
import { isName, isRid, isRidPrefix, nameRule, parseEndpoint } from '../../identity/index.ts';
import type { ValidationContext } from './host-parts.ts';
import { checkListenHosts, checkPort } from './option-checks.ts';

type ProblemList = Pick<Problems, 'add' | 'note'>;

/** Where an endpoint is to listen, as it was described. */
interface ListenOptions {
  /** A port, or an endpoint that also names the host to bind. */
  readonly listen: number | string;
  readonly bindHost: string | undefined;
  readonly advertiseHost: string | undefined;
}

/** Where it binds; a host only if the description names one. */
export interface Bind {
  readonly host: string | undefined;
  readonly port: number;
}

interface RidOptions {
  readonly routingId: string | undefined;
  readonly ridPrefix?: string | undefined;
}

/** @param option - what the builder calls `listen` */
export function checkListen(option: string, where: string, options: ListenOptions, context: ValidationContext): Bind {
  const bind = readBind(option, where, options, context.problems);
  checkListenHosts(where, { bindHost: bind.host, advertiseHost: options.advertiseHost }, context);
  return bind;
}

export function checkName(option: string, value: unknown, problems: ProblemList): void {
  if (!isName(value)) problems.add(option, value, nameRule);
}

export function checkRid(where: string, { routingId, ridPrefix }: RidOptions, problems: ProblemList): void {
  if (routingId !== undefined && !isRid(routingId)) problems.add(`${where} routingId`, routingId, nameRule);
  if (ridPrefix === undefined) return;
  if (!isRidPrefix(ridPrefix)) problems.add(`${where} routingIdPrefix`, ridPrefix, '[A-Za-z0-9._-]{1,64}');
  if (routingId !== undefined) {
    problems.note(`${where}: routingId and routingIdPrefix are both set; a fixed RID has no prefix`);
  }
}

function readBind(option: string, where: string, { listen, bindHost }: ListenOptions, problems: ProblemList): Bind {
  if (typeof listen !== 'string') {
    checkPort(`${where} ${option}`, listen, problems);
    return { host: bindHost, port: listen };
  }
  const endpoint = parseEndpoint(listen);
  if (endpoint === undefined) {
    problems.add(`${where} ${option}`, listen, 'tcp://host:port');
    return { host: bindHost, port: 0 };
  }
  if (bindHost !== undefined) {
    problems.note(`${where}: ${option} "${listen}" and bindHost ${describeValue(bindHost)} both name a host`);
  }
  return endpoint;
}
