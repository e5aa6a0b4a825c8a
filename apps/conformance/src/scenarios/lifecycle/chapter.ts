/** Start, states and end of a host, without objects. */
import type { Chapter } from '../../scenario.ts';
import { drain } from './drain.ts';
import { host } from './host.ts';

export const lifecycle: Chapter = { topic: 'lifecycle', scenarios: [...host, ...drain] };
