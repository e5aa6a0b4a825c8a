/** How a role process ends when it is not meant to, or does not when it is: for the tests of the runner. */
import type { ProbeSite } from '../probes.ts';

export function exitNow(_site: ProbeSite): never {
  process.exit(3);
}

/** From here on something holds the process. */
export function holdOn(_site: ProbeSite): void {
  setInterval(() => undefined, 60_000);
}
