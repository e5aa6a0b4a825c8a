/** The codec that an extension registers, and what a failing call throws. */
import type { Codec, CodecRegistrar } from '@zlink/kernel/codec';
import { isZLinkError, type ZLinkError } from '@zlink/kernel/errors';
import { msgpack, type MsgpackOptions } from '../src/index.ts';

export function codecOf(options?: MsgpackOptions): Codec {
  const added: Codec[] = [];
  const registrar: CodecRegistrar = {
    add(codec) {
      added.push(codec);
      return registrar;
    },
  };
  msgpack(options).register(registrar);
  expect(added).toHaveLength(1);
  return added[0]!;
}

const codec = codecOf();

export const encode = (value: unknown, declaredType?: unknown): Uint8Array => codec.encode(value, declaredType);
export const decode = (bytes: Uint8Array): unknown => codec.decode(bytes, undefined);
export const decodeHex = (hex: string): unknown => decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
export const hexOf = (value: unknown): string => Buffer.from(encode(value)).toString('hex');
export const overTheWire = (value: unknown): unknown => decode(encode(value));

export function thrownBy(call: () => unknown): ZLinkError {
  try {
    call();
  } catch (error) {
    if (isZLinkError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
