/** The client that applications start channel calls with. */
import { type CallPath, type RequestCall, RequestBuilder, SendBuilder, type SendCall } from '@zlink/kernel/call';
import type { ZLinkError } from '@zlink/kernel/errors';
import { resolveOutbound, resolveRequest, type Sendable } from '@zlink/kernel/message';

/** Nothing is sent before `submit`; where the way is missing (no such channel, no client role) it is `submit` that rejects. */
export interface RouteClient {
  /**
   * A one-way message to one server of the channel.
   *
   * @param channelName - as registered by `addClientServerChannel`
   * @param message - made by a packet descriptor, by `ZLinkMessage.from`, or an instance of a class
   * @throws ZLinkError `InvalidOperation` if the message has no packet name
   * @see CHAN-001, MSG-003
   */
  sendToChannel(channelName: string, message: Sendable): SendCall;
  /**
   * A request to one server of the channel.
   *
   * @param channelName - as registered by `addClientServerChannel`
   * @param request - as `sendToChannel`; a request descriptor also types the reply
   * @throws ZLinkError `InvalidOperation` if the message has no packet name, or its descriptor declares it as one-way
   * @see CHAN-001, MSG-003, MSG-006
   */
  requestToChannel<R>(channelName: string, request: Sendable<R>): RequestCall<R>;
}

/** @param pathTo - the way of a channel's calls, or why there is none */
export function createRouteClient(pathTo: (channelName: string) => CallPath | ZLinkError): RouteClient {
  return Object.freeze({
    sendToChannel: (channelName: string, message: Sendable) =>
      new SendBuilder(pathTo(channelName), resolveOutbound(message)),
    requestToChannel: <R>(channelName: string, request: Sendable<R>) =>
      new RequestBuilder<R>(pathTo(channelName), resolveRequest(request, 'sendToChannel')),
  });
}
