/** How much of what happened one observer did not get (MON-012): from 0, up to 2^63 - 1. */
const MOST = 2n ** 63n - 1n;

export function plusLost(lost: bigint, count = 1n): bigint {
  const sum = lost + count;
  return sum > MOST ? MOST : sum;
}
