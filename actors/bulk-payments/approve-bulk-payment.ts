/**
 * Follows the end of a file's approval: each payment of the file moves as a payment with an approval of its own would.
 */
import { AFTER_RUN } from '../../lib/bulk-payments/bulk-payment.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { together } from '../../lib/decisions/merge.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { PaymentCommand, PaymentState, Withdrawal } from '../../lib/payments/payment-state.ts'
import { queueDelayMs } from '../../lib/sandbox/triggers.ts'
import { endingOf, type ApprovalTx } from '../../storage/approvals/approvals.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import {
  editorsOfPayees,
  noteDecided,
  unchangedPayees,
  waitingPayments,
  wakeBulk,
} from '../../storage/bulk-payments/bulk-runs.ts'
import { lockBulk } from '../../storage/bulk-payments/bulk-payments.ts'
import { payingProblem } from '../../lib/balances/staff-hold.ts'
import { transitionProblem } from '../../lib/base/problems.ts'
import { stoppedPayer } from '../../storage/balances/staff-holds.ts'
import { readPayments } from '../../storage/payments/payment-states.ts'
import type { ApprovalSubject } from '../approvals/approval-subject.ts'
import { dueOf, withdrawalOf } from '../payments/approve-payment.ts'
import type { Afterwards } from '../approvals/decision-transaction.ts'
import type { PaymentQueue } from '../payments/payment-queue.ts'

/** The number of payments moved in one transaction: small enough for one commit. */
const LOT = 64

/** The behaviour of bulk payments as subjects of approvals. `nudge` is called when there are payments to follow. */
export function bulkPaymentSubject({ nudge }: { readonly nudge: () => void }): ApprovalSubject {
  return {
    async blocked({ client }, { subjectId }, decision) {
      const bulk = await lockBulk(client, subjectId)
      if (bulk?.status !== 'submitting')
        return decision === 'approved' ? payingProblem(await stoppedPayer(client, subjectId), 'pay') : null
      return transitionProblem('The payments of the bulk payment are still being created.', bulk.status, AFTER_RUN)
    },
    async shapedBy({ client }, { subjectId }) {
      // Edits of payees count from the creation of the bulk payment, because its payments use the payees as they were
      // then.
      const bulk = await lockBulk(client, subjectId)
      return bulk === null ? [] : await editorsOfPayees(client, subjectId, bulk.createdAt)
    },
    async ended({ client, now }, { subjectId }) {
      // The payments follow later, in lots, because there may be a hundred thousand.
      await wakeBulk(client, subjectId, now)
      return { after: nudge }
    },
  }
}

export interface FollowDeps {
  readonly queue: Pick<PaymentQueue, 'offer'>
  readonly sandbox: boolean
}

/**
 * Moves the next payments that waited for an ended approval. One commit moves them all, with their versions as fences,
 * and records the progress; the following payments are due at `dueAt`.
 *
 * @returns false when no payment waits any more
 */
export async function followApproval(
  deps: FollowDeps,
  tx: ApprovalTx,
  bulkPaymentId: string,
  dueAt: number,
  afterwards: Afterwards,
): Promise<boolean> {
  const { client } = tx
  // While this lock is held, no approval can end and make the bulk payment due again.
  const bulk = await lockBulk(client, bulkPaymentId)
  const ending = bulk === null || bulk.approvalId === null ? null : await endingOf(client, bulk.approvalId)
  const waiting = ending === null ? [] : await waitingPayments(client, bulkPaymentId, LOT)
  const last = waiting.at(-1)
  if (ending === null || last === undefined) {
    await wakeBulk(client, bulkPaymentId, null)
    return false
  }
  const ids = waiting.map(({ paymentId }) => paymentId)
  const [states, unchanged] = [await readPayments(client, ids), await unchangedPayees(client, ids)]
  let effects: Effects = {}
  for (const id of ids) {
    const payment = states.get(id)
    if (payment === undefined) throw new Error(`The payment ${id} has vanished.`)
    const moved = await move(
      deps,
      tx,
      payment,
      ending.status !== 'approved' ? withdrawalOf(ending) : unchanged.has(id) ? null : CHANGED,
    )
    effects = together(effects, moved.effects)
    if (moved.after !== null) afterwards.push(moved.after)
  }
  await writeEffects(tx, effects)
  await noteDecided(client, bulkPaymentId, last.rowNumber, dueAt)
  return true
}

const CHANGED: Withdrawal = withdrawalOf({ status: 'cancelled', reason: 'recipient_changed' })

async function move(
  { queue, sandbox }: FollowDeps,
  { client, ids, now }: ApprovalTx,
  payment: PaymentState,
  withdrawal: Withdrawal | null,
): Promise<{ readonly effects: Effects; readonly after: (() => void) | null }> {
  const due = payment.holdId === null && withdrawal === null ? await dueOf(client, payment, now) : null
  const delayMs =
    due !== null || !sandbox
      ? 0
      : queueDelayMs({
          amountMinor: payment.amount,
          reference: payment.reference,
          recipientName: payment.recipientName,
        })
  const command: PaymentCommand =
    withdrawal === null
      ? {
          kind: 'approve',
          context: { ids, ...(due === null ? {} : { due }), ...(delayMs === 0 ? {} : { notBefore: now + delayMs }) },
        }
      : { kind: 'withdraw', from: 'pending_approval', withdrawal, context: { ids } }
  const { reply, effects } = movePayment(payment, command, now)
  // The payment was withdrawn meanwhile, so it no longer waits.
  if (reply.kind !== 'moved') return { effects: {}, after: null }
  const { id, shard, status } = reply.state
  return {
    effects: effects ?? {},
    after: status === 'processing' && delayMs === 0 ? () => queue.offer(id, shard) : null,
  }
}
