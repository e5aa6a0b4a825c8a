/** Under which name meters and tracers are asked for. */

export const SCOPE_NAME = 'zlink.framework';
/** The version of this package. */
export const SCOPE_VERSION = '0.1.0';
