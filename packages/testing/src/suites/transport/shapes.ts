/** The two kinds of links: who dials whom, and which rules differ. */
import type { DuplicatePolicy } from '@zlink/kernel/internal/transport';
import { EndpointKind } from '@zlink/kernel/internal/wire';

export interface Shape {
  readonly title: string;
  readonly dials: EndpointKind;
  readonly listens: EndpointKind;
  readonly dialPolicy: DuplicatePolicy;
  readonly listenPolicy: DuplicatePolicy;
  /** Both sides listen, and dial in the name of their listener. */
  readonly symmetric: boolean;
}

export const clientServer: Shape = {
  title: 'ClientServer',
  dials: EndpointKind.channelClient,
  listens: EndpointKind.channelServer,
  dialPolicy: 'firstAdmitted',
  listenPolicy: 'every',
  symmetric: false,
};

export const routeMesh: Shape = {
  title: 'RouteMesh',
  dials: EndpointKind.meshNode,
  listens: EndpointKind.meshNode,
  dialPolicy: 'smallerRid',
  listenPolicy: 'smallerRid',
  symmetric: true,
};

export const shapes: readonly Shape[] = [clientServer, routeMesh];
