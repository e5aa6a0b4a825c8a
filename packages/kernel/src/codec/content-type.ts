/** The one form in which a content type is registered, sent and compared (CODEC-002, CODEC-003). */
import { maxNameBytes } from '../identity/index.ts';

/** RFC 9110 token characters without the upper case ones, which the canonical form does not have. */
const canonicalForm = /^[!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const blanksAround = /^[ \t]+|[ \t]+$/g;
const asciiUpperCase = /[A-Z]/g;

/**
 * `type/subtype` in ASCII lower case without blanks around it; undefined when `text` has parameters, inner blanks, an
 * empty or non-ASCII part, or is longer than a name on the wire can be.
 */
export function canonicalContentType(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  // Not the whole string's toLowerCase: it would turn U+212A, the Kelvin sign, into an ASCII k.
  const canonical = text.replace(blanksAround, '').replace(asciiUpperCase, (letter) => letter.toLowerCase());
  return canonical.length <= maxNameBytes && canonicalForm.test(canonical) ? canonical : undefined;
}
