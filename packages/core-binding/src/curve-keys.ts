/** New key pairs for CURVE. */
import { curveKeyPair } from 'zeromq';

/** A key pair; each key is 40 characters of Z85. */
export interface CurveKeys {
  readonly publicKey: string;
  /** To be seen by its owner alone. */
  readonly secretKey: string;
}

/** Makes a new pair, for `security` of a host. Nothing is kept of it. @see SEC-001 */
export function createCurveKeys(): CurveKeys {
  const { publicKey, secretKey } = curveKeyPair();
  return Object.freeze({ publicKey, secretKey });
}
