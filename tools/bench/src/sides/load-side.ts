/**
 * Sides by name. Each process loads only the one it needs, so that no side pays for another one's code.
 *
 * A `file:` URL names a module outside of this package that exports `side`.
 */
import type { DiagnosticsLevel } from '@zlink/framework';
import type { PublishingSide } from './publishing-side.ts';
import type { Side } from './side.ts';

export async function loadSide(name: string): Promise<Side> {
  switch (name) {
    case 'zeromq.js':
      return (await import('./zeromq.ts')).zeromq;
    case 'node:net':
      return (await import('./net.ts')).net;
    case 'link':
      return (await import('./link.ts')).link;
    case 'framework':
      return (await import('./framework.ts')).framework;
    case 'framework off':
    case 'framework errors':
    case 'framework normal':
    case 'framework detailed':
      return (await import('./framework.ts')).frameworkAt(name.slice('framework '.length) as DiagnosticsLevel); // one of these
    case 'framework metered':
      return (await import('./framework-metered.ts')).frameworkMetered;
    case 'mesh':
      return (await import('./mesh.ts')).mesh;
    case 'mesh node':
      return (await import('./mesh.ts')).meshNode;
    default:
      if (!name.startsWith('file:')) throw new Error(`no side is called "${name}"`);
      return ((await import(name)) as { readonly side: Side }).side;
  }
}

export async function loadPublishingSide(name: string): Promise<PublishingSide> {
  switch (name) {
    case 'zeromq.js':
      return (await import('./zeromq-pubsub.ts')).zeromqPubsub;
    case 'framework':
      return (await import('./framework-fanout.ts')).frameworkFanout;
    default:
      throw new Error(`no publishing side is called "${name}"`);
  }
}
