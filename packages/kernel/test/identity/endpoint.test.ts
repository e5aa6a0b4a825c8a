import fc from 'fast-check';
import { formatEndpoint, isHost, isLoopbackHost, isWildcardHost, parseEndpoint } from '../../src/identity/index.ts';

test.each([
  ['tcp://127.0.0.1:7200', '127.0.0.1', 7200],
  ['tcp://game-1.example.com:1', 'game-1.example.com', 1],
  ['tcp://redis_cache:65535', 'redis_cache', 65535],
  ['tcp://*:0', '*', 0],
  ['tcp://[::1]:7200', '::1', 7200],
  ['tcp://[2001:db8::5]:80', '2001:db8::5', 80],
  ['tcp://[::ffff:10.0.0.1]:80', '::ffff:10.0.0.1', 80],
  ['tcp://[1:2:3:4:5:6:7:8]:80', '1:2:3:4:5:6:7:8', 80],
] as const)('[NET-001] %s has its host and port and is written the same way again', (text, host, port) => {
  expect(parseEndpoint(text)).toEqual({ host, port });
  expect(formatEndpoint(host, port)).toBe(text);
});

test.each([
  '',
  'tcp://',
  '127.0.0.1:7200',
  'TCP://127.0.0.1:7200',
  'ipc:///tmp/x',
  'tcp://127.0.0.1',
  'tcp://127.0.0.1:',
  'tcp://127.0.0.1:65536',
  'tcp://127.0.0.1:07200',
  'tcp://127.0.0.1:+1',
  'tcp://127.0.0.1:7200/',
  'tcp://127.0.0.1:7200 ',
  'tcp://127.0.0.1:7200\n',
  'tcp://user@127.0.0.1:7200',
  'tcp://256.0.0.1:7200',
  'tcp://127.1:7200',
  'tcp://1:7200',
  'tcp://01.2.3.4:7200',
  'tcp://a..b:7200',
  'tcp://-a:7200',
  'tcp://a b:7200',
  'tcp://.a:7200',
  'tcp://::1:7200',
  'tcp://[::1:7200',
  'tcp://[]:7200',
  'tcp://[127.0.0.1]:7200',
  'tcp://[*]:7200',
  'tcp://[1::2::3]:7200',
  'tcp://[1:2:3:4:5:6:7]:7200',
  'tcp://[1:2:3:4:5:6:7:8:9]:7200',
  'tcp://[1:2:3:4::5:6:7:8]:7200',
  'tcp://[12345::]:7200',
  'tcp://[fe80::1%eth0]:7200',
  'tcp://[:1]:7200',
  `tcp://${'a'.repeat(64)}:7200`,
  `tcp://${'a.'.repeat(127)}a:7200`,
])('[HOSTREG-003] %j is malformed', (text) => {
  expect(parseEndpoint(text)).toBeUndefined();
});

test('[NET-001] every IPv6 address in short and long form is a host', () => {
  fc.assert(fc.property(fc.ipV6(), (host) => expect(isHost(host)).toBe(true)));
});

test('[HOSTREG-003] a host is an address, a name or the wildcard', () => {
  for (const host of ['*', '0.0.0.0', '::', 'a', 'a.b']) expect(isHost(host)).toBe(true);
  for (const host of ['', '[::1]', 'a:1', '*.b', '1.2.3', 7, undefined]) expect(isHost(host)).toBe(false);
});

test('[NET-001] a wildcard bind is recognised in every spelling', () => {
  for (const host of ['*', '0.0.0.0', '::', '0:0:0:0:0:0:0:0', '::0']) expect(isWildcardHost(host)).toBe(true);
  for (const host of ['127.0.0.1', '::1', 'localhost', '0.0.0.1', '', ':']) expect(isWildcardHost(host)).toBe(false);
});

test('[NET-001] a loopback host reaches this machine only', () => {
  const loopback = ['localhost', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'];
  for (const host of loopback) expect(isLoopbackHost(host)).toBe(true);
  for (const host of [
    '127.evil.com',
    '128.0.0.1',
    '1::1',
    '::',
    '*',
    '10.0.0.1',
    'localhost.evil.com',
    '::ffff:8.8.8.8',
  ]) {
    expect(isLoopbackHost(host)).toBe(false);
  }
});
