/** Stores and discovery. */
import type { Chapter } from '../../scenario.ts';
import { deployments } from './deployments.ts';
import { discovery } from './discovery.ts';
import { registration } from './registration.ts';
import { suites } from './suites.ts';

export const location: Chapter = {
  topic: 'location',
  scenarios: [...registration, ...suites, ...discovery, ...deployments],
};
