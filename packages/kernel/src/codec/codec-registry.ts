/**
 * Which codec serves a declared type, and which one a content type on the wire.
 *
 * Owns: registration while the host is configured, the frozen table afterwards, the bounded memory of past choices.
 * Leaves to others: encoding itself; what to do with an unknown content type.
 *
 * Invariants
 * R1 A table never changes. Registering after the first freeze is an error (CODEC-003, HOSTREG-004).
 * R2 Every codec in a table has a canonical content type, whatever it was registered with (CODEC-002).
 * R3 Of two codecs with one content type, the later replaces the earlier, JSON included.
 * R4 A choice depends on the declared type alone: the latest registered match, else JSON (CODEC-004).
 * R5 Only a clear `true` of `matches` is a match. One that throws fails the call: passing it over would send the
 *    message in a format nobody chose.
 */
import { describeValue, ZLinkError } from '../errors/index.ts';
import type { Problems } from '../errors/index.ts';
import type { DeclaredType } from '../message/index.ts';
import type { Codec, CodecExtension, CodecRegistrar } from './codec.ts';
import { canonicalContentType } from './content-type.ts';
import { jsonCodec } from './json-codec.ts';

/** Choices remembered per table; never evicted, so later types are decided anew each time (CODEC-004). */
const rememberedTypes = 1_024;

/** Collects codecs while the host is configured. */
export class CodecRegistry implements CodecRegistrar {
  readonly #codecs: unknown[] = [];
  readonly #problems: string[] = [];
  #frozen = false;

  /** Lets an extension register its codecs. What goes wrong in it is reported at start. */
  use(extension: CodecExtension): this {
    this.#requireOpen();
    const register: unknown = (extension as Partial<CodecExtension> | undefined)?.register;
    if (typeof register !== 'function') {
      this.#problems.push(`codec extension: ${describeValue(extension)} has no register method`);
      return this;
    }
    try {
      extension.register(this);
    } catch (error) {
      const reason = error instanceof Error ? error.message : describeValue(error);
      this.#problems.push(`codec extension: register failed: ${reason}`);
    }
    return this;
  }

  add(codec: Codec): this {
    this.#requireOpen();
    this.#codecs.push(codec);
    return this;
  }

  /** The table of what was registered so far. Every mistake goes to `problems`, and its codec not into the table. */
  freeze(problems: Pick<Problems, 'add' | 'note'>): CodecTable {
    this.#frozen = true;
    for (const text of this.#problems) problems.note(text);
    const byContentType = new Map<string, Codec>();
    for (const codec of this.#codecs) {
      const accepted = acceptCodec(codec, problems);
      if (accepted === undefined) continue;
      byContentType.delete(accepted.contentType); // R3: the later one also takes the later place
      byContentType.set(accepted.contentType, accepted);
    }
    return new CodecTable(byContentType);
  }

  #requireOpen(): void {
    if (this.#frozen) throw new ZLinkError('InvalidOperation', 'codecs are registered before the host starts'); // R1
  }
}

function acceptCodec(codec: unknown, problems: Pick<Problems, 'add' | 'note'>): Codec | undefined {
  if (!isCodec(codec)) {
    problems.add('codec', codec, 'an object with contentType, matches, encode and decode');
    return undefined;
  }
  const { contentType } = codec;
  const canonical = canonicalContentType(contentType);
  if (canonical === undefined) {
    problems.add('contentType of a codec', contentType, 'type/subtype in ASCII token characters, no parameters');
    return undefined;
  }
  return canonical === contentType ? codec : withContentType(codec, canonical);
}

function isCodec(value: unknown): value is Codec {
  if (typeof value !== 'object' || value === null) return false;
  const { matches, encode, decode, encodeInto, decodeRange } = value as Partial<Record<keyof Codec, unknown>>;
  return (
    [matches, encode, decode].every((method) => typeof method === 'function') &&
    [encodeInto, decodeRange].every((method) => method === undefined || typeof method === 'function')
  );
}

/** The codec under its canonical name (R2). Calls are passed on, as the object may have private state. */
function withContentType(codec: Codec, contentType: string): Codec {
  const named: Codec = {
    contentType,
    matches: (declaredType) => codec.matches(declaredType),
    encode: (value, declaredType) => codec.encode(value, declaredType),
    decode: (bytes, declaredType) => codec.decode(bytes, declaredType),
  };
  if (codec.encodeInto !== undefined) {
    named.encodeInto = (value, declaredType, sink) => codec.encodeInto?.(value, declaredType, sink);
  }
  if (codec.decodeRange !== undefined) {
    named.decodeRange = (source, start, end, declaredType) => codec.decodeRange?.(source, start, end, declaredType);
  }
  return named;
}

/** The codecs of a running host. */
export class CodecTable {
  readonly #byContentType: ReadonlyMap<string, Codec>;
  /** Latest first; empty when JSON serves everything. */
  readonly #candidates: readonly Codec[];
  readonly #json: Codec;
  readonly #choices = new Map<DeclaredType | undefined, Codec>();

  /** `registered` is in order of registration, by canonical content type. */
  constructor(registered: ReadonlyMap<string, Codec>) {
    this.#candidates = [...registered.values()].reverse();
    this.#json = registered.get(jsonCodec.contentType) ?? jsonCodec; // R3
    this.#byContentType = new Map(registered).set(this.#json.contentType, this.#json);
  }

  /**
   * The codec for a message of this declared type.
   *
   * @throws ZLinkError `InternalFailure` if a codec fails to say whether it matches (R5)
   */
  select(declaredType: DeclaredType | undefined): Codec {
    if (this.#candidates.length === 0) return this.#json;
    const known = this.#choices.get(declaredType);
    if (known !== undefined) return known;
    const chosen = this.#decide(declaredType);
    if (this.#choices.size < rememberedTypes) this.#choices.set(declaredType, chosen);
    return chosen;
  }

  /** The codec of a content type as it stands on the wire, compared exactly; undefined when there is none. */
  byContentType(contentType: string): Codec | undefined {
    return this.#byContentType.get(contentType);
  }

  #decide(declaredType: DeclaredType | undefined): Codec {
    for (const codec of this.#candidates) {
      if (matchesClearly(codec, declaredType)) return codec;
    }
    return this.#json;
  }
}

function matchesClearly(codec: Codec, declaredType: DeclaredType | undefined): boolean {
  let answer: unknown;
  try {
    answer = codec.matches(declaredType);
  } catch (cause) {
    const name = describeValue(codec.contentType);
    throw new ZLinkError('InternalFailure', `codec ${name} failed to say whether it matches a type`, { cause });
  }
  return answer === true; // R5: a promise, for one, is no yes
}
