/** The statuses of a customer, from its first draft to its closure. */
export const CUSTOMER_STATUSES = [
  'draft',
  'onboarding',
  'in_review',
  'info_required',
  'active',
  'restricted',
  'suspended',
  'rejected',
  'closing',
  'closed',
] as const
export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number]
