/** The first sign-in of an owner, or the first change of the case, begins the onboarding of a draft customer. */
import { moveCustomer } from '../../storage/balances/closure.ts'
import { lockDraftsOfOwner, tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'

/** Moves the draft customers of a person who signs in as their owner; for all others it does nothing. */
export async function beginOnboarding(tx: ChangeTransaction, userId: string, by: AuditBy): Promise<void> {
  for (const customerId of await lockDraftsOfOwner(tx.client, userId)) await beginOnboardingOf(tx, customerId, by)
}

/** Moves a locked draft customer to its onboarding. */
export async function beginOnboardingOf(tx: ChangeTransaction, customerId: string, by: AuditBy): Promise<void> {
  const { client, ids, now } = tx
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
