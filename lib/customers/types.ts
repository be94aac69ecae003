/** The types of customers. */
export const CUSTOMER_TYPES = ['business', 'sole_trader', 'individual'] as const
export type CustomerType = (typeof CUSTOMER_TYPES)[number]
