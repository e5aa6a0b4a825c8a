/** What topics, adapters and the composer check their options with; loads nothing but errors. */
export { didYouMean } from './did-you-mean.ts';
export { checkInteger, checkOptionNames, hasMethods, isObject, type ProblemList } from './option-checks.ts';
