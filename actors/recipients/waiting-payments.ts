/** Payments that wait to be sent to a recipient, and their cancellation when the recipient changes. */
import { withdrawWaiting } from '../payments/cancel-payment.ts'
import { RECIPIENT_CHANGED } from '../../lib/payments/release-payment.ts'
import { batchPaymentsTo } from '../../storage/bulk-payments/bulk-runs.ts'
import { pendingPaymentApprovals } from '../../storage/approvals/approvals.ts'
import { scheduledPaymentsTo } from '../../storage/payments/due-payments.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { RecipientDeps } from './change-recipient.ts'

/**
 * The ids of everything that waits to pay a recipient: approvals, payments that wait for their date, and payments that
 * wait for the approval of their file.
 */
export interface Waiting {
  readonly approvals: readonly string[]
  readonly payments: readonly string[]
  readonly batchPayments: readonly string[]
}

export const NOTHING_WAITS: Waiting = { approvals: [], payments: [], batchPayments: [] }

/** Finds the payments to a recipient that wait for approval or for their date. */
export async function waitingFor(client: TransactionClient, customerId: string, id: string): Promise<Waiting> {
  return {
    approvals: await pendingPaymentApprovals(client, customerId, id),
    payments: await scheduledPaymentsTo(client, customerId, id),
    batchPayments: await batchPaymentsTo(client, customerId, id),
  }
}

/** Cancels the payments that wait, because the recipient has changed. */
export async function cancelWaiting(deps: RecipientDeps, by: Caller, waiting: Waiting): Promise<void> {
  for (const approvalId of waiting.approvals)
    await deps.approvals.cancel({ approvalId, reason: 'recipient_changed', by: auditCaller(by) })
  const withdrawal = { status: 'cancelled', reason: RECIPIENT_CHANGED, by: 'system' } as const
  for (const paymentId of waiting.payments) await withdrawWaiting(deps, paymentId, 'scheduled', withdrawal, null)
  for (const paymentId of waiting.batchPayments)
    await withdrawWaiting(deps, paymentId, 'pending_approval', withdrawal, null)
}
