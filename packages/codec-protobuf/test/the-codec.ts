/** The schemas of these tests, the codec that an extension registers for them, and what a failing call throws. */
import { readFileSync } from 'node:fs';
import type { Codec, CodecRegistrar } from '@zlink/kernel/codec';
import { isZLinkError, type ZLinkError } from '@zlink/kernel/errors';
import { request } from '@zlink/kernel/message';
import protobufjs from 'protobufjs';
import { protobuf, type ProtobufOptions } from '../src/index.ts';

export const rootOf = (source: string): protobufjs.Root => protobufjs.parse(source, { keepCase: true }).root;

export const root = rootOf(readFileSync(new URL('fixtures/shop.proto', import.meta.url), 'utf8'));

export class Receipt {
  number = '';
}
export const PlaceOrder = request<unknown, Receipt>('shop.order', { reply: { declaredType: Receipt } });

export function codecOf(options: ProtobufOptions): Codec {
  const added: Codec[] = [];
  const registrar: CodecRegistrar = {
    add(codec) {
      added.push(codec);
      return registrar;
    },
  };
  protobuf(options).register(registrar);
  expect(added).toHaveLength(1);
  return added[0]!;
}

export const shopTypes: ProtobufOptions = {
  root,
  types: [
    [PlaceOrder, 'shop.Order'],
    [Receipt, 'shop.Receipt'],
  ],
};

const codec = codecOf(shopTypes);

export const encode = (value: unknown): Uint8Array => codec.encode(value, PlaceOrder);
export const decode = (bytes: Uint8Array): Record<string, unknown> =>
  codec.decode(bytes, PlaceOrder) as Record<string, unknown>; // a message is an object
export const hexOf = (value: unknown): string => Buffer.from(encode(value)).toString('hex');

export function thrownBy(call: () => unknown): ZLinkError {
  try {
    call();
  } catch (error) {
    if (isZLinkError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

export const refusalOf = (value: unknown): string => {
  const { kind, message: text } = thrownBy(() => encode(value));
  expect(kind).toBe('InvalidOperation');
  return text.replace('[InvalidOperation] packet "shop.order" cannot be encoded as shop.Order: ', '');
};
