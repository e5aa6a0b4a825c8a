/**
 * The topics of a host and the names that lead to them: every mesh, and every ChannelName with its one path (CHAN-001).
 *
 * Owns uniqueness of names. A name that is not here is searched nowhere else; the error says which ones are.
 *
 * 1. A ChannelName leads to one path of the process, whatever its roles; what collides is reported by the start
 *    (HOSTREG-002).
 */
import { RouteMesh } from '@zlink/channel';
import { ClientServerChannel } from '@zlink/clientserver';
import type { CallPath, CallPaths } from '@zlink/kernel/call';
import { describeValue, type Problems, ZLinkError } from '@zlink/kernel/errors';
import type { Topic, ValidationContext } from '@zlink/kernel/internal/host';
import { didYouMean } from './options/did-you-mean.ts';

/** One place that a ChannelName leads to. */
interface ChannelPlace {
  readonly where: string;
  path(): CallPath | ZLinkError;
}

export class TopicIndex implements CallPaths {
  /** In order of registration. */
  readonly #topics: Topic[] = [];
  readonly #meshes = new Map<string, RouteMesh>();
  readonly #clientServers = new Map<string, ClientServerChannel>();
  readonly #repeatedMeshes: string[] = [];
  /** By ChannelName; complete once it is validated. */
  readonly #places = new Map<string, ChannelPlace>();

  get topics(): readonly Topic[] {
    return this.#topics;
  }

  /** A second mesh of a name adds to the first, and is reported by `validate`. */
  addMesh(meshName: string, requireOpen: () => void): RouteMesh {
    let mesh = this.#meshes.get(meshName);
    if (mesh !== undefined) {
      this.#repeatedMeshes.push(meshName);
      return mesh;
    }
    mesh = new RouteMesh(meshName, requireOpen);
    this.#meshes.set(meshName, mesh);
    this.#topics.push(mesh);
    return mesh;
  }

  /** The channel of that name; the same one for every call, so that roles registered twice are found at start. */
  addClientServer(channelName: string, requireOpen: () => void): ClientServerChannel {
    let channel = this.#clientServers.get(channelName);
    if (channel === undefined) {
      channel = new ClientServerChannel(channelName, requireOpen);
      this.#clientServers.set(channelName, channel);
      this.#topics.push(channel);
    }
    return channel;
  }

  validate(context: ValidationContext): void {
    for (const topic of this.#topics) topic.validate(context);
    for (const meshName of this.#repeatedMeshes) {
      context.problems.note(`mesh ${describeValue(meshName)}: it is registered twice`);
    }
    this.#placeChannels(context.problems);
  }

  mesh(meshName: string): RouteMesh {
    const mesh = this.#meshes.get(meshName);
    if (mesh !== undefined) return mesh;
    throw notRegistered('mesh', meshName, this.#meshes.keys());
  }

  clientServer(channelName: string): ClientServerChannel {
    const channel = this.#clientServers.get(channelName);
    if (channel !== undefined) return channel;
    throw notRegistered('channel', channelName, this.#clientServers.keys());
  }

  toChannel(channelName: string): CallPath | ZLinkError {
    return this.#places.get(channelName)?.path() ?? notRegistered('channel', channelName, this.#places.keys());
  }

  toNode(meshName: string, rid: string): CallPath | ZLinkError {
    return this.#meshes.get(meshName)?.nodePath(rid) ?? notRegistered('mesh', meshName, this.#meshes.keys());
  }

  #placeChannels(problems: Problems): void {
    for (const [channelName, channel] of this.#clientServers) {
      this.#place(channelName, { where: 'as a ClientServer channel', path: () => channel.path }, problems);
    }
    for (const [meshName, mesh] of this.#meshes) {
      const where = `in mesh ${describeValue(meshName)}`;
      for (const channelName of mesh.channelNames) {
        this.#place(channelName, { where, path: () => mesh.channelPath(channelName) }, problems);
      }
    }
  }

  #place(channelName: string, place: ChannelPlace, problems: Problems): void {
    const first = this.#places.get(channelName);
    if (first === undefined) this.#places.set(channelName, place);
    else {
      const both = `it is registered ${first.where} and ${place.where}`;
      problems.note(`channel ${describeValue(channelName)}: ${both}; a ChannelName leads to one path`); // 1
    }
  }
}

const NAMES_SHOWN = 8;

function notRegistered(what: 'mesh' | 'channel', name: string, registered: Iterable<string>): ZLinkError {
  const names = [...registered];
  const shown = names.slice(0, NAMES_SHOWN).map(describeValue).join(', ');
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  const text = `${what} ${describeValue(name)} is not registered in this process`;
  const known = `; registered: ${shown === '' ? 'none' : shown + more}`;
  return new ZLinkError('NotFound', text + didYouMean(name, names) + known);
}
