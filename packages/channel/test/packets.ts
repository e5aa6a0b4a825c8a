/** The packets of the tests, as an application would share them between nodes. */
import { message, request } from '@zlink/kernel/message';

/** Answered with whatever the handler of the test makes of it. */
export const Ask = request<unknown, unknown>('match.ask');
export const Notice = message<{ text: string }>('system.notice');
