/** Times that the shop keeps and that its pages speak of. */

/** How long an invoice takes a server. */
export const invoiceMs = 250;
