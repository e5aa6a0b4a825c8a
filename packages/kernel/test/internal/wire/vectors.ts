/**
 * The golden vectors of the wire format, read from their files.
 *
 * Owns the notation: bytes in hex, `xx*n` for n times the byte xx, `#` to the end of the line is a comment, a line `---`
 * begins the next message part.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Vector {
  readonly name: string;
  readonly parts: readonly Uint8Array[];
}

const folder = join(import.meta.dirname, '../../../../core-binding/vectors');

const all: readonly Vector[] = readdirSync(folder)
  .filter((file) => file.endsWith('.hex'))
  .sort()
  .map((file) => ({ name: file.slice(0, -'.hex'.length), parts: parse(readFileSync(join(folder, file), 'utf8')) }));

/** Messages of links. */
export const vectors = all.filter(({ name }) => !name.startsWith('event-'));

/** Messages of fanout publishers. */
export const eventVectors = all.filter(({ name }) => name.startsWith('event-'));

export function vectorNamed(name: string): Vector {
  const vector = all.find((candidate) => candidate.name === name);
  if (vector === undefined) throw new Error(`no vector ${name}`);
  return vector;
}

function parse(text: string): Uint8Array[] {
  const parts: number[][] = [[]];
  for (const line of text.split('\n')) {
    const tokens = line.replace(/#.*/, '').trim();
    if (tokens === '---') parts.push([]);
    else for (const token of tokens.split(/\s+/)) parts.at(-1)?.push(...bytesOf(token));
  }
  return parts.map((bytes) => Uint8Array.from(bytes));
}

function bytesOf(token: string): number[] {
  if (token === '') return [];
  const match = /^([0-9a-f]{2})(?:\*([0-9]+))?$/.exec(token);
  if (match === null) throw new Error(`${token} is no byte in hex`);
  const byte = Number.parseInt(match[1] ?? '', 16);
  return new Array<number>(Number(match[2] ?? 1)).fill(byte);
}
