/** A case of the transport suite: a title with its requirement ids, and what happens on a rig. */
import type { TransportRig } from './rig.ts';
import { type Shape, shapes } from './shapes.ts';

export interface RigCase {
  readonly title: string;
  act(rig: TransportRig): Promise<void>;
  /** The case needs faults that cannot be caused through the port. */
  readonly needsFaults?: boolean;
}

/** The same case for each kind of link. */
export function onEachShape(title: string, act: (rig: TransportRig, shape: Shape) => Promise<void>): RigCase[] {
  return shapes.map((shape) => ({ title: `${title} (${shape.title})`, act: (rig) => act(rig, shape) }));
}
