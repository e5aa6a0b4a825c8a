/** The packets of the tests, as an application would share them between both sides. */
import { message, request } from '@zlink/framework';

export const CHANNEL = 'billing';
export const MESH = 'game';

export const Charge = request<{ orderId: string }, { receipt: string }>('billing.charge');
/** Answered with whatever the handler of the test makes of it. */
export const Ask = request<unknown, unknown>('billing.ask');
export const Notice = message<unknown>('system.notice');
/** Served by handlers that never end. */
export const Never = request<unknown, unknown>('billing.never');
