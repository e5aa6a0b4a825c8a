/** The packets of the tests, as an application would share them between both sides. */
import { message, request } from '@zlink/kernel/message';

export const Charge = request<{ orderId: string }, { receipt: string }>('billing.charge');
/** Answered with whatever the handler of the test makes of it. */
export const Ask = request<unknown, unknown>('billing.ask');
export const Notice = message<{ text: string }>('system.notice');
