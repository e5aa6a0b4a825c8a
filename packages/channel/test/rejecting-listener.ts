/** An endpoint that answers every hello with a rejection, as a node may that knows more about both sides than we do. */
import type { PipeEngine } from '@zlink/kernel/internal/transport';
import { RecordKind, type RejectReason } from '@zlink/kernel/internal/wire';
import { createMemoryEngine } from '@zlink/testing';
import type { Cluster } from './cluster.ts';

const HEADER_BYTES = 16;
const PAYLOAD_LENGTH_AT = 12;

export class RejectingListener {
  /** Connections that were rejected. */
  attempts = 0;
  endpoint = '';
  readonly #engine: PipeEngine;
  readonly #rejection: Uint8Array;

  constructor(cluster: Cluster, reason: RejectReason, text: string) {
    this.#engine = createMemoryEngine(cluster.network, { name: 'rejecting' });
    const payload = Uint8Array.of(reason, ...new TextEncoder().encode(text));
    this.#rejection = new Uint8Array(HEADER_BYTES + payload.length);
    this.#rejection[0] = RecordKind.reject;
    new DataView(this.#rejection.buffer).setUint32(PAYLOAD_LENGTH_AT, payload.length, true);
    this.#rejection.set(payload, HEADER_BYTES);
  }

  async listen(): Promise<this> {
    const listener = await this.#engine.listen(
      { address: 'tcp://127.0.0.1:0', maxPartBytes: 0, onRefused: () => undefined },
      (pipe) => ({
        onPipeOpen: () => undefined,
        onPipeMessage: () => {
          this.attempts++;
          pipe.send([this.#rejection]);
        },
        onPipeClosed: () => undefined,
      }),
    );
    this.endpoint = listener.address;
    return this;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
