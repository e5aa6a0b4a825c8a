/** Host, messages, codecs, dispatch and errors. */
import type { Chapter } from '../../scenario.ts';
import { calls } from './calls.ts';
import { codecs } from './codecs.ts';
import { dispatch } from './dispatch.ts';
import { errors } from './errors.ts';
import { jobs } from './jobs.ts';
import { messages } from './messages.ts';
import { network } from './network.ts';
import { registration } from './registration.ts';

export const foundation: Chapter = {
  topic: 'foundation',
  scenarios: [...registration, ...network, ...messages, ...codecs, ...dispatch, ...calls, ...errors, ...jobs],
};
