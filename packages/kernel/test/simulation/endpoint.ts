/**
 * The endpoints of a run: what they say of themselves goes into the store.
 *
 * Owns the facts, and every version of them that ever was. Leaves writing them to the publication.
 */
import type { OwnFacts, Publication, PublicationSource } from '../../src/internal/discovery/discovery.ts';

export const games = { kind: 'clientServer', name: 'games' } as const;
export const arena = { kind: 'mesh', name: 'arena' } as const;

export type Kind = 'clientServer' | 'mesh';
type AnyFacts = OwnFacts<'clientServer'> | OwnFacts<'mesh'>;
/** Every version of every endpoint that ever was. */
export type Truths = Set<string>;

export class Endpoint<K extends Kind> implements PublicationSource<K> {
  readonly kind: K;
  readonly ownerId: string;
  publication: Publication | undefined;
  readonly #truths: Truths;
  #facts: OwnFacts<K>;

  constructor(kind: K, facts: OwnFacts<K>, ownerId: string, truths: Truths) {
    this.kind = kind;
    this.ownerId = ownerId;
    this.#truths = truths;
    this.#facts = facts;
    this.#note();
  }

  facts(): OwnFacts<K> {
    return this.#facts;
  }

  get words(): string {
    return wordsOf(this.kind, this.#facts as AnyFacts, this.ownerId); // K is one of both kinds
  }

  raise(): void {
    this.#facts = { ...this.#facts, revision: this.#facts.revision + 1n };
    this.#note();
  }

  change(facts: Partial<OwnFacts<K>>): void {
    this.#facts = { ...this.#facts, ...facts, revision: this.#facts.revision + 1n };
    this.#note();
    this.publication?.changed();
  }

  #note(): void {
    this.#truths.add(this.words);
  }
}

export function wordsOf(kind: Kind, facts: AnyFacts, ownerId: string): string {
  const { rid, name, lifecycleGeneration, revision, state, endpoint } = facts;
  const weight = 'weight' in facts ? facts.weight : facts.placementWeight;
  return [kind, name, rid, lifecycleGeneration, revision, state, endpoint, weight, ownerId].join(' ');
}

export function serverFacts(rid: string, lifecycleGeneration: bigint): OwnFacts<'clientServer'> {
  const endpoint = `tcp://${rid}:7000`;
  return { name: games.name, rid, lifecycleGeneration, revision: 1n, endpoint, state: 'starting', weight: 100 };
}

export function nodeFacts(rid: string, lifecycleGeneration: bigint): OwnFacts<'mesh'> {
  return {
    name: arena.name,
    rid,
    lifecycleGeneration,
    revision: 1n,
    endpoint: `tcp://${rid}:7000`,
    state: 'starting',
    objectRole: 'none',
    channels: [{ name: 'chat', weight: 100 }],
    placementWeight: 100,
    limits: { actors: 0, spots: 0 },
    types: [],
    applicationVersion: 1n,
  };
}
