import { message, request } from '@zlink/framework';

export const Charge = request('billing.charge');
export const Notice = message('billing.notice');
