/** How a role process ends when it is not meant to, or does not when it is. */
import type { ProbeSite } from '../probes.ts';

/** Asked for by `test/fixtures/own-chapters.mjs` alone. */
export function exitNow(_site: ProbeSite): never {
  process.exit(3);
}

/** From here on something holds the process. Asked for by `test/fixtures/own-chapters.mjs` alone. */
export function holdOn(_site: ProbeSite): void {
  setInterval(() => undefined, 60_000);
}
