/**
 * Looks at a host from within its process, for what no plan can say.
 *
 * Owns the table by which the driver names them: `module.function`. Each is a function of the site and plain arguments, with
 * a plain result.
 *
 * 1. A module is loaded when it is first asked for: most role processes need none, and there are many of them.
 */
import type { Host } from '@zlink/framework';

export interface ProbeSite {
  readonly host: Host;
}

const modules = {
  calls: () => import('./probes/calls.ts'),
  codecs: () => import('./probes/codecs.ts'),
  ending: () => import('./probes/ending.ts'),
  links: () => import('./probes/links.ts'),
  messages: () => import('./probes/messages.ts'),
  stores: () => import('./probes/stores.ts'),
  suites: () => import('./probes/suites.ts'),
  surface: () => import('./probes/surface.ts'),
} as const;

type Modules = { readonly [M in keyof typeof modules]: Awaited<ReturnType<(typeof modules)[M]>> };

export type ProbeName = { [M in keyof Modules]: `${M}.${keyof Modules[M] & string}` }[keyof Modules];

type Probe<N extends ProbeName> = N extends `${infer M}.${infer F}`
  ? M extends keyof Modules
    ? F extends keyof Modules[M]
      ? Modules[M][F]
      : never
    : never
  : never;

/** What a function takes after the site, and what it gives. */
type Rest<F> = F extends (site: ProbeSite, ...args: infer A) => unknown ? A : never;
type Result<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;

export type ProbeArgs<N extends ProbeName> = Rest<Probe<N>>;
export type ProbeResult<N extends ProbeName> = Result<Probe<N>>;

export async function runProbe(site: ProbeSite, name: ProbeName, args: readonly unknown[]): Promise<unknown> {
  const [module, member] = name.split('.') as [keyof typeof modules, string]; // as every probe name
  const members = (await modules[module]()) as unknown as Readonly<
    Record<string, (site: ProbeSite, ...args: readonly unknown[]) => unknown>
  >; // arguments are typed where it is asked for
  return members[member]!(site, ...args);
}
