/** Configuration of a fanout channel: what the builder collects and the checks of the start. */
import { type HandlerTable, requireServices } from '@zlink/kernel/dispatch';
import { checkName, DIALABLE_ENDPOINT, isDialable, type ValidationContext } from '@zlink/kernel/internal/host';
import {
  type CheckedPublisher,
  checkPublisher,
  newPublisherOptions,
  type PublisherOptions,
} from './publisher/publisher-options.ts';
import { FanoutHandlers } from './subscriber/fanout-handlers.ts';

export interface FanoutOptions {
  readonly publisher: PublisherOptions;
  /** Publishers are discovered. */
  isAutomatic: boolean;
  /** Publishers given by hand. */
  readonly endpoints: string[];
  readonly handlers: FanoutHandlers;
  /** Roles that were asked for a second time. */
  readonly duplicates: string[];
}

/** What the checks of the start have made of a description. */
export interface CheckedFanout {
  /** Undefined: this process does not publish. */
  readonly publisher: CheckedPublisher | undefined;
  /** Undefined: it does not subscribe. */
  readonly subscriber: CheckedSubscriber | undefined;
}

interface CheckedSubscriber {
  /** Undefined: they are discovered. */
  readonly endpoints: readonly string[] | undefined;
  /** By rank. */
  readonly handlers: readonly HandlerTable[];
}

export function newFanoutOptions(where: string): FanoutOptions {
  return {
    publisher: newPublisherOptions(),
    isAutomatic: false,
    endpoints: [],
    handlers: new FanoutHandlers(where),
    duplicates: [],
  };
}

export function checkFanout(
  channelName: string,
  where: string,
  options: FanoutOptions,
  context: ValidationContext,
): CheckedFanout {
  const { problems } = context;
  checkName('channel name', channelName, problems);
  for (const role of options.duplicates) problems.note(`${where}: the ${role} role is registered twice`);
  const publisher = checkPublisher(where, options.publisher, context);
  const subscriber = checkSubscriber(where, options, context);
  if (options.publisher.listen === undefined && subscriber === undefined) {
    problems.note(
      `${where}: it neither publishes nor subscribes: call enablePublisher(), enableSubscriber() or connect(endpoint)`,
    );
  }
  return { publisher, subscriber };
}

/** @returns undefined: there is no subscriber */
function checkSubscriber(
  where: string,
  options: FanoutOptions,
  context: ValidationContext,
): CheckedSubscriber | undefined {
  const { problems, services, dialProblem } = context;
  const { isAutomatic, endpoints } = options;
  const handlers = options.handlers.freeze(problems);
  for (const table of handlers) requireServices(table.classes(), where, services, problems);
  if (!isAutomatic && endpoints.length === 0) {
    if (!options.handlers.isEmpty) {
      problems.note(`${where}: there is no subscriber for its handlers, call enableSubscriber() or connect(endpoint)`);
    }
    return undefined;
  }
  checkPublishers(`${where} subscriber`, options, context);
  if (dialProblem !== undefined) problems.note(`${where} subscriber: ${dialProblem}`);
  if (options.handlers.isEmpty) problems.note(`${where} subscriber: no handler is registered, call addHandler`);
  return { endpoints: isAutomatic ? undefined : endpoints, handlers };
}

function checkPublishers(where: string, { isAutomatic, endpoints }: FanoutOptions, context: ValidationContext): void {
  const { problems, hasLocationStore } = context;
  for (const endpoint of endpoints) {
    if (!isDialable(endpoint)) problems.add(`${where} connect`, endpoint, DIALABLE_ENDPOINT);
  }
  if (!isAutomatic) return;
  if (endpoints.length > 0) {
    problems.note(
      `${where}: enableSubscriber() and connect(endpoint) exclude each other: publishers are found or given`,
    );
  }
  if (!hasLocationStore) {
    problems.note(
      `${where}: enableSubscriber() needs a location store, register one with host.addLocationStore(store)`,
    );
  }
}
