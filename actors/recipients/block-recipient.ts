/** Blocks and unblocks a recipient. */
import { statusEvent } from './review-recipient.ts'
import { pauseSchedulesTo } from '../scheduled-payments/change-schedule.ts'
import { refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { recipientTransaction, type RecipientDeps } from './change-recipient.ts'
import { cancelWaiting, NOTHING_WAITS, waitingFor } from './waiting-payments.ts'

/**
 * Blocks an active recipient from being paid, or unblocks it; for staff. A block cancels the payments that wait, and
 * pauses the schedules that pay the recipient.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function blockRecipient(
  deps: RecipientDeps,
  by: Caller,
  id: string,
  { blocked, reason }: { readonly blocked: boolean; readonly reason: string | null },
): Promise<void> {
  const waiting = await recipientTransaction(deps, async (tx) => {
    const { client, now } = tx
    const customerId = await rows.customerOfRecipient(client, by.tenant.id, id)
    const before = customerId === null ? null : await rows.lockRecipient(client, customerId, id)
    if (customerId === null || before === null) refuseNotFound()
    const { status } = before.view
    const [from, to] = blocked ? (['active', 'blocked'] as const) : (['blocked', 'active'] as const)
    if (status !== from) refuseTransition(`The recipient is ${status}.`, status, [from])
    await rows.setRecipientState(client, id, { status: to, approval: before.view.approval, now })
    const customer = await rows.recipientCustomer(client, customerId)
    await writeEffects(tx, {
      events: [statusEvent(tx, customer, { id, customerId, status: to, previousStatus: from })],
    })
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: blocked ? 'recipient.blocked' : 'recipient.unblocked',
      object: { type: 'recipient', id },
      before: { status: from },
      after: { status: to, reason, customerId },
    })
    if (!blocked) return NOTHING_WAITS
    const waiting = await waitingFor(client, customerId, id)
    await pauseSchedulesTo(tx, id)
    return waiting
  })
  await deps.forget(id)
  await cancelWaiting(deps, by, waiting)
}
