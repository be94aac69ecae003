/** Deletes a recipient. */
import { withdrawReviews, lockPendingReviews, statusEvent } from './review-recipient.ts'
import { refuse } from '../../lib/base/problems.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import { schedulesTo } from '../../storage/scheduled-payments/scheduled-payments.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import {
  lockRecipientOf,
  recipientTransaction,
  makerOf,
  writeRecipientTrail,
  type RecipientDeps,
} from './change-recipient.ts'

/** The maximum number of payments that are named when they prevent a deletion. */
const NAMED_MAX = 20

/**
 * Deletes a recipient that no unfinished payment and no schedule uses.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `recipient-in-use`
 */
export async function deleteRecipient(
  deps: RecipientDeps,
  by: Caller,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const maker = makerOf(by)
  const { customerId } = maker
  await recipientTransaction(deps, async (tx) => {
    const { client, now } = tx
    const pending = await lockPendingReviews(tx, id)
    const before = await lockRecipientOf(tx, by, id, expected)
    const customer = await rows.recipientCustomer(client, customerId)
    const paymentIds = await rows.openPaymentsTo(client, {
      customerId,
      recipientId: id,
      shard: customer.shard,
      max: NAMED_MAX,
    })
    const scheduledPaymentIds = await schedulesTo(client, id, NAMED_MAX)
    if (paymentIds.length > 0 || scheduledPaymentIds.length > 0) {
      refuse('recipient-in-use', 'Payments under way or scheduled payments use the recipient.', {
        extra: { paymentIds, scheduledPaymentIds },
      })
    }
    await withdrawReviews(tx, id, pending, 'recipient_deleted', maker.trail)
    const { status, approval } = before.view
    await rows.setRecipientState(client, id, {
      status: 'deleted',
      approval: approval?.status === 'pending' ? { ...approval, status: 'cancelled' } : approval,
      now,
    })
    await writeRecipientTrail(tx, maker, 'recipient.deleted', id, { before, after: null })
    await writeEffects(tx, {
      events: [statusEvent(tx, customer, { id, customerId, status: 'deleted', previousStatus: status })],
    })
  })
  await deps.forget(id)
}
