/**
 * Cancels a payment that has not been sent yet. A payment that waits for approval ends with its approval. A payment
 * that waits for its date, or for the shared approval of its file, is moved directly. A payment that waits for the
 * partner is taken out of the queue by its own actor, which alone knows whether it has been sent.
 */
import type { CommandKey } from '../../lib/balances/decision.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { isCancellable, type PaymentRecord } from '../../lib/payments/payment.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { Withdrawal } from '../../lib/payments/payment-state.ts'
import { type Problem, refuseNotFound } from '../../lib/base/problems.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { Database } from '../../storage/db/database.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import { readPayment } from '../../storage/payments/payment-states.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { paymentActor } from './payment.ts'
import { Overloaded } from '../runtime/lane.ts'
import type { PayDeps } from './submit-payment.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { auditBy, recordRefusal, unlessRecorded } from '../commands/recorded-outcomes.ts'
import { outcomeRecord } from '../../lib/decisions/outcome-record.ts'

export interface CancelDeps extends PayDeps {
  readonly database: Database
  readonly approvals: Approvals
}

export type CancelOutcome =
  | { readonly kind: 'cancelled'; readonly payment: PaymentRecord }
  | { readonly kind: 'refused'; readonly problem: Problem; readonly body: string | null }
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/** The default reason; members may give their own text, which only readers of the history see. */
const CANCELLED = 'The payment was cancelled.'

/**
 * Cancels a payment of the caller's customer.
 *
 * @throws ProblemError `not-found`; Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same
 *   key
 */
export async function cancelPayment(
  deps: CancelDeps,
  caller: CommandOrigin,
  paymentId: string,
  reason: string | null,
): Promise<CancelOutcome> {
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const payment = await findPayment(deps.database, paymentId)
    if (payment === null || payment.customerId !== caller.customerId) refuseNotFound()
    if (!isCancellable(payment)) return await refuseCancellation(deps, caller, payment)
    const withdrawal: Withdrawal = {
      status: 'cancelled',
      reason: { code: 'cancelled_by_user', message: reason ?? CANCELLED },
      by: 'member',
    }
    const { status, details } = payment
    const from =
      status === 'scheduled' || (status === 'pending_approval' && details.sharesApproval === true) ? status : null
    const outcome =
      from !== null
        ? await unlessRecorded(async () =>
            (await withdrawWaiting(deps, payment.id, from, withdrawal, caller.key)) ? 'cancelled' : 'moved_on',
          )
        : status === 'pending_approval'
          ? await endApproval(deps, caller, payment)
          : await leaveQueue(deps, caller, payment, withdrawal)
    if (outcome === 'cancelled')
      return { kind: 'cancelled', payment: (await findPayment(deps.database, paymentId)) as PaymentRecord }
    if (outcome !== 'moved_on') return outcome
  }
  throw new Overloaded('The payment keeps changing; try again.')
}

type Attempt = 'cancelled' | 'moved_on' | Extract<CancelOutcome, { kind: 'recorded' }>

async function endApproval({ approvals }: CancelDeps, caller: CommandOrigin, payment: PaymentRecord): Promise<Attempt> {
  return await unlessRecorded(async () => {
    const ended = await approvals.cancel({
      approvalId: payment.details.approvalId as string,
      reason: 'cancelled_by_user',
      by: auditBy(caller),
      effects: (now) => outcomeRecord(caller.key, 200, { type: 'payment', id: payment.id }, null, now),
    })
    return ended ? 'cancelled' : 'moved_on'
  })
}

async function leaveQueue(
  { system, ids }: CancelDeps,
  caller: CommandOrigin,
  payment: PaymentRecord,
  withdrawal: Withdrawal,
): Promise<Attempt> {
  const outcome = await system.ask(
    paymentActor,
    payment.id,
    caller.shard,
    { kind: 'withdraw', from: 'processing', withdrawal, key: caller.key, seed: ids.next() },
    caller.deadline,
  )
  switch (outcome.kind) {
    case 'decided':
      if (outcome.reply.kind === 'moved') system.forget('payment', payment.id)
      return outcome.reply.kind === 'moved' ? 'cancelled' : 'moved_on'
    case 'recorded':
      return outcome
    default:
      throw new Error(`Cancelling a payment met ${outcome.kind}.`)
  }
}

/**
 * Withdraws a payment that waits for its date or for the shared approval of its file.
 *
 * @returns false when the payment no longer waits for that
 * @throws CommitConflict `recorded` when the key has an answer
 */
export async function withdrawWaiting(
  { database, ids, clock }: Pick<CancelDeps, 'database' | 'ids' | 'clock'>,
  paymentId: string,
  from: 'scheduled' | 'pending_approval',
  withdrawal: Withdrawal,
  key: CommandKey | null,
): Promise<boolean> {
  try {
    return await inTransaction(database, async (client) => {
      const now = clock.now()
      const { reply, effects } = movePayment(
        await readPayment(client, paymentId),
        { kind: 'withdraw', from, withdrawal, context: { ids }, key },
        now,
      )
      if (reply.kind === 'moved') await writeEffects({ client, now }, effects ?? {})
      return reply.kind === 'moved'
    })
  } catch (error) {
    // The payment became due in the same moment.
    if (error instanceof CommitConflict && error.conflicts.every(({ kind }) => kind === 'payment_stale')) return false
    throw error
  }
}

async function refuseCancellation(
  deps: CancelDeps,
  caller: CommandOrigin,
  { status }: PaymentRecord,
): Promise<CancelOutcome> {
  return await recordRefusal(deps, caller, {
    slug: 'not-cancellable',
    detail: 'The payment can no longer be cancelled.',
    extra: { currentStatus: status },
  })
}
