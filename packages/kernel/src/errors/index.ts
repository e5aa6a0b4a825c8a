/** Failures: what every other folder may throw. Imports nothing of the kernel. */

export { assertNever } from './assert-never.ts';
export { ConfigurationError } from './configuration-error.ts';
export { describeValue } from './describe-value.ts';
export { didYouMean } from './did-you-mean.ts';
export { ErrorKind, type ErrorKindName, errorKindOf } from './error-kind.ts';
export { Problems } from './problems.ts';
export { checkFlag, checkMethods, checkOptionNames, isObject } from './shape-checks.ts';
export { isZLinkError, ZLinkError } from './zlink-error.ts';
