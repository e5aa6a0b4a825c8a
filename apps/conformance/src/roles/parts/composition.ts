/**
 * A host while its parts describe it.
 *
 * Owns that two parts may speak of one channel: each builder is asked for once.
 */
import type { ClientServerChannelBuilder, FanoutChannelBuilder, Host, RouteMeshBuilder } from '@zlink/framework';
import type { Desk } from '../desk.ts';

export class Composition {
  readonly host: Host;
  readonly desk: Desk;
  readonly #clientServer = new Map<string, ClientServerChannelBuilder>();
  readonly #meshes = new Map<string, RouteMeshBuilder>();
  readonly #fanouts = new Map<string, FanoutChannelBuilder>();

  constructor(host: Host, desk: Desk) {
    this.host = host;
    this.desk = desk;
  }

  clientServer(name: string): ClientServerChannelBuilder {
    return once(this.#clientServer, name, () => this.host.addClientServerChannel(name));
  }

  mesh(name: string): RouteMeshBuilder {
    return once(this.#meshes, name, () => this.host.addRouteMesh(name));
  }

  fanout(name: string): FanoutChannelBuilder {
    return once(this.#fanouts, name, () => this.host.addFanoutChannel(name));
  }
}

function once<T>(made: Map<string, T>, name: string, make: () => T): T {
  let found = made.get(name);
  if (found === undefined) made.set(name, (found = make()));
  return found;
}
