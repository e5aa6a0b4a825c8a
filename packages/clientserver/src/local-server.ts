/** A server in this process as its channel's client sees it: dialled like any other, but without a source (CS-002). */
import type { NodeIdentity } from '@zlink/kernel/identity';

export interface LocalServer extends NodeIdentity {
  readonly address: string;
}
