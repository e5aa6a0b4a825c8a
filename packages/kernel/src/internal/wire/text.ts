/** Strict UTF-8 for wire code: what the lower `message` folder owns, under the name the layouts use. */
export { isWellFormed } from '../../identity/index.ts';
export { decodeUtf8, encodeUtf8, utf8MaxBytes, writeUtf8 } from '../../message/text.ts';
