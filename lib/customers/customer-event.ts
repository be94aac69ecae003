/** The events that tell an operator of its customers. Pure. */
import type { OutboxEvent } from '../decisions/effects.ts'
import type { CustomerStatus } from './status.ts'

/** A customer's way from a status to another; null before it was made. `at` is epoch milliseconds. */
export interface CustomerMove {
  readonly customerId: string
  readonly status: CustomerStatus
  readonly previousStatus: CustomerStatus | null
  /** The id of the event. */
  readonly id: string
  readonly now: number
}

/** Makes the event of a new customer, or of a customer's new status. */
export const customerEvent = (
  { customerId, status, previousStatus, id, now }: CustomerMove,
  { operatorId, shard }: { readonly operatorId: string; readonly shard: number },
): OutboxEvent => ({
  id,
  createdAt: now,
  customerId,
  operatorId,
  shard,
  type: previousStatus === null ? 'customer.created' : 'customer.status_changed',
  object: 'customer',
  objectId: customerId,
  status,
  previousStatus,
  amount: null,
  currency: null,
})
