/**
 * Scoped dependencies of handler and filter classes.
 *
 * Owns the numbering of scopes and the record of their ends.
 */
import type { ServiceProvider, ServiceScope, Type } from '@zlink/framework';
import type { Desk } from '../desk.ts';

/** What a scope gives: the same one to everybody in it. */
export class Parcel {
  readonly scope: number;

  constructor(scope: number) {
    this.scope = scope;
  }
}

export function createScopes(desk: Desk): ServiceProvider {
  let scopes = 0;
  return {
    createScope(): ServiceScope {
      const number = ++scopes;
      const parcel = new Parcel(number);
      return {
        get: <T>(_token: Type<T>) => parcel as T, // there is one token only
        dispose: () => desk.note({ owner: 'scope', what: 'disposed', mark: String(number) }),
      };
    },
  };
}
