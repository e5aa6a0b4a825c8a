/** Ends an exhaustive `switch`: a new member of a union fails to compile here, and a forged one fails loudly. */

import { describeValue } from './describe-value.ts';
import { ZLinkError } from './zlink-error.ts';

export function assertNever(x: never): never {
  throw new ZLinkError('InternalFailure', `unexpected ${describeValue(x)}`);
}
