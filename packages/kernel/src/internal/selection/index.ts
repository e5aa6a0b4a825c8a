/** Choosing one target of many. */

export { type Candidate, WeightedSelector } from './weighted-selector.ts';
