import { setImmediate as nextTurn } from 'node:timers/promises';
import { validateInbound, validateOutbound } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';

const schemaOf = (validate: (value: unknown) => unknown) => ({
  '~standard': { version: 1 as const, vendor: 'test', validate },
});
const failing = (issues: unknown) => schemaOf(() => ({ issues }));

test('[MSG-004] a value that fits is only checked on encode and transformed on decode', () => {
  const toBigInt = schemaOf((value) => ({ value: BigInt(value as string) }));
  expect(validateOutbound(toBigInt, '9007199254740993', 'a')).toBeUndefined();
  expect(validateInbound(toBigInt, '9007199254740993', 'a')).toBe(9007199254740993n);
});

test('[MSG-004] a value that does not fit is InvalidOperation on encode and ProtocolError on decode', () => {
  const schema = failing([{ message: 'expected a string', path: ['items', 3, { key: 'when' }] }]);
  const outbound = thrownBy(() => validateOutbound(schema, { secret: 1 }, 'orders.place'));
  const inbound = thrownBy(() => validateInbound(schema, { secret: 1 }, 'orders.place'));
  expect(outbound.kind).toBe('InvalidOperation');
  expect(inbound.kind).toBe('ProtocolError');
  for (const error of [outbound, inbound]) {
    expect(error.message).toContain('orders.place');
    expect(error.message).toContain('items[3].when: expected a string');
    expect(error.message).not.toContain('secret');
  }
});

test('[MSG-004] the text about issues is bounded', () => {
  const issue = { message: 'm'.repeat(10_000), path: Array.from({ length: 10_000 }, () => 'segment') };
  const error = thrownBy(() => validateInbound(failing(Array.from({ length: 500 }, () => issue)), 1, 'a'));
  expect(error.message.length).toBeLessThan(600);
  expect(error.message).toContain('and 497 more');
});

test.each([[[]], [[{}]], [[{ message: '' }]], [[null]], ['no array'], [null]])(
  '[MSG-004] issues without a reason fail all the same: %j',
  (issues) => {
    expect(thrownBy(() => validateInbound(failing(issues), 1, 'a')).message).toContain('no reason given');
  },
);

test('[MSG-004] a symbol in a path is shown, not thrown over', () => {
  const schema = failing([{ message: 'wrong', path: [Symbol('key')] }]);
  expect(thrownBy(() => validateInbound(schema, 1, 'a')).message).toContain('Symbol(key): wrong');
});

test('[MSG-004] a schema that throws fails the message, not the process', () => {
  const cause = new Error('boom');
  const schema = schemaOf(() => {
    throw cause;
  });
  const outbound = thrownBy(() => validateOutbound(schema, 1, 'a'));
  expect([outbound.kind, outbound.cause]).toEqual(['InvalidOperation', cause]);
  expect(outbound.message).not.toContain('boom');
  expect(thrownBy(() => validateInbound(schema, 1, 'a')).kind).toBe('ProtocolError');
});

test('[MSG-004] a schema that answers with a promise is refused, and its rejection is no unhandled one', async () => {
  const unhandled: unknown[] = [];
  const record = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', record);
  try {
    const schema = schemaOf(() => Promise.reject(new Error('late')));
    const outbound = thrownBy(() => validateOutbound(schema, 1, 'a'));
    expect(outbound.kind).toBe('InvalidOperation');
    expect(outbound.message).toContain('promise');
    expect(thrownBy(() => validateInbound(schema, 1, 'a')).kind).toBe('ProtocolError');
    await nextTurn();
    await nextTurn();
  } finally {
    process.off('unhandledRejection', record);
  }
  expect(unhandled).toEqual([]);
});

test.each([[undefined], [null], [true], ['text']])('[MSG-004] a schema that answers %j gave no result', (outcome) => {
  expect(
    thrownBy(() =>
      validateInbound(
        schemaOf(() => outcome),
        1,
        'a',
      ),
    ).kind,
  ).toBe('ProtocolError');
});
