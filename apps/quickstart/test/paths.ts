/** Where the files lie that tests start or read. */
import { fileURLToPath } from 'node:url';

export const built = (name: string): string => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
export const repository = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
