import { isZLinkError } from '@zlink/kernel/errors';
import {
  bindError,
  dialFailureText,
  handshakeFault,
  handshakeText,
  nativeCode,
  sendFailureText,
} from '../src/native-errors.ts';
import { closeEngines, engine } from './engines.ts';
import { listen } from './pipe-recorder.ts';

afterEach(closeEngines);

const codes = [
  'EAGAIN',
  'EHOSTUNREACH',
  'EADDRINUSE',
  'EACCES',
  'EADDRNOTAVAIL',
  'ENODEV',
  'EMFILE',
  'ETERM',
  'ENOTSOCK',
  'EFSM',
];
const engineWords = /\bE[A-Z]{3,}|zmq|zmtp|zap|router|dealer|socket|errno|curve/i;

test.each([...codes, 'ERR_ZMTP_CRYPTOGRAPHIC', ''])('[ERR-004] nothing of %s shows in what people read', (code) => {
  const native = Object.assign(new Error(`native text of ${code}`), { code, errno: 11 });
  const error = bindError('tcp://127.0.0.1:7000', native);
  const fault = handshakeFault('handshake:error:protocol', native);
  for (const text of [error.message, sendFailureText(native), dialFailureText(native), handshakeText(fault)]) {
    expect(text).not.toMatch(engineWords);
    expect(text).not.toContain('native text');
  }
  expect(error.cause).toBeUndefined();
});

test('[ERR-004] what is no error object at all is translated too', () => {
  for (const odd of [undefined, null, 'EAGAIN', 7, { code: 7 }]) {
    expect(nativeCode(odd)).toBe('');
    expect(bindError('tcp://127.0.0.1:7000', odd).kind).toBe('Unavailable');
  }
});

test.each([
  ['in use', undefined, 'AlreadyExists', 'is in use'],
  ['of another machine', 'tcp://192.0.2.1:0', 'InvalidOperation', 'is no address of this machine'],
  ['of no machine', 'tcp://no-such-host.invalid:0', 'InvalidOperation', 'is no address of this machine'],
  ['malformed', '127.0.0.1:0', 'InvalidOperation', 'is no address of this machine'],
])(
  '[ERR-004] binding an address that is %s fails with a kind and without an engine word',
  async (_, given, kind, text) => {
    const warnings: unknown[] = [];
    const binding = engine({ warn: (warning) => warnings.push(warning) });
    const address = given ?? (await listen(engine())).address;
    const error: unknown = await listen(binding, address).catch((thrown: unknown) => thrown);
    if (!isZLinkError(error)) throw new Error(`no ZLinkError: ${String(error)}`);
    expect(error.kind).toBe(kind);
    expect(error.message).toBe(
      `[${kind}] ${error.message.includes('address') && kind === 'AlreadyExists' ? 'address ' : ''}${address} ${text}`,
    );
    expect(error.message).not.toMatch(engineWords);
    expect(error.cause).toBeUndefined();
    await listen(binding);
  },
);
