/** What becomes of the payments of a file when their one approval ends: each goes the way of a payment with an approval of its own. */
import { AFTER_RUN } from '../../lib/bulk-payments/bulk-payment.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { together } from '../../lib/decisions/merge.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { PaymentCommand, PaymentState, Withdrawal } from '../../lib/payments/payment-state.ts'
import { queueDelayMs } from '../../lib/sandbox/triggers.ts'
import { endingOf, writeEffects, type ApprovalTx } from '../../storage/approvals/approvals.ts'
import { editorsOfPayees, noteDecided, unchangedPayees, waitingPayments, wakeBulk } from '../../storage/bulk-payments/bulk-runs.ts'
import { lockBulk } from '../../storage/bulk-payments/bulk-payments.ts'
import { readPayments } from '../../storage/payments/payment-states.ts'
import type { ApprovalSubject } from '../approvals/approvals.ts'
import { dueOf, withdrawalOf } from '../payments/approve-payment.ts'
import type { Afterwards } from '../approvals/decision-transaction.ts'
import type { PaymentQueue } from '../payments/payment-queue.ts'

/** Payments that are moved in one transaction: as few as a commit takes anyway. */
const LOT = 64

/** Bulk payments as the subjects of approvals. `nudge`: there is something to follow. */
export function bulkPaymentSubject({ nudge }: { readonly nudge: () => void }): ApprovalSubject {
  return {
    async blocked({ client }, { subjectId }) {
      const bulk = await lockBulk(client, subjectId)
      return bulk?.status !== 'submitting' ? null
        : { slug: 'invalid-transition', detail: 'Its payments are still being made.', extra: { currentStatus: bulk.status, allowed: AFTER_RUN } }
    },
    async shapedBy({ client }, { subjectId }) {
      // Its payments are made, of the payees as they were then.
      const bulk = await lockBulk(client, subjectId)
      return bulk === null ? [] : await editorsOfPayees(client, subjectId, bulk.createdAt)
    },
    async ended({ client, now }, { subjectId }) {
      // Its payments follow by and by: there may be a hundred thousand.
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
 * Moves the next payments that waited for an approval which has ended. Together they are one commit, with the versions as
 * fences, and how far this has come is written with it; the next are due then.
 *
 * @returns false when none waits any more
 */
export async function followApproval(world: FollowDeps, tx: ApprovalTx, bulkPaymentId: string, dueAt: number, afterwards: Afterwards): Promise<boolean> {
  const { client } = tx
  // Under its lock no approval ends that would want it looked at again.
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
    const moved = await move(world, tx, payment, ending.status !== 'approved' ? withdrawalOf(ending) : unchanged.has(id) ? null : CHANGED)
    effects = together(effects, moved.effects)
    if (moved.after !== null) afterwards.push(moved.after)
  }
  await writeEffects(tx, effects)
  await noteDecided(client, bulkPaymentId, last.rowNumber, dueAt)
  return true
}

const CHANGED: Withdrawal = withdrawalOf({ status: 'cancelled', reason: 'recipient_changed' })

async function move({ queue, sandbox }: FollowDeps, { client, ids, now }: ApprovalTx, payment: PaymentState, withdrawal: Withdrawal | null): Promise<{ readonly effects: Effects; readonly after: (() => void) | null }> {
  const due = payment.holdId === null && withdrawal === null ? await dueOf(client, payment, now) : null
  const delayMs = due !== null || !sandbox ? 0 : queueDelayMs({ amountMinor: payment.amount, reference: payment.reference, recipientName: payment.recipientName })
  const command: PaymentCommand = withdrawal === null
    ? { kind: 'approve', context: { ids, ...(due === null ? {} : { due }), ...(delayMs === 0 ? {} : { notBefore: now + delayMs }) } }
    : { kind: 'withdraw', from: 'pending_approval', withdrawal, context: { ids } }
  const { reply, effects } = movePayment(payment, command, now)
  // Somebody has withdrawn it since it was found; then it waits no more.
  if (reply.kind !== 'moved') return { effects: {}, after: null }
  const { id, shard, status } = reply.state
  return { effects: effects ?? {}, after: status === 'processing' && delayMs === 0 ? () => queue.offer(id, shard) : null }
}
