/**
 * The resources that commands under an Idempotency-Key make or change, and their paths in the API; null for those that
 * are read with the resource they belong to alone.
 */
const PATHS = {
  payment: 'payments',
  transfer: 'transfers',
  exchange: 'exchanges',
  quote: 'exchanges/quotes',
  recipient: 'recipients',
  funds_request: 'funds-requests',
  mandate: 'mandates',
  collection: 'collections',
  scheduled_payment: 'scheduled-payments',
  bulk_payment: 'bulk-payments',
  balance: 'balances',
  document: 'documents',
  attachment: 'attachments',
  job: 'jobs',
  report: 'reports',
  staff_hold: 'staff-holds',
  incoming_payment: 'incoming-payments',
  incoming_debit: 'incoming-debits',
  customer: 'customers',
  adjustment: 'ledger/adjustments',
  card: 'cards',
  card_transaction: 'card-transactions',
  payment_question: null,
  payment_answer: null,
} as const

export type ResourceType = keyof typeof PATHS
export const RESOURCE_TYPES = Object.keys(PATHS) as readonly ResourceType[]

/** A resource by its kind and id. */
export interface ResourceRef {
  readonly type: ResourceType
  readonly id: string
}

/** Returns the path of a resource as the Location of the answer that makes it; none where it has no path of its own. */
export function locationOf({ type, id }: ResourceRef): { readonly location?: string } {
  const path = PATHS[type]
  return path === null ? {} : { location: `/v1/${path}/${id}` }
}
