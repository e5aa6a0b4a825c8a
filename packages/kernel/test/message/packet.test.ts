import { message, packetContract, request } from '../../src/message/index.ts';
import { isDescriptor } from '../../src/message/packet.ts';
import type { DeclaredType, OutboundMessage, PacketKey, Sendable } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';

type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;
const isTrue = (value: true): void => expect(value).toBe(true);

const Charge = request<{ orderId: string; amount: number }, { receipt: string }>('billing.charge');
const Notice = message<{ text: string }>('system.notice');

class Order {
  readonly id = 7;
}
class NamedOrder {
  static readonly packetName = 'orders.named';
}
class SpecialOrder extends NamedOrder {}

const schemaOf = (validate: (value: unknown) => unknown) => ({
  '~standard': { version: 1 as const, vendor: 'test', validate },
});

test('[MSG-001] a called descriptor makes a message with its name and value', () => {
  const value = { text: 'hello' };
  const outbound: OutboundMessage<{ text: string }, never> = Notice(value);
  expect(outbound.packetName).toBe('system.notice');
  expect(outbound.value).toBe(value);
  expect(Notice.packetName).toBe('system.notice');
});

test('[MSG-001] a request infers the type of its reply', () => {
  const submit = <R>(outbound: Sendable<R>): R[] => (outbound === undefined ? [] : []);
  const _replies = submit(Charge({ orderId: '7', amount: 3 }));
  const _nothing = submit(Notice({ text: 'x' }));
  isTrue(true satisfies Same<typeof _replies, { receipt: string }[]>);
  isTrue(true satisfies Same<typeof _nothing, never[]>);
});

test('[MSG-001] a descriptor checks the type of its value', () => {
  // @ts-expect-error -- amount is missing
  expect(Charge({ orderId: '7' }).value).toEqual({ orderId: '7' });
});

test('[MSG-001] a key of a handler infers what it is given and what it answers', () => {
  const typesOf = <T, R>(_key: PacketKey<T, R>): { value: T; reply: R }[] => [];
  const _charge = typesOf(Charge);
  const _order = typesOf(Order);
  isTrue(true satisfies Same<(typeof _charge)[number]['value'], { orderId: string; amount: number }>);
  isTrue(true satisfies Same<(typeof _charge)[number]['reply'], { receipt: string }>);
  isTrue(true satisfies Same<(typeof _order)[number]['value'], Order>);
});

test('[MSG-001] a descriptor says what it is and cannot be changed', () => {
  expect(packetContract(Notice).kind).toBe('message');
  expect(packetContract(Charge).kind).toBe('request');
  expect(packetContract(Order).kind).toBe('class');
  expect(isDescriptor(Charge)).toBe(true);
  expect(isDescriptor(Order)).toBe(false);
  expect(isDescriptor({ packetName: 'x' })).toBe(false);
  expect(Object.isFrozen(Notice)).toBe(true);
  expect(Object.isFrozen(packetContract(Notice))).toBe(true);
});

test('[MSG-001] the contract of a descriptor carries its options and those of its reply', () => {
  const schema = schemaOf((value) => ({ value }));
  const replySchema = schemaOf((value) => ({ value }));
  const Place = request<Order, NamedOrder>('orders.place', {
    declaredType: Order,
    schema,
    reply: { declaredType: NamedOrder, schema: replySchema },
  });
  expect(packetContract(Place)).toEqual({
    kind: 'request',
    packetName: 'orders.place',
    declaredType: Order,
    schema,
    reply: { declaredType: NamedOrder, schema: replySchema },
  });
  expect(packetContract(Notice)).toEqual({ kind: 'message', packetName: 'system.notice', declaredType: Notice });
  expect(packetContract(Charge).reply).toEqual({ declaredType: undefined, schema: undefined });
});

test('[MSG-002] a class is named by its static packetName, else by its own name', () => {
  expect(packetContract(NamedOrder).packetName).toBe('orders.named');
  expect(packetContract(SpecialOrder).packetName).toBe('orders.named');
  expect(packetContract(Order).packetName).toBe('Order');
  expect(packetContract(Order).packetName).toBe('Order'); // the remembered name
  expect(packetContract(Order)).toEqual({ kind: 'class', packetName: 'Order', declaredType: Order });
});

test('[MSG-002] a key that is neither descriptor nor class is refused', () => {
  for (const key of [() => 1, 'Order', {}, undefined]) {
    expect(thrownBy(() => packetContract(key as unknown as DeclaredType)).kind).toBe('InvalidOperation');
  }
  expect(thrownBy(() => packetContract(class {})).kind).toBe('InvalidOperation');
});

test.each([
  ['empty', ''],
  ['256 bytes', 'n'.repeat(256)],
  ['256 bytes in 128 characters', 'é'.repeat(128)],
  ['with NUL', 'a\0b'],
  ['with a lone surrogate', 'a\uD800'],
  ['a number', 7],
])('[MSG-005] [C22] a packet name that is %s is refused where it is declared', (_case, name) => {
  expect(thrownBy(() => message(name as string)).kind).toBe('InvalidOperation');
  expect(thrownBy(() => request(name as string)).kind).toBe('InvalidOperation');
  class Declared {
    static readonly packetName = name;
  }
  expect(thrownBy(() => packetContract(Declared)).kind).toBe('InvalidOperation');
});

test('[MSG-005] a name of 255 bytes is allowed, and case matters', () => {
  expect(message('é'.repeat(127) + 'x').packetName).toHaveLength(128);
  expect(message('Notice').packetName).not.toBe(message('notice').packetName);
});

test('[MSG-005] options that are none are refused where they are declared', () => {
  const wrong: unknown[] = [
    { schema: {} },
    { schema: null },
    { schema: { '~standard': { version: 2, vendor: 'x', validate: () => ({}) } } },
    { schema: { '~standard': { version: 1, vendor: 'x' } } },
    { declaredType: 'Order' },
    { declaredType: () => 1 },
    'schema',
    null,
  ];
  for (const options of wrong) {
    expect(thrownBy(() => message('a', options as object)).kind).toBe('InvalidOperation');
    expect(thrownBy(() => request('a', { reply: options as object })).kind).toBe('InvalidOperation');
  }
});
