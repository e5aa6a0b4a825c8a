/** Errors and contexts as plain data: what an application could see of them, nothing else. */
import {
  ConfigurationError,
  type DispatchKind,
  type ErrorKindName,
  type Flow,
  isZLinkError,
  type Metadata,
  ZLinkError,
} from '@zlink/framework';
import type { ContextFacts, ErrorFacts } from './plan.ts';

export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) {
    const text = String(error);
    return {
      name: typeof error,
      isZLinkError: false,
      isConfigurationError: false,
      message: text,
      hasCause: false,
      keys: [],
    };
  }
  const isTyped = error instanceof ZLinkError && isZLinkError(error);
  const { kind, submitted } = error as Partial<{ kind: ErrorKindName; submitted: boolean }>;
  return {
    name: error.name,
    isZLinkError: isTyped,
    isConfigurationError: error instanceof ConfigurationError,
    ...(kind === undefined ? {} : { kind }),
    ...(submitted === undefined ? {} : { submitted }),
    message: error.message,
    ...(error instanceof ConfigurationError ? { problems: [...error.problems] } : {}),
    hasCause: error.cause !== undefined,
    keys: Object.keys(error),
  };
}

/** What it throws, if it does. */
export function caught(run: () => void): ErrorFacts | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return errorFacts(error);
  }
}

type Seen = Partial<
  Record<
    | 'kind'
    | 'packetName'
    | 'contentType'
    | 'correlationId'
    | 'channelName'
    | 'meshName'
    | 'sourceNodeRid'
    | 'targetNodeRid'
    | 'topicText',
    string
  >
> & { topic?: Uint8Array; metadata?: Metadata; flow?: Flow; signal?: unknown };

const textNames = [
  'kind',
  'packetName',
  'contentType',
  'correlationId',
  'channelName',
  'meshName',
  'sourceNodeRid',
  'targetNodeRid',
  'topicText',
] as const;

export function contextFacts(context: object, dispatchKind?: DispatchKind): ContextFacts {
  const seen = context as Seen; // the union of all contexts, each with a part of it
  const texts = Object.fromEntries(textNames.flatMap((name) => (seen[name] === undefined ? [] : [[name, seen[name]]])));
  return {
    keys: keysOf(context),
    isFrozen: resistsWriting(context, 'packetName') && (seen.metadata === undefined || isFixed(seen.metadata)),
    ...texts,
    ...(seen.topic === undefined ? {} : { topic: Uint8Array.from(seen.topic) }),
    ...(seen.metadata === undefined ? {} : { metadata: [...seen.metadata].map(([key, value]) => [key, value]) }),
    ...(seen.flow === undefined ? {} : { flow: { id: seen.flow.id, origin: seen.flow.origin } }),
    hasSignal: seen.signal instanceof AbortSignal,
    ...(dispatchKind === undefined ? {} : { dispatchKind }),
  };
}

/** Public names of an object, those of its class included. */
function keysOf(value: object): readonly string[] {
  const keys = new Set<string>();
  for (
    let at: object | null = value;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object
  ) {
    for (const key of Object.getOwnPropertyNames(at)) if (key !== 'constructor') keys.add(key);
  }
  return [...keys].sort();
}

function isFixed(metadata: Metadata): boolean {
  return Object.isFrozen(metadata) && resistsWriting(metadata, 'size') && resistsWriting(metadata, 'anythingNew');
}

/** Whether what is written to it changes nothing. */
function resistsWriting(value: object, name: string): boolean {
  const writable = value as Record<string, unknown>;
  const before = writable[name];
  try {
    writable[name] = 'written';
  } catch {
    return true; // modules are strict
  }
  return writable[name] === before;
}
