/** RouteMesh, select-one, ClientServer and Classic fanout. */
import type { Chapter } from '../../scenario.ts';
import { clientServer } from './client-server.ts';
import { fanout } from './fanout.ts';
import { mesh } from './mesh.ts';
import { selection } from './selection.ts';

export const channels: Chapter = {
  topic: 'channels',
  scenarios: [...mesh, ...selection, ...clientServer, ...fanout],
};
