/**
 * Which start of a host it was.
 *
 * 1. Later starts have greater generations: those of one process always, those of one machine as far as its calendar goes
 *    forward. They name a start to people; identities on links have generations of their own, which nobody can guess.
 */

let last = 0n;

/** @param at - the calendar time of the start */
export function newHostGeneration(at: Date): bigint {
  const now = BigInt(at.getTime());
  last = now > last ? now : last + 1n; // 1
  return last;
}
