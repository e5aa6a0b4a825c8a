/** Payloads that nobody meant: a value or a `ProtocolError` comes of each, and no more than its bytes account for. */
import assert from 'node:assert/strict';
import { seededRandom } from '../../seeded-random.ts';
import { type CodecCase, type CodecRig, copyOf, refusal } from './codec-rig.ts';
import { mutatedPayload } from './payload-mutation.ts';
import { weightOf } from './value-weight.ts';

const mutationCount = 20_000;
const secret = 'hunter2-hunter2';
/** What every value may weigh beside its payload: a message's own fields, for one. */
const freeWeight = 256;

const hex = (text: string): Uint8Array => Uint8Array.from(text.split(' '), (byte) => Number.parseInt(byte, 16));
const invalidTexts = ['c3 28', 'a0 a1', 'e2 28 a1', 'ed a0 80', 'f0 28 8c 28', 'fe fe ff ff', '61 62 e2 82'];
const dangerousKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];

function swallow(rig: CodecRig, payload: Uint8Array): void {
  const decoded = rig.attempt(payload);
  if (decoded.kind === 'refused') return;
  const limit = freeWeight + payload.length * (rig.harness.valuesPerByte ?? 2);
  assert(weightOf(decoded.value, limit) <= limit, `${payload.length} bytes became more than ${limit} values`);
}

/** All texts that a log of this error would show. */
function textsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message}\n${String(error.stack)}\n${error.cause === undefined ? '' : textsOf(error.cause)}`;
}

export const malformedCases: readonly CodecCase[] = [
  {
    title: '[CODEC-006] every beginning of a payload is a value or a ProtocolError, within bounds',
    act: (rig) => {
      for (const value of rig.values(50)) {
        const payload = rig.encode(value);
        for (let length = 0; length < payload.length; length++) {
          const beginning = copyOf(payload.subarray(0, length));
          swallow(rig, beginning);
          assert.deepStrictEqual(
            rig.attempt(payload, length),
            rig.attempt(beginning),
            'bytes behind the end were read',
          );
        }
      }
    },
  },
  {
    title: '[CODEC-006] 20,000 changed payloads are values or ProtocolErrors, within bounds',
    act: (rig) => {
      const random = seededRandom(mutationCount);
      const corpus = rig.values(100).map((value) => copyOf(rig.encode(value)));
      for (let count = 0; count < mutationCount; count++) swallow(rig, mutatedPayload(random, corpus));
    },
  },
  {
    title: '[CODEC-006] [C22] a text of bytes that are no UTF-8 is a ProtocolError; the replacement character is text',
    act: (rig) => {
      for (const bytes of invalidTexts)
        refusal('ProtocolError', () => rig.decode(rig.harness.payloadOfText(hex(bytes))), `text of ${bytes}`);
      assert.notEqual(rig.attempt(rig.harness.payloadOfText(hex('ef bf bd'))).kind, 'refused');
    },
  },
  {
    title: '[CODEC-006] [C24] a key that aims at the prototype stays own data or is refused',
    needs: 'payloadOfKey',
    act: (rig) => {
      const before = Object.getOwnPropertyNames(Object.prototype);
      for (const key of dangerousKeys) {
        const payload = rig.harness.payloadOfKey?.(key) ?? assert.fail('the harness has lost payloadOfKey');
        const decoded = rig.attempt(payload);
        if (decoded.kind === 'value') assertOwnData(decoded.value, key);
      }
      assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before);
    },
  },
  {
    title: '[CODEC-006] no error shows anything of a payload or of a value',
    act: (rig) => {
      const payload = rig.encode(rig.harness.holding(secret));
      for (let length = 0; length < payload.length; length++) {
        const cut = payload.subarray(0, length);
        if (rig.attempt(cut).kind === 'value') continue;
        const error = refusal('ProtocolError', () => rig.decode(cut), 'what was refused before');
        assert(!textsOf(error).includes(secret), 'an error shows the payload');
      }
      for (const value of rig.harness.refused(secret)) {
        const error = refusal('InvalidOperation', () => rig.encode(value), 'a value without a form');
        assert(!textsOf(error).includes(secret), 'an error shows the value');
      }
    },
  },
];

/** Every object in the value is plain, and the key is somewhere an own one. */
function assertOwnData(value: unknown, key: string): void {
  let found = false;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next)) continue;
    const prototype: unknown = Object.getPrototypeOf(next);
    const isPlain = prototype === null || prototype === Object.prototype || prototype === Array.prototype;
    assert(isPlain, `${key} has changed a prototype`);
    if (Object.hasOwn(next, key)) found = true;
    for (const name of Object.keys(next)) open.push((next as Record<string, unknown>)[name]);
  }
  assert(found, `${key} got lost without an error`);
}
