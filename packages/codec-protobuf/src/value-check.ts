/**
 * Looks at the shape of a value before it is encoded: encoders take what they find and leave out what they do not.
 *
 * Owns refusing values that would get lost: a Map for a map, a Date for a message, two members of one oneof. Leaves
 * scalars and their ranges to strict-writer.ts, and knowing the type to its own `verify`.
 *
 * Invariants
 * V1 What has no place in a message is refused wherever it is, by the way to it; the value is never shown.
 * V2 The walk ends, also in a value inside itself.
 * V3 `verify` knows numbers and Longs as 64-bit integers; stand-ins make it accept bigints and decimal texts in their
 *    place, and in no other.
 */
import { builtInName } from '@zlink/kernel/codec';
import type { ProtobufType } from './protobuf-type.ts';

/** The library encodes 100 messages in one another; between them there may be arrays and maps. */
const maxLevels = 512;
const faultTextLimit = 200;
const plainTypes: ReadonlySet<string> = new Set(['Object', 'Array', 'Uint8Array']);
const decimal = /^(?:0|-?[1-9]\d{0,19})$/;

/** Why `value` is no message of this type; undefined if it is one, as far as its shape can tell. */
export function shapeFault(type: ProtobufType, value: unknown): string | undefined {
  const lost = lostValue(value, 0);
  if (lost !== undefined) return shortened(`${lost.keys.reverse().join('.') || 'value'}: ${lost.what}`);
  if (type.verify(value) === null) return undefined;
  const fault = type.verify(withStandIns(value)); // V3
  return fault === null ? undefined : shortened(fault);
}

interface Lost {
  readonly what: string;
  /** From the value outwards. */
  readonly keys: string[];
}

function lostValue(value: unknown, level: number): Lost | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const type = builtInName(value);
  if (!plainTypes.has(type)) return { what: `${type} has no form in a message`, keys: [] };
  if (type === 'Uint8Array') return undefined;
  if (level >= maxLevels) return { what: `nested deeper than ${maxLevels}, or inside itself`, keys: [] }; // V2
  for (const key of Object.keys(value)) {
    const lost = lostValue((value as Record<string, unknown>)[key], level + 1); // arrays have keys as well
    if (lost === undefined) continue;
    lost.keys.push(key);
    return lost;
  }
  return undefined;
}

/** The way may be long; what is wrong stands at its end. */
function shortened(fault: string): string {
  return fault.length <= faultTextLimit ? fault : `…${fault.slice(-faultTextLimit)}`;
}

/** Passes for a Long alone: a function is no message, number or text. */
const longStandIn = Object.freeze(Object.assign(() => undefined, { low: 0, high: 0 }));
/** Passes for a text, which it may be, and for a Long. */
const textStandIn: unknown = Object.freeze(Object.assign(Object(''), { low: 0, high: 0 }));

function withStandIns(value: unknown): unknown {
  if (typeof value === 'bigint') return longStandIn;
  if (typeof value === 'string') return decimal.test(value) ? textStandIn : value;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(withStandIns);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withStandIns(member)]));
}
