/** Codecs that break one promise each, and the case that has to notice. */
import { type Codec, jsonCodec, type PayloadSink } from '@zlink/kernel/codec';
import { ZLinkError } from '@zlink/kernel/errors';
import type { CodecHarness } from '../../src/index.ts';
import { jsonHarness } from './json-harness.ts';

export interface BrokenCodec {
  readonly what: string;
  /** How the title of the case begins. */
  readonly caughtBy: string;
  readonly harness: CodecHarness;
  /** What the case fails with; default: an assertion. */
  readonly failsWith?: string;
}

/** As JSON, without its fast paths: they would go round what is broken here. */
const plain = (change: Partial<Codec>): CodecHarness => {
  const { contentType } = jsonCodec;
  const encode = (value: unknown, type: unknown): Uint8Array => jsonCodec.encode(value, type);
  return jsonHarness({ contentType, matches: () => true, encode, decode: json, ...change });
};
const decodingBy = (decode: (bytes: Uint8Array) => unknown): CodecHarness => plain({ decode });
const json = (bytes: Uint8Array): unknown => jsonCodec.decode(bytes, undefined);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function lenient(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(text(bytes));
  } catch {
    throw new ZLinkError('ProtocolError', 'not JSON');
  }
}

/** Assigns what the sender chose. */
function assigning(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(assigning);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = assigning((value as Record<string, unknown>)[key]);
  return copy;
}

/** An object that reads the receive buffer later. */
function lazily(bytes: Uint8Array): unknown {
  const value = json(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  for (const key of Object.keys(value)) {
    Object.defineProperty(value, key, {
      get: () => (json(bytes) as Record<string, unknown>)[key],
      enumerable: true,
      configurable: true,
    });
  }
  return value;
}

const bounded = (encodes: boolean, decodes: boolean): CodecHarness => ({
  ...jsonHarness(),
  createBounded: (maxBytes) => {
    const refuse = (bytes: Uint8Array, kind: 'InvalidOperation' | 'ProtocolError'): Uint8Array => {
      if (bytes.length > maxBytes) throw new ZLinkError(kind, 'too large');
      return bytes;
    };
    return {
      ...jsonCodec,
      encode: (value, type) => {
        const bytes = jsonCodec.encode(value, type);
        return encodes ? refuse(bytes, 'InvalidOperation') : bytes;
      },
      decode: (bytes) => json(decodes ? refuse(bytes, 'ProtocolError') : bytes),
    };
  },
});
export const boundedHarness = bounded(true, true);

const scratch = new Uint8Array(2_097_152);
function inScratch(value: unknown): Uint8Array {
  const bytes = jsonCodec.encode(value, undefined);
  scratch.set(bytes);
  return scratch.subarray(0, bytes.length);
}

let answer = false;

export const brokenCodecs: readonly BrokenCodec[] = [
  {
    what: 'has another content type',
    caughtBy: '[CODEC-002] it registers',
    harness: plain({ contentType: 'application/jsonp' }),
  },
  {
    what: 'has a content type with parameters',
    caughtBy: '[CODEC-002] it registers',
    failsWith: 'ConfigurationError',
    harness: { ...plain({ contentType: 'application/json;v=1' }), contentType: 'application/json;v=1' },
  },
  {
    what: 'changes its mind about a type',
    caughtBy: '[CODEC-004] it serves',
    harness: plain({ matches: () => (answer = !answer) }),
  },
  {
    what: 'serves types that are not its own',
    caughtBy: '[CODEC-004] it serves',
    harness: { ...jsonHarness(), foreignType: class Foreign {} },
  },
  {
    what: 'loses -0',
    caughtBy: '[CODEC-006] 1,000 values',
    harness: plain({ encode: (value) => new TextEncoder().encode(JSON.stringify(value)) }),
  },
  {
    what: 'writes something else into the batch',
    caughtBy: '[CODEC-006] [CODEC-007] what is written',
    harness: plain({ encodeInto: (value, _type, sink) => sink.writeText(`${JSON.stringify(value)} `) }),
  },
  {
    what: 'reads the whole source instead of a range',
    caughtBy: '[CODEC-006] [CODEC-007] a payload in the middle',
    failsWith: 'ZLinkError',
    harness: plain({ decodeRange: (source) => json(source) }),
  },
  {
    what: 'throws what its library throws',
    caughtBy: '[CODEC-006] every beginning',
    harness: decodingBy((bytes) => JSON.parse(text(bytes))),
  },
  {
    what: 'makes room for whatever length is announced',
    caughtBy: '[CODEC-006] every beginning',
    harness: decodingBy((bytes) => (bytes.length < 3 ? new Array(2 ** 32 - 1) : json(bytes))),
  },
  {
    what: 'reads on behind the end',
    caughtBy: '[CODEC-006] every beginning',
    harness: plain({ decodeRange: (source, start) => json(source.subarray(start)) }),
  },
  {
    what: 'makes much of little',
    caughtBy: '[CODEC-006] 20,000 changed',
    harness: decodingBy((bytes) => [json(bytes), ...Array.from({ length: 100 * bytes.length }, () => 0)]),
  },
  {
    what: 'stumbles over a rare byte',
    caughtBy: '[CODEC-006] 20,000 changed',
    harness: decodingBy((bytes) => {
      if (bytes.includes(0xc9)) throw new RangeError('offset is out of bounds');
      return json(bytes);
    }),
  },
  {
    what: 'replaces invalid UTF-8',
    caughtBy: '[CODEC-006] [C22]',
    harness: decodingBy(lenient),
  },
  {
    what: 'takes the replacement character for an error',
    caughtBy: '[CODEC-006] [C22]',
    harness: decodingBy((bytes) => {
      if (text(bytes).includes('\uFFFD')) throw new ZLinkError('ProtocolError', 'not UTF-8');
      return json(bytes);
    }),
  },
  {
    what: 'assigns keys of the sender',
    caughtBy: '[CODEC-006] [C24]',
    harness: decodingBy((bytes) => assigning(json(bytes))),
  },
  {
    what: 'shows the payload in an error',
    caughtBy: '[CODEC-006] no error shows',
    harness: decodingBy((bytes) => {
      try {
        return json(bytes);
      } catch {
        throw new ZLinkError('ProtocolError', `not JSON: ${text(bytes)}`);
      }
    }),
  },
  {
    what: 'shows the payload in a cause',
    caughtBy: '[CODEC-006] no error shows',
    harness: decodingBy((bytes) => {
      try {
        return json(bytes);
      } catch {
        throw new ZLinkError('ProtocolError', 'not JSON', { cause: new Error(text(bytes)) });
      }
    }),
  },
  {
    what: 'sends a Map as an empty object',
    caughtBy: '[CODEC-006] no error shows',
    harness: plain({ encode: (value) => new TextEncoder().encode(JSON.stringify(value)) }),
  },
  {
    what: 'encodes any depth',
    caughtBy: '[CODEC-006] values are encoded and decoded down to',
    harness: plain({ encode: (value) => new TextEncoder().encode(JSON.stringify(value)) }),
  },
  {
    what: 'overflows the stack on deep values',
    caughtBy: '[CODEC-006] a value of 100,000 levels',
    harness: plain({ encode: (value) => new TextEncoder().encode(JSON.stringify(value)) }),
  },
  {
    what: 'overflows the stack on deep payloads',
    caughtBy: '[CODEC-006] a value of 100,000 levels',
    harness: decodingBy((bytes) => assigning(json(bytes))),
  },
  { what: 'encodes any size', caughtBy: '[CODEC-006] a payload of the largest size', harness: bounded(false, true) },
  { what: 'decodes any size', caughtBy: '[CODEC-006] a payload of the largest size', harness: bounded(true, false) },
  {
    what: 'marks the values it has seen',
    caughtBy: '[CODEC-006] encoding changes nothing',
    failsWith: 'TypeError',
    harness: plain({
      encode: (value, type) => {
        const bytes = jsonCodec.encode(value, type);
        if (Array.isArray(value)) value.push('seen');
        return bytes;
      },
    }),
  },
  {
    what: 'clears what it has read',
    caughtBy: '[CODEC-006] decoding changes nothing',
    harness: decodingBy((bytes) => {
      const value = json(bytes);
      bytes.fill(0);
      return value;
    }),
  },
  {
    what: 'reads the receive buffer later',
    caughtBy: '[CODEC-006] a decoded value keeps nothing',
    failsWith: 'ZLinkError',
    harness: decodingBy(lazily),
  },
  {
    what: 'returns its scratch buffer',
    caughtBy: '[CODEC-006] a payload stays as it was',
    failsWith: 'ZLinkError',
    harness: plain({ encode: inScratch }),
  },
  {
    what: 'gives the batch its scratch buffer',
    caughtBy: '[CODEC-006] a payload stays as it was',
    failsWith: 'ZLinkError',
    harness: plain({ encodeInto: (value, _type, sink) => sink.writeBytes(inScratch(value)) }),
  },
  {
    what: 'copies twice',
    caughtBy: '[CODEC-007] a payload is copied once at most',
    harness: plain({ encodeInto: copyingTwice }),
  },
  {
    what: 'leaves something out on its way into the batch',
    caughtBy: '[CODEC-007] a payload is copied once at most',
    harness: plain({ encodeInto: () => undefined }),
  },
];

function copyingTwice(value: unknown, _declaredType: unknown, sink: PayloadSink): void {
  const once = Uint8Array.prototype.slice.call(inScratch(value));
  sink.writeBytes(once);
}
