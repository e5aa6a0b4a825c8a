import { runInNewContext } from 'node:vm';
import { classOf, message, request, resolveOutbound, resolveRequest, ZLinkMessage } from '../../src/message/index.ts';
import type { Type } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';

class Shape {
  constructor(readonlySides: number) {
    this.sides = readonlySides;
  }
  readonly sides: number;
}
class Square extends Shape {
  static readonly packetName = 'shapes.square';
  constructor() {
    super(4);
  }
}

const Notice = message<{ text: string }>('system.notice');

test('[MSG-001] a message of a descriptor is resolved to itself, declared by the descriptor', () => {
  const outbound = Notice({ text: 'hello' });
  expect(resolveOutbound(outbound)).toBe(outbound);
  expect(resolveOutbound(outbound)).toMatchObject({
    packetName: 'system.notice',
    value: { text: 'hello' },
    declaredType: Notice,
    schema: undefined,
    reply: undefined,
  });
});

test('[MSG-001] a request carries how its reply is typed', () => {
  const Area = request<Shape, number>('shapes.area', { declaredType: Shape, reply: {} });
  expect(resolveOutbound(Area(new Square()))).toMatchObject({ declaredType: Shape, reply: { schema: undefined } });
});

test('[MSG-002] an instance of a class is declared by its constructor', () => {
  const square = new Square();
  expect(resolveOutbound(square)).toEqual({ packetName: 'shapes.square', value: square, declaredType: Square });
  const shape = new Shape(3);
  expect(resolveOutbound(shape)).toEqual({ packetName: 'Shape', value: shape, declaredType: Shape });
});

test('[MSG-002] data named constructor does not hide the class', () => {
  const shape = Object.assign(new Shape(3), { constructor: Square });
  expect(resolveOutbound(shape).packetName).toBe('Shape');
});

test('[MSG-002] ZLinkMessage declares a base class or a class that stands for an interface', () => {
  const square = new Square();
  expect(resolveOutbound(ZLinkMessage.from<Shape>(square, Shape))).toEqual({
    packetName: 'Shape',
    value: square,
    declaredType: Shape,
  });
  const literal = { sides: 5 };
  const declared = ZLinkMessage.from<{ sides: number }>(literal, Shape);
  expect(declared.packetName).toBe('Shape');
  expect(declared.value).toBe(literal);
  expect(resolveOutbound(declared).declaredType).toBe(Shape);
  expect(resolveOutbound(ZLinkMessage.from(square)).declaredType).toBe(Square);
});

test('[MSG-003] ZLinkMessage needs a class to take a name from', () => {
  for (const value of [{ sides: 1 }, [1], 'text', 7, null, undefined]) {
    expect(thrownBy(() => ZLinkMessage.from(value)).kind).toBe('InvalidOperation');
  }
  expect(thrownBy(() => ZLinkMessage.from({}, Notice as unknown as Type<object>)).kind).toBe('InvalidOperation');
});

test.each([
  ['an object literal', { text: 'secret' }, 'an object literal'],
  ['an imitation of a message', { packetName: 'system.notice', value: 1 }, 'an object literal'],
  ['an object without prototype', Object.create(null), 'an object literal'],
  ['an object literal of another realm', runInNewContext('({ text: "secret" })'), 'an object literal'],
  ['an array', ['secret'], 'an array'],
  ['a string', 'secret', 'a value of type string'],
  ['a number', 7, 'a value of type number'],
  ['null', null, 'null'],
  ['undefined', undefined, 'a value of type undefined'],
  ['a function', () => 'secret', 'a value of type function'],
])('[MSG-003] %s has no packet name', (_case, sendable: unknown, named) => {
  const error = thrownBy(() => resolveOutbound(sendable as object));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.message).toContain(named);
  expect(error.message).not.toContain('secret');
});

test('[MSG-003] the refusal says how such a value is sent', () => {
  expect(thrownBy(() => resolveOutbound({ text: 'secret' })).message).toBe(
    '[InvalidOperation] an object literal has no packet name: call a descriptor, made by ' +
      "message('name') or request('name'), or use ZLinkMessage.from(value, Class)",
  );
  expect(thrownBy(() => ZLinkMessage.from({ sides: 1 })).message).toContain('ZLinkMessage.from(value, Class)');
});

test('[MSG-003] a descriptor that was not called is named, and how to call it', () => {
  const error = thrownBy(() => resolveOutbound(Notice));
  expect(error.message).toBe(
    '[InvalidOperation] packet descriptor "system.notice" is no message by itself: ' +
      'call it with the value, as in Charge({ amount: 3 })',
  );
});

test('[MSG-003] a class in place of its instance is named', () => {
  expect(thrownBy(() => resolveOutbound(Shape)).message).toBe(
    '[InvalidOperation] function Shape is no message by itself: send an instance of the class',
  );
});

test('[MSG-006] [HOSTREG-006] a one-way message cannot be requested; a request, or a class, can', () => {
  const Area = request<Shape, number>('shapes.area');
  expect(thrownBy(() => resolveRequest(Notice({ text: 'secret' }), 'sendToChannel')).message).toBe(
    '[InvalidOperation] packet "system.notice" is a one-way message, nobody answers it: ' +
      'use sendToChannel, or declare it by request()',
  );
  const asked = Area(new Shape(3));
  expect(resolveRequest(asked, 'sendToChannel')).toBe(asked);
  expect(resolveRequest(new Square(), 'sendToChannel').packetName).toBe('shapes.square');
  expect(resolveRequest(ZLinkMessage.from(new Square(), Shape), 'sendToChannel').packetName).toBe('Shape');
  expect(thrownBy(() => resolveRequest({}, 'sendToChannel')).message).toContain('an object literal');
  expect(resolveOutbound(asked)).toBe(asked); // one-way: servers may have a send handler of a request's packet
});

test('[MSG-005] a class without a usable name cannot be sent', () => {
  expect(thrownBy(() => resolveOutbound(new (class {})())).kind).toBe('InvalidOperation');
});

test('[MSG-002] the class of a value is found in any realm', () => {
  expect(classOf(new Square())).toBe(Square);
  expect(classOf(runInNewContext('new (class Remote {})()'))?.name).toBe('Remote');
  expect(classOf(Object.create(Object.create(null) as object))).toBeUndefined();
});
