/**
 * Outbound names: the triple (scope, content type, packet name) that records carry as a small integer (WIRE-004).
 *
 * Owns the process-side index of a name; links keep which indexes they have introduced to their peer.
 */
import { NAME_LIMIT } from './limits.ts';

export interface OutboundName {
  readonly scope: string;
  readonly contentType: string;
  readonly packetName: string;
  /** Position in a link's table of introduced names; -1: never interned, sent inline. */
  readonly index: number;
}

/** All names that one transport sends. Bounded: later names get index -1 and travel inline. */
export class NameIndex {
  readonly #byScope = new Map<string, Map<string, Map<string, OutboundName>>>();
  #count = 0;

  get(scope: string, contentType: string, packetName: string): OutboundName {
    const known = this.#byScope.get(scope)?.get(contentType)?.get(packetName);
    if (known !== undefined) return known;
    if (this.#count >= NAME_LIMIT) return { scope, contentType, packetName, index: -1 };
    const name: OutboundName = { scope, contentType, packetName, index: this.#count++ };
    this.#table(scope, contentType).set(packetName, name);
    return name;
  }

  #table(scope: string, contentType: string): Map<string, OutboundName> {
    let byType = this.#byScope.get(scope);
    if (byType === undefined) {
      byType = new Map<string, Map<string, OutboundName>>();
      this.#byScope.set(scope, byType);
    }
    let names = byType.get(contentType);
    if (names === undefined) {
      names = new Map<string, OutboundName>();
      byType.set(contentType, names);
    }
    return names;
  }
}
