/**
 * What the hosts of the conformance run say to each other: names, packets, and what their payloads may ask for.
 *
 * Owns the contract of a peer for `--against` as well: a ClientServer server of `CHANNEL` with the handlers of the server role.
 */
import { message, request } from '@zlink/framework';

export const CHANNEL = 'conformance';
export const MESH = 'conformance-mesh';
export const MESH_CHANNEL = 'conformance-mesh-channel';
export const FEED = 'conformance-feed';

/**
 * What a handler does with a message.
 * - `echo` (default): answers with what it got
 * - `hold`: waits until it is released, or until nobody waits for it any more
 * - `throw`: throws an `Error` with the text; `refuse`: a `ZLinkError` whose kind is the text; `misconfigure`: a
 *   `ConfigurationError`; `throwNothing`: `undefined`
 * - `unfit`: answers with what cannot be encoded
 * - `relay`: makes the call that the text describes, with its own signal; `lateRelay`: the same, once it is released;
 *   `bareRelay`: then, and without the signal
 * - `spin`: keeps the event loop busy for as many milliseconds as the text says
 */
type Act =
  | 'echo'
  | 'hold'
  | 'throw'
  | 'throwNothing'
  | 'refuse'
  | 'misconfigure'
  | 'unfit'
  | 'relay'
  | 'lateRelay'
  | 'bareRelay'
  | 'spin';

/** What every message carries. JSON makes a base64 text of bytes. */
export interface Payload {
  readonly mark: string;
  readonly text?: string;
  readonly bytes?: Uint8Array | string;
  /** Empty where a codec fills in what is absent. */
  readonly act?: Act | '';
}

/** Declared as a class, so that codecs can be told about replies. */
export class Reply {
  readonly mark: string = '';
  /** Name of the host that answered. */
  readonly by: string = '';
  readonly text: string = '';
  readonly bytes?: Uint8Array | string;
}

export const Ask = request<Payload, Reply>('conformance.ask', { reply: { declaredType: Reply } });
export const Note = message<Payload>('conformance.note');
export const Tick = message<Payload>('conformance.tick');
/** Have no handler anywhere. */
export const MissingAsk = request<Payload, Reply>('conformance.missing-ask');
export const MissingNote = message<Payload>('conformance.missing-note');
/** The name of `Ask` in other letters: another packet. */
const ShoutedAsk = request<Payload, Reply>('CONFORMANCE.ASK');

/** By the names under which plans speak of them. */
export const packets = {
  ask: Ask,
  note: Note,
  tick: Tick,
  missingAsk: MissingAsk,
  missingNote: MissingNote,
  shoutedAsk: ShoutedAsk,
} as const;

export type PacketLabel = keyof typeof packets;
