/**
 * How both ends of a link name the requests on it alike, in records and to handlers (TRACE-020).
 *
 * Owns the names. Leaves the number of a request, which follows the name of its link, to the link.
 *
 * 1. Who accepted numbers its links and never uses a number again; with 32 random bits of its generation no two links of a
 *    process have one name. Each end counts its own requests, hence the letter of the end that asks.
 */
import type { CorrelationScope } from '../transport/transport.ts';

/**
 * @param acceptor - generation of who accepted the connection
 * @param number - of the link, by who accepted it
 * @param dialed - whether this side is the other one
 */
export function correlationScope(acceptor: bigint, number: number, dialed: boolean): CorrelationScope {
  const link = `${BigInt.asUintN(32, acceptor).toString(16).padStart(8, '0')}-${number}`;
  const [dialer, accepting] = [`${link}-d`, `${link}-a`];
  return dialed ? { own: dialer, peer: accepting } : { own: accepting, peer: dialer };
}
