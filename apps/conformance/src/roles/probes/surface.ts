/** Looks at what the package exports. */
import * as framework from '@zlink/framework';
import type { ProbeSite } from '../probes.ts';

export function errorKinds(_site: ProbeSite): Record<string, number> {
  return { ...framework.ErrorKind };
}

/** Of every kind: code, name and class of an error of it. */
export function errorsOfAllKinds(
  _site: ProbeSite,
): readonly { readonly kind: string; readonly code: string; readonly isError: boolean }[] {
  return Object.keys(framework.ErrorKind).map((kind) => {
    const error = new framework.ZLinkError(kind as framework.ErrorKindName, 'text'); // keys of the table of kinds
    return { kind: error.kind, code: error.code, isError: error instanceof Error };
  });
}

/** What describing a started host any further leads to, by builder. */
export function describeFurther({ host }: ProbeSite): Record<string, string> {
  const kindOf = (run: () => unknown): string => {
    try {
      run();
      return 'ok';
    } catch (error) {
      return error instanceof framework.ZLinkError ? error.kind : (error as Error).name; // hosts throw errors
    }
  };
  return {
    addClientServerChannel: kindOf(() => host.addClientServerChannel('late')),
    addRouteMesh: kindOf(() => host.addRouteMesh('late')),
    addFanoutChannel: kindOf(() => host.addFanoutChannel('late')),
    addFilter: kindOf(() => host.addFilter((_, next) => next())),
    addHostedService: kindOf(() => host.addHostedService({ start: async () => undefined, stop: () => undefined })),
    codecs: kindOf(() => host.codecs()),
    addLocationStore: kindOf(() =>
      host.addLocationStore(framework.createMemoryLocationStore(framework.createMemoryStoreBackend())),
    ),
  };
}
