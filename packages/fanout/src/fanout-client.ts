/**
 * The client that applications publish with.
 *
 * Owns the arguments of its two verbs. Leaves where names lead to the composer of a host.
 */
import type { FanoutPublishCall } from '@zlink/kernel/call';
import { describeValue, isZLinkError, ZLinkError } from '@zlink/kernel/errors';
import { type ResolvedPacket, resolveOutbound, type Sendable } from '@zlink/kernel/message';
import type { EventPath } from './event-path.ts';
import { PublishCall } from './publish-call.ts';
import { requireTopic } from './topic.ts';

/** Nothing is published before `submit`; where the channel or its publisher is missing it is `submit` that rejects. */
export interface FanoutClient {
  /**
   * An event to every subscriber of the channel that is connected now. Its topic is its packet name.
   *
   * @param channelName - as registered by `addFanoutChannel`
   * @param event - made by a packet descriptor, by `ZLinkMessage.from`, or an instance of a class
   * @throws ZLinkError `InvalidOperation` if the event has no packet name, is declared as a request, or its packet name is
   *   the reserved topic
   * @see FAN-002, MSG-003
   */
  publish(channelName: string, event: Sendable): FanoutPublishCall;
  /**
   * The same with a topic that handlers find in their context; no handler and no subscriber is chosen by it.
   *
   * @param topic - up to 255 bytes, as text or as bytes; all but `01 5A 4C 46 31`, which is reserved
   * @throws ZLinkError `InvalidOperation` also for a topic that is not allowed
   * @see FAN-002, FAN-003
   */
  publish(channelName: string, topic: string | Uint8Array, event: Sendable): FanoutPublishCall;
  /**
   * Resolves when at least `minSubscribers` subscribers are connected to the publisher of this process: what is published
   * from then on reaches them.
   *
   * @param minSubscribers - integer from 0
   * @param signal - ends the waiting
   * @throws ZLinkError `NotFound`, `NotConfigured` without a publisher here, `ShuttingDown` when the host ends first,
   *   `InvalidOperation` for a number out of range or before the host starts; or the signal's reason
   */
  ready(channelName: string, minSubscribers: number, signal?: AbortSignal): Promise<void>;
}

/** Where publishes go, or why there is no way. */
export interface FanoutPaths {
  toChannel(channelName: string): EventPath | ZLinkError;
}

export function createFanoutClient(paths: FanoutPaths): FanoutClient {
  return Object.freeze({
    // Whether there is a topic is a matter of how many arguments there are: an undefined one is a mistake.
    publish: (channelName: string, ...args: unknown[]) => {
      const hasTopic = args.length > 1;
      const packet = resolveEvent(hasTopic ? args[1] : args[0]);
      const topic = requireTopic(hasTopic ? args[0] : packet.packetName);
      return new PublishCall(paths.toChannel(channelName), packet, topic);
    },
    ready: (channelName: string, minSubscribers: number, signal?: AbortSignal) => {
      const path = paths.toChannel(channelName);
      if (isZLinkError(path)) return Promise.reject(path);
      return path.whenSubscribed(minSubscribers, signal);
    },
  });
}

/** No subscriber may have a handler for a request (HOSTREG-006): nobody would answer it. */
function resolveEvent(event: unknown): ResolvedPacket {
  const packet = resolveOutbound(event as Sendable); // says itself what cannot be sent
  if (packet.reply === undefined) return packet;
  const text = `packet ${describeValue(packet.packetName)} is a request, nobody answers an event: declare it by message()`;
  throw new ZLinkError('InvalidOperation', text);
}
