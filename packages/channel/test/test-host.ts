/** A host of route meshes, composed by hand, with what applications describe and call them with. */
import {
  builderOf,
  type PeerStatus,
  RouteMesh,
  type RouteMeshBuilder,
  type RouteMeshRuntime,
  runtimeOf,
} from '@zlink/channel';
import { RequestBuilder, SendBuilder } from '@zlink/kernel/call';
import { resolveOutbound, type Sendable } from '@zlink/kernel/message';
import { TopicHost, type TopicHostOptions, type TopicHostPlace } from '@zlink/testing/internal';

export type TestHostOptions = TopicHostOptions;

export class TestHost extends TopicHost<RouteMesh> {
  constructor(place: TopicHostPlace, options: TestHostOptions) {
    super(place, options, (meshName, requireConfiguring) => new RouteMesh(meshName, requireConfiguring));
  }

  mesh(meshName: string): RouteMesh {
    return this.topic(meshName);
  }

  /** What an application describes a mesh with. */
  builder(meshName: string): RouteMeshBuilder {
    return builderOf(this.mesh(meshName));
  }

  /** What an application holds of it at run time. */
  runtime(meshName: string): RouteMeshRuntime {
    return runtimeOf(this.mesh(meshName));
  }

  peers(meshName: string): readonly PeerStatus[] {
    return this.runtime(meshName).peers.list();
  }

  sendToNode(meshName: string, rid: string, message: Sendable): SendBuilder {
    return new SendBuilder(this.mesh(meshName).nodePath(rid), resolveOutbound(message));
  }

  requestToNode<R>(meshName: string, rid: string, request: Sendable<R>): RequestBuilder<R> {
    return new RequestBuilder<R>(this.mesh(meshName).nodePath(rid), resolveOutbound(request));
  }

  sendToChannel(meshName: string, channelName: string, message: Sendable): SendBuilder {
    return new SendBuilder(this.mesh(meshName).channelPath(channelName), resolveOutbound(message));
  }

  requestToChannel<R>(meshName: string, channelName: string, request: Sendable<R>): RequestBuilder<R> {
    return new RequestBuilder<R>(this.mesh(meshName).channelPath(channelName), resolveOutbound(request));
  }
}
