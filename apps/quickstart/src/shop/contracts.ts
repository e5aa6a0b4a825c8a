/** What the shop's processes say to each other: declared once, typed on both sides. */
import { message, request } from '@zlink/framework';

/** The channel that the servers serve and the client calls. */
export const SHOP = 'shop';

export interface Order {
  readonly orderId: number;
  readonly unitCents: number;
  readonly count: number;
}

/** Every answer says who gave it, so that the demo can compare both sides' counts. */
export interface Answer {
  readonly orderId: number;
  readonly servedBy: string;
}

/** Answered at once. */
export const Quote = request<Order, Answer & { readonly totalCents: number }>('shop.quote');

/** Takes the server a while: there is always one in hand when a server is drained or killed. */
export const Invoice = request<{ readonly orderId: number }, Answer>('shop.invoice');

/** One-way: nobody answers. */
export const Viewed = message<{ readonly page: string }>('shop.viewed');
