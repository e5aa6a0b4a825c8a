/**
 * The client that applications start calls with: to a channel, or to one node of a mesh.
 *
 * Owns the four verbs. Leaves where names lead to the composer of a host.
 */
import type { ZLinkError } from '../errors/index.ts';
import { resolveOutbound, resolveRequest, type Sendable } from '../message/index.ts';
import type { RequestCall, SendCall } from './call.ts';
import type { CallPath } from './call-path.ts';
import { RequestBuilder } from './request-call.ts';
import { SendBuilder } from './send-call.ts';

/** Nothing is sent before `submit`; where the way is missing (no such channel, mesh, node or role) it is `submit` that rejects. */
export interface RouteClient {
  /**
   * A one-way message to exactly that node.
   *
   * @param meshName - as registered by `addRouteMesh`
   * @param targetNodeRid - RID of a member of the mesh: a connected node, or one that a manual peer stands for
   * @param message - made by a packet descriptor, by `ZLinkMessage.from`, or an instance of a class
   * @throws ZLinkError `InvalidOperation` if the message has no packet name
   * @see NODE-001, MSG-003
   */
  sendToNode(meshName: string, targetNodeRid: string, message: Sendable): SendCall;
  /**
   * A request to exactly that node.
   *
   * @param meshName - as registered by `addRouteMesh`
   * @param targetNodeRid - as `sendToNode`
   * @param request - as `sendToNode`; a request descriptor also types the reply
   * @throws ZLinkError `InvalidOperation` if the message has no packet name, or its descriptor declares it as one-way
   * @see NODE-001, MSG-003, MSG-006
   */
  requestToNode<R>(meshName: string, targetNodeRid: string, request: Sendable<R>): RequestCall<R>;
  /**
   * A one-way message to one server of the channel.
   *
   * @param channelName - as registered by `addClientServerChannel`, or by `channel` of a mesh
   * @param message - made by a packet descriptor, by `ZLinkMessage.from`, or an instance of a class
   * @throws ZLinkError `InvalidOperation` if the message has no packet name
   * @see CHAN-001, MSG-003
   */
  sendToChannel(channelName: string, message: Sendable): SendCall;
  /**
   * A request to one server of the channel.
   *
   * @param channelName - as `sendToChannel`
   * @param request - as `sendToChannel`; a request descriptor also types the reply
   * @throws ZLinkError `InvalidOperation` if the message has no packet name, or its descriptor declares it as one-way
   * @see CHAN-001, MSG-003, MSG-006
   */
  requestToChannel<R>(channelName: string, request: Sendable<R>): RequestCall<R>;
}

/** Where calls go, or why there is no way: then `submit` rejects with it. */
export interface CallPaths {
  toChannel(channelName: string): CallPath | ZLinkError;
  toNode(meshName: string, rid: string): CallPath | ZLinkError;
}

export function createRouteClient(paths: CallPaths): RouteClient {
  return Object.freeze({
    sendToNode: (meshName: string, rid: string, message: Sendable) =>
      new SendBuilder(paths.toNode(meshName, rid), resolveOutbound(message)),
    requestToNode: <R>(meshName: string, rid: string, request: Sendable<R>) =>
      new RequestBuilder<R>(paths.toNode(meshName, rid), resolveRequest(request, 'sendToNode')),
    sendToChannel: (channelName: string, message: Sendable) =>
      new SendBuilder(paths.toChannel(channelName), resolveOutbound(message)),
    requestToChannel: <R>(channelName: string, request: Sendable<R>) =>
      new RequestBuilder<R>(paths.toChannel(channelName), resolveRequest(request, 'sendToChannel')),
  });
}
