/** Failures: what every other folder may throw. Imports nothing of the kernel. */

export { assertNever } from './assert-never.ts';
export { ConfigurationError } from './configuration-error.ts';
export { describeValue } from './describe-value.ts';
export { ErrorKind, type ErrorKindName, errorKindOf } from './error-kind.ts';
export { Problems } from './problems.ts';
export { isZLinkError, ZLinkError } from './zlink-error.ts';
