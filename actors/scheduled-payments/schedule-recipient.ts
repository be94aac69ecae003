/** The recipient of a schedule. */
import { payeeOnPlatform } from '../providers/routing/route-payment.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import type { PayableRecipient } from '../../storage/recipients/recipient-cache.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ScheduledPaymentDeps } from './write-schedule.ts'
import type { RecipientStatus } from '../../lib/recipients/review.ts'

/** A recipient, and whether the rail `internal` can carry payments to it. */
export type ScheduleRecipient = PayableRecipient & { readonly onPlatform: boolean }

/**
 * Reads the current recipient, bypassing the cache of this node. Uses a connection of its own, so call it outside
 * transactions.
 */
export async function readRecipient(deps: ScheduledPaymentDeps, id: string): Promise<ScheduleRecipient | null> {
  deps.recipients.forget(id)
  const recipient = await deps.recipients.find(id)
  return recipient === null ? null : { ...recipient, onPlatform: payeeOnPlatform(recipient) !== null }
}

/** Refuses a recipient that is not the customer's own. @throws ProblemError `validation-error` */
export function ofCustomer(by: Caller, found: ScheduleRecipient | null): ScheduleRecipient {
  return found === null || found.customerId !== by.tenant.id
    ? refuseField('/recipientId', 'not_found', 'No such recipient.')
    : found
}

/** Refuses a recipient that cannot be paid. @throws ProblemError `recipient-not-approved` */
export function checkPayable(status: RecipientStatus | null): void {
  if (status !== 'active')
    refuse('recipient-not-approved', `The recipient is ${status ?? 'deleted'}.`, {
      extra: { recipientStatus: status ?? 'deleted' },
    })
}
