import {
  assertNever,
  ConfigurationError,
  ErrorKind,
  type ErrorKindName,
  errorKindOf,
  isZLinkError,
  Problems,
  ZLinkError,
} from '../../src/errors/index.ts';

test('[ERR-001] thirteen kinds carry the numbers 0 to 12, both ways', () => {
  expect(ErrorKind).toEqual({
    NotFound: 0,
    AlreadyExists: 1,
    TypeMismatch: 2,
    NotConfigured: 3,
    Rejected: 4,
    Unavailable: 5,
    CapacityExceeded: 6,
    DeadlineExceeded: 7,
    ShuttingDown: 8,
    ProtocolError: 9,
    InvalidOperation: 10,
    DataLost: 11,
    InternalFailure: 12,
  });
  for (const [name, number] of Object.entries(ErrorKind)) expect(errorKindOf(number)).toBe(name);
});

test('[ERR-001] a number of no kind is undefined', () => {
  for (const number of [-1, 13, 255, 0.5, NaN]) expect(errorKindOf(number)).toBeUndefined();
});

test('[ERR-002] an error tells its kind in message, kind and code', () => {
  const error = new ZLinkError('NotFound', 'node "n1" of mesh "game"');
  expect(error).toBeInstanceOf(Error);
  expect(error.name).toBe('ZLinkError');
  expect(error.message).toBe('[NotFound] node "n1" of mesh "game"');
  expect(error.kind).toBe('NotFound');
  expect(error.code).toBe('ZLINK_NOT_FOUND');
  expect(String(error)).toBe('ZLinkError: [NotFound] node "n1" of mesh "game"');
});

test('[ERR-002] every kind has its code', () => {
  const codes = Object.keys(ErrorKind).map((kind) => new ZLinkError(kind as ErrorKindName, '').code);
  expect(codes).toEqual([
    'ZLINK_NOT_FOUND',
    'ZLINK_ALREADY_EXISTS',
    'ZLINK_TYPE_MISMATCH',
    'ZLINK_NOT_CONFIGURED',
    'ZLINK_REJECTED',
    'ZLINK_UNAVAILABLE',
    'ZLINK_CAPACITY_EXCEEDED',
    'ZLINK_DEADLINE_EXCEEDED',
    'ZLINK_SHUTTING_DOWN',
    'ZLINK_PROTOCOL_ERROR',
    'ZLINK_INVALID_OPERATION',
    'ZLINK_DATA_LOST',
    'ZLINK_INTERNAL_FAILURE',
  ]);
});

test('[ERR-002] cause and submitted are kept; without them submitted is false and no cause exists', () => {
  const cause = new Error('socket');
  const full = new ZLinkError('Unavailable', 'gone', { cause, submitted: true });
  expect(full.cause).toBe(cause);
  expect(full.submitted).toBe(true);
  const bare = new ZLinkError('Unavailable', 'gone');
  expect(bare.submitted).toBe(false);
  expect('cause' in bare).toBe(false);
});

test('[ERR-002] a kind that does not exist is refused', () => {
  for (const kind of ['Nope', 'toString', '', undefined]) {
    expect(() => new ZLinkError(kind as ErrorKindName, 'x')).toThrow('[InvalidOperation]');
  }
});

test('[ERR-002] errors of another copy of the package are recognised, look-alikes are not', () => {
  expect(isZLinkError(new ZLinkError('Rejected', 'x'))).toBe(true);
  const otherCopy = { kind: 'Rejected', [Symbol.for('zlink.ZLinkError')]: true };
  expect(isZLinkError(otherCopy)).toBe(true);
  const lookAlike = Object.assign(new Error('[Rejected] x'), { name: 'ZLinkError', kind: 'Rejected' });
  for (const other of [lookAlike, new ConfigurationError(['x']), undefined, null, 'x', 7, () => 0]) {
    expect(isZLinkError(other)).toBe(false);
  }
});

test('[ERR-002] asking about a value that refuses to be read does not throw', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(isZLinkError(proxy)).toBe(false);
});

test('[ERR-002] a configuration error lists all problems and cannot be changed afterwards', () => {
  const given = ['a: 1 is not allowed', 'b is missing'];
  const error = new ConfigurationError(given);
  given.push('later');
  expect(error).toBeInstanceOf(Error);
  expect(error.name).toBe('ConfigurationError');
  expect(error.problems).toEqual(['a: 1 is not allowed', 'b is missing']);
  expect(Object.isFrozen(error.problems)).toBe(true);
  for (const problem of error.problems) expect(error.message).toContain(problem);
  expect(new ConfigurationError(['only one']).message).toBe('only one');
});

test('[ERR-002] a problem names option, value and what is allowed', () => {
  const problems = new Problems();
  problems.throwIfAny();
  problems.add('weight', 10_001, '0..10000');
  problems.note('channel "a" is registered twice');
  let thrown: unknown;
  try {
    problems.throwIfAny();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ConfigurationError);
  expect((thrown as ConfigurationError).problems).toEqual([
    'weight: 10001 is not allowed, allowed: 0..10000',
    'channel "a" is registered twice',
  ]);
});

test('[ERR-001] an impossible case fails loudly', () => {
  expect(() => assertNever('left' as never)).toThrow('[InternalFailure] unexpected "left"');
});
