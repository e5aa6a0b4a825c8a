/**
 * The topics of a host and the names that lead to them: every mesh, and every ChannelName with its one path (CHAN-001).
 *
 * Owns uniqueness of names. A name that is not here is searched nowhere else; the error says which ones are.
 *
 * 1. A ChannelName leads to one path of the process, whatever its roles; what collides is reported by the start
 *    (HOSTREG-002).
 * 2. A name that is registered again leads to the same topic, so that what was said twice of it is found at start.
 */
import { RouteMesh } from '@zlink/channel';
import { ClientServerChannel } from '@zlink/clientserver';
import { type EventPath, FanoutChannel } from '@zlink/fanout';
import type { CallPath, CallPaths } from '@zlink/kernel/call';
import { describeValue, type Problems, ZLinkError } from '@zlink/kernel/errors';
import type { Topic, ValidationContext } from '@zlink/kernel/internal/host';
import { didYouMean } from '@zlink/kernel/internal/options';

/** One place that a ChannelName leads to. */
interface ChannelPlace {
  readonly where: string;
  path(): CallPath | ZLinkError;
}

type TopicKind = 'mesh' | 'channel' | 'fanout channel';

export class TopicIndex implements CallPaths {
  /** In order of registration. */
  readonly #topics: Topic[] = [];
  readonly #meshes = new Map<string, RouteMesh>();
  readonly #clientServers = new Map<string, ClientServerChannel>();
  readonly #fanouts = new Map<string, FanoutChannel>();
  readonly #repeatedMeshes: string[] = [];
  /** By ChannelName; complete once it is validated. */
  readonly #places = new Map<string, ChannelPlace>();

  get topics(): readonly Topic[] {
    return this.#topics;
  }

  /** A second mesh of a name adds to the first, and is reported by `validate`. */
  addMesh(meshName: string, requireOpen: () => void): RouteMesh {
    if (this.#meshes.has(meshName)) this.#repeatedMeshes.push(meshName);
    return this.#add(this.#meshes, meshName, () => new RouteMesh(meshName, requireOpen));
  }

  addClientServer(channelName: string, requireOpen: () => void): ClientServerChannel {
    return this.#add(this.#clientServers, channelName, () => new ClientServerChannel(channelName, requireOpen));
  }

  addFanout(channelName: string, requireOpen: () => void): FanoutChannel {
    return this.#add(this.#fanouts, channelName, () => new FanoutChannel(channelName, requireOpen));
  }

  validate(context: ValidationContext): void {
    for (const topic of this.#topics) topic.validate(context);
    for (const meshName of this.#repeatedMeshes) {
      context.problems.note(`mesh ${describeValue(meshName)}: it is registered twice`);
    }
    this.#placeChannels(context.problems);
  }

  mesh(meshName: string): RouteMesh {
    return find(this.#meshes, meshName, 'mesh');
  }

  clientServer(channelName: string): ClientServerChannel {
    return find(this.#clientServers, channelName, 'channel');
  }

  fanout(channelName: string): FanoutChannel {
    return find(this.#fanouts, channelName, 'fanout channel');
  }

  toChannel(channelName: string): CallPath | ZLinkError {
    return this.#places.get(channelName)?.path() ?? notRegistered('channel', channelName, this.#places.keys());
  }

  toNode(meshName: string, rid: string): CallPath | ZLinkError {
    return this.#meshes.get(meshName)?.nodePath(rid) ?? notRegistered('mesh', meshName, this.#meshes.keys());
  }

  toFanout(channelName: string): EventPath | ZLinkError {
    return this.#fanouts.get(channelName)?.path ?? notRegistered('fanout channel', channelName, this.#fanouts.keys());
  }

  #add<T extends Topic>(topics: Map<string, T>, name: string, make: () => T): T {
    const known = topics.get(name);
    if (known !== undefined) return known; // 2
    const topic = make();
    topics.set(name, topic);
    this.#topics.push(topic);
    return topic;
  }

  #placeChannels(problems: Problems): void {
    for (const [channelName, channel] of this.#clientServers) {
      this.#place(channelName, { where: 'as a ClientServer channel', path: () => channel.path }, problems);
    }
    for (const channelName of this.#fanouts.keys()) {
      this.#place(channelName, { where: 'as a fanout channel', path: () => notCalled(channelName) }, problems);
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

function find<T>(topics: ReadonlyMap<string, T>, name: string, kind: TopicKind): T {
  const topic = topics.get(name);
  if (topic !== undefined) return topic;
  throw notRegistered(kind, name, topics.keys());
}

function notCalled(channelName: string): ZLinkError {
  return new ZLinkError(
    'NotFound',
    `channel ${describeValue(channelName)} is a fanout channel, which has publishers and no servers`,
  );
}

function notRegistered(kind: TopicKind, name: string, registered: Iterable<string>): ZLinkError {
  const names = [...registered];
  const shown = names.slice(0, NAMES_SHOWN).map(describeValue).join(', ');
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  const text = `${kind} ${describeValue(name)} is not registered in this process`;
  const known = `; registered: ${shown === '' ? 'none' : shown + more}`;
  return new ZLinkError('NotFound', text + didYouMean(name, names) + known);
}
