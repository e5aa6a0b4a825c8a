// Owns: the list of the workspace's projects, read from their manifests.
// Leaves to others: every judgement about them.
//
// Nx knows the same list, but asking it costs two seconds a call.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Every project as `{ name, folder, path, manifest }`; `folder` is relative to the root. */
export function readProjects() {
  return ['packages', 'apps', 'tools'].flatMap((group) => {
    if (!existsSync(join(root, group))) return [];
    return readdirSync(join(root, group))
      .sort()
      .map((name) => `${group}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .map((folder) => {
        const path = join(root, folder);
        const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
        return { name: manifest.name, folder, path, manifest };
      });
  });
}

/** All files below `path` whose name passes, as absolute paths in a stable order. */
export function findFiles(path, accept) {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : findFiles(child, accept);
      return accept(entry.name) ? [child] : [];
    });
}
