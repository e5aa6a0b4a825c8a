/** Which words of Redis and its driver mean that nothing was applied. */
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { failureOf, isUnknownScript, notUsable } from '../src/redis-errors.ts';

function reply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

function endOf(error: Error): string {
  const failure = failureOf(error);
  return 'error' in failure ? `${failure.kind} ${failure.error.code}/${failure.error.outcome}` : failure.kind;
}

test.each([
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  "OOM command not allowed when used memory > 'maxmemory'. script: 0f, on @user_script:97.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist on disk.',
  'NOREPLICAS Not enough good replicas to write.',
  'NOAUTH Authentication required.',
  'WRONGPASS invalid username-password pair or user is disabled.',
  "NOPERM this user has no permissions to run the 'evalsha' command",
  'ERR max number of clients reached',
  "ERR Error running script (call to f_0f): @user_script:97: @user_script: 97: -OOM command not allowed when used memory > 'maxmemory'.",
])('[REDIS-004] refused, so nothing was applied: %s', (message) => {
  expect(endOf(reply(message))).toBe('refused unavailable/notApplied');
});

test.each([
  "READONLY You can't write against a read only replica.",
  "ERR Error running script (call to f_0f): @user_script:97: @user_script: 97: -READONLY You can't write against a read only replica.",
])('[REDIS-004] a replica that was a primary applies nothing, and the connection is of no use: %s', (message) => {
  expect(endOf(reply(message))).toBe('demoted unavailable/notApplied');
});

test('[REDIS-004] what a driver says of a connection that ended leaves the outcome open', () => {
  for (const message of ['Connection is closed.', 'read ECONNRESET', 'Command aborted due to connection close'])
    expect(endOf(new Error(message))).toBe('lost unavailable/unknown');
});

test('[REDIS-004] the driver of this version says when it has written nothing', async () => {
  const client = new Redis({ lazyConnect: true, enableOfflineQueue: false, port: 1, retryStrategy: () => null });
  client.on('error', () => undefined);
  const error = await client.callBuffer('PING').catch((reason: Error) => reason);
  client.disconnect();
  expect(endOf(error as Error)).toBe('notSent');
});

test('[REDIS-001] an error in the middle of a script leaves the outcome open', () => {
  expect(endOf(reply('ERR something else script: 0f, on @user_script:99.'))).toBe('lost unavailable/unknown');
  expect(
    endOf(reply("NOPERM this user has no permissions to run the 'zadd' command script: 0f, on @user_script:99.")),
  ).toBe('lost unavailable/unknown');
  expect(endOf(reply('WRONGTYPE Operation against a key holding the wrong kind of value'))).toBe(
    'lost incompatible/unknown',
  );
});

test('[REDIS-006] redirections are told apart from refusals', () => {
  expect(failureOf(reply('MOVED 866 127.0.0.1:7001'))).toEqual({ kind: 'moved' });
  expect(failureOf(reply('ASK 866 127.0.0.1:7001'))).toEqual({ kind: 'ask', address: '127.0.0.1:7001' });
});

test('[REDIS-003] a script that the server does not know is recognised', () => {
  expect(isUnknownScript(reply('NOSCRIPT No matching script. Please use EVAL.'))).toBe(true);
  expect(isUnknownScript(reply('ERR no'))).toBe(false);
  expect(isUnknownScript(undefined)).toBe(false);
});

test('[REDIS-004] why a server cannot be used shows nothing of a command, whatever servers and proxies repeat of it', () => {
  const whyOf = (cause: unknown): string => notUsable('x', 'reconnecting', cause).message;
  expect(whyOf(reply("ERR unknown command 'AUTH', with args beginning with: 'secret'"))).toBe(
    "Redis at x cannot be used: ERR unknown command 'AUTH'",
  );
  expect(whyOf(reply('DENIED Redis is running in protected mode because protected mode is enabled, no …'))).toBe(
    'Redis at x cannot be used: DENIED Redis is running in protected mode because protected mode is enabled',
  );
  expect(whyOf(reply('NOAUTH HELLO must be called with the client already authenticated, …'))).toBe(
    'Redis at x cannot be used: NOAUTH Authentication required',
  );
  expect(whyOf(reply(`ERR ${'long '.repeat(100)}`)).length).toBeLessThan(200);
});

test('[REDIS-004] a failure of several addresses has no text, its code tells', () => {
  const cause = Object.assign(new AggregateError([new Error('one'), new Error('two')]), { code: 'ECONNREFUSED' });
  expect(notUsable('x', 'reconnecting', cause).message).toBe('Redis at x cannot be used: ECONNREFUSED');
});

test.each([
  ['connecting', 'still connecting'],
  ['connect', 'no answer to the greeting'],
  ['end', 'the client has been ended'],
])('[REDIS-004] without a reported error the state of the client tells: %s', (status, why) => {
  expect(notUsable('x', status, undefined)).toMatchObject({
    code: 'unavailable',
    outcome: 'notApplied',
    message: `Redis at x cannot be used: ${why}`,
  });
});

test('[REDIS-004] printed with its cause an error shows nothing of the command', () => {
  const command = { name: 'hello', args: ['3', 'AUTH', 'user', 'secret'] };
  const replies = ['WRONGPASS invalid', 'ERR something else'].map((text) => Object.assign(reply(text), { command }));
  const failures = replies.map(failureOf).map((failure) => ('error' in failure ? failure.error : undefined));
  for (const error of [...failures, notUsable('x', 'reconnecting', Object.assign(reply('WRONGPASS no'), { command }))])
    expect(inspect(error, { depth: 9 })).toMatch(/cause[^]*ReplyError(?![^]*secret)/);
});
