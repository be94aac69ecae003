/** The first sign-in of an owner begins the onboarding of a draft customer. */
import { moveCustomer } from '../../storage/balances/closure.ts'
import { lockDraftsOfOwner, tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'

/** Moves the draft customers of a person who signs in as their owner; for all others it does nothing. */
export async function beginOnboarding(tx: ChangeTransaction, userId: string, by: AuditBy): Promise<void> {
  const { client, ids, now } = tx
  for (const customerId of await lockDraftsOfOwner(client, userId)) {
    await moveCustomer(client, customerId, { to: 'onboarding', now })
    await tellCustomerStatus(client, {
      customerId,
      status: 'onboarding',
      previousStatus: 'draft',
      id: ids.next(),
      now,
    })
    await recordChange(tx, by, customerId, {
      action: 'customer.onboarding_begun',
      object: { type: 'customer', id: customerId },
      before: { status: 'draft' },
      after: { status: 'onboarding' },
    })
  }
}
