/** Requirement ids as docs/requirements.md lists them. */
import { readFileSync } from 'node:fs';

export function listedIds(): ReadonlySet<string> {
  const text = readFileSync(new URL('../../../docs/requirements.md', import.meta.url), 'utf8');
  return new Set([...text.matchAll(/^\| ((?:[A-Z]+-\d{3})|(?:C\d{2})) +\|/gm)].map(([, id]) => id!)); // the group is there
}
