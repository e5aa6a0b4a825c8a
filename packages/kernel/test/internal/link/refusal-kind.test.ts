import { refusalKind } from '../../../src/internal/link/refusal-kind.ts';
import { RejectReason } from '../../../src/internal/wire/hello.ts';

test('[MON-020] every reason for which a connection is refused has a kind of error', () => {
  const kinds = Object.entries(RejectReason).map(([name, reason]) => `${name} ${refusalKind(reason)}`);
  expect(kinds).toEqual([
    'unknownVersion ProtocolError',
    'wrongKind Rejected',
    'wrongScope Rejected',
    'wrongRid Rejected',
    'wrongGeneration Rejected',
    'wrongSecurityIdentity Rejected',
    'ridConflict AlreadyExists',
    'duplicate Rejected',
    'notRequired Rejected',
    'busy Unavailable',
    'malformed ProtocolError',
    'stopping Unavailable',
    'ended Rejected',
    'refused Rejected',
  ]);
});
