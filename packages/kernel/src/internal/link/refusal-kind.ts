/** Which kind of error a refused connection is, to whoever has dialled. */
import type { ErrorKindName } from '../../errors/index.ts';
import { RejectReason } from '../wire/hello.ts';

const KINDS: { readonly [R in RejectReason]?: ErrorKindName } = {
  [RejectReason.unknownVersion]: 'ProtocolError',
  [RejectReason.malformed]: 'ProtocolError',
  [RejectReason.ridConflict]: 'AlreadyExists',
  [RejectReason.busy]: 'Unavailable',
  [RejectReason.stopping]: 'Unavailable',
};

/** Who is another one than expected, is not let in, or does not want the link: `Rejected`. */
export function refusalKind(reason: RejectReason): ErrorKindName {
  return KINDS[reason] ?? 'Rejected';
}
