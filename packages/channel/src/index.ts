export type { MeshChannelBuilder, MeshChannelServerBuilder } from './channel-roles.ts';
export { builderOf, type RouteMeshBuilder } from './mesh-builder.ts';
export { type MeshChannelRuntime, type MeshPeers, type RouteMeshRuntime, runtimeOf } from './mesh-runtime.ts';
export type { PeerStatus } from './peer-status.ts';
export { RouteMesh } from './route-mesh.ts';
