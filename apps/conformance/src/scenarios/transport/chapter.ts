/** Links, windows, liveness and keys. */
import type { Chapter } from '../../scenario.ts';
import { connections } from './connections.ts';
import { flow } from './flow.ts';
import { security } from './security.ts';

export const transport: Chapter = { topic: 'transport', scenarios: [...flow, ...connections, ...security] };
