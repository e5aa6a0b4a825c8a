/** The packets of the tests, as an application would share them between both sides. */
import { message, request } from '@zlink/kernel/message';

export const News = message<{ text?: string; seq?: number }>('news.item');
export const Alert = message<{ level: number }>('news.alert');
export const Ask = request<unknown, unknown>('news.ask');
