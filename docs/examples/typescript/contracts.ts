// contracts.ts
import { message, request } from '@zlink/framework';

export interface Order {
  readonly orderId: string;
  readonly amount: number;
}

export interface Receipt {
  readonly receipt: string;
}

export const Charge = request<Order, Receipt>('billing.charge');
export const Notice = message<{ readonly text: string }>('billing.notice');
