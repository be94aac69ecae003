/**
 * Incoming payments that staff decide on: money without an owner, money under review, and money recalled by its payer.
 *
 * Each decision is a transaction of its own under the lock of the payment's row. It changes a balance through the same
 * commit statement as every other command; where it places a hold, the balance's version is the fence.
 */
import type { CreditRecallRequest } from '../providers/credits.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { IncomingRecord } from '../../lib/incoming-payments/incoming-payment.ts'
import * as moves from '../../lib/incoming-payments/moves.ts'
import { incomingFee } from '../../lib/incoming-payments/postings.ts'
import { refuse, ProblemError, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { BalanceCache, KnownBalance } from '../../storage/balances/balance-cache.ts'
import { balanceBelongsToOperator } from '../../storage/balances/balance-lookups.ts'
import type { Database } from '../../storage/db/database.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { changeIncoming, lockBalance, lockIncoming } from '../../storage/incoming-payments/incoming-payments.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { feeRulesOf } from '../../storage/pricing/pricing.ts'
import { recordChange } from '../commands/changes.ts'
import type { HeldSubjectKind } from '../compliance/compliance-holds.ts'

export interface IncomingCasesDeps {
  readonly database: Database
  /** Internal accounts, read within the transaction of each decision. */
  readonly accounts: Pick<InternalAccountCache, 'within'>
  readonly balances: BalanceCache
  readonly ids: IdSource
  readonly clock: Clock
}

/** A user of the operator, and the suspense item that the user decides on. */
export interface Acting {
  readonly itemId: string
  readonly operatorId: string
  readonly by: AuditBy
}

/** The balance that money without an owner is allocated to; null where no balance has the id. */
interface SuspenseTarget {
  readonly balanceId: string
  readonly balance: KnownBalance | null
  readonly reason: string | null
}

// ── Without an owner
// ──────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Allocates money without an owner to a balance of one of the operator's customers (L04). `balance` is the balance of
 * `balanceId`, read before the transaction: a transaction must not wait for a second connection.
 *
 * @throws ProblemError `not-found`, `invalid-transition` when it has been decided on, `validation-error` for a balance
 * that it cannot go to
 */
export async function allocateSuspense(
  deps: Pick<IncomingCasesDeps, 'accounts'>,
  tx: ApprovalTx,
  acting: Acting,
  { balanceId, balance, reason }: SuspenseTarget,
): Promise<void> {
  const { operatorId, by } = acting
  await decideSuspense(tx, acting, 'allocate', async (record) => {
    if (balance === null || !(await balanceBelongsToOperator(tx.client, balanceId, operatorId)))
      invalidBalance('not_found', 'No such balance.')
    if (balance.currency !== record.currency)
      invalidBalance('currency_mismatch', `The balance is in ${balance.currency}.`)
    const { customerId } = balance
    const fee = incomingFee(await feeRulesOf(tx.client, balanceId), record)
    return moves.allocate(
      record,
      { customerId, balanceId, shard: shardOf(customerId), by: by.actor.id, reason, fee },
      await withHome(deps, tx, record, balanceId, await contextOf(deps, tx, record)),
    )
  })
}

/**
 * Returns money without an owner to its payer (L08, then L11).
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function returnSuspense(
  deps: Pick<IncomingCasesDeps, 'accounts'>,
  tx: ApprovalTx,
  acting: Acting,
  { reason, reasonCode }: { readonly reason: string; readonly reasonCode: string },
): Promise<void> {
  await decideSuspense(tx, acting, 'give_back', async (record) =>
    moves.giveBack(record, { by: acting.by.actor.id, reason, reasonCode }, await contextOf(deps, tx, record)),
  )
}

async function decideSuspense(
  tx: ApprovalTx,
  { itemId, operatorId, by }: Acting,
  name: 'allocate' | 'give_back',
  decide: (record: IncomingRecord) => Promise<moves.IncomingMove>,
): Promise<void> {
  const { client } = tx
  const record = await lockIncoming(client, itemId)
  if (record === null || record.suspense === null || record.operatorId !== operatorId) refuseNotFound()
  const problem = moves.mayMove(record, name)
  if (problem !== null)
    throw new ProblemError({
      ...problem,
      detail: `The item is ${record.suspense}.`,
      extra: { currentStatus: record.suspense, allowed: ['open'] },
    })
  const { effects, change } = await decide(record)
  await writeEffects(tx, effects).catch((error: unknown): never => {
    if (error instanceof CommitConflict && error.conflicts.some(({ kind }) => kind === 'credit_refused'))
      invalidBalance('inactive', 'The balance does not accept money.')
    throw error
  })
  await changeIncoming(client, itemId, change, tx.now)
  await recordChange(tx, by, operatorId, {
    action: name === 'allocate' ? 'incoming_suspense.allocated' : 'incoming_suspense.returned',
    object: { type: 'incoming_suspense', id: itemId },
    before: { status: record.suspense },
    after: {
      status: change.suspense,
      reason: change.decisionReason,
      customerId: change.customerId ?? null,
      balanceId: change.balanceId ?? null,
      returnReasonCode: change.returnReason ?? null,
    },
  })
}

function invalidBalance(
  code: 'not_found' | 'currency_mismatch' | 'invalid_value' | 'inactive',
  message: string,
): never {
  refuse('validation-error', message, { errors: [{ field: '/balanceId', code, message }] })
}

// ── Under review, and recalled
// ────────────────────────────────────────────────────────────────────────────────────────

/** Codes of the refusal of a recall: the customer does not agree; the balance does not hold the money any more. */
const NOT_AGREED = 'CUST'
const SHORT_FUNDS = 'AM04'

/**
 * Incoming payments as the subjects of compliance holds. Screening: a released payment is credited (L06); a blocked
 * payment is sent back (L07), or stays frozen where it is. Recall: a blocked payment means that the recall is accepted,
 * so the money goes back (L80), or the answer is AM04 where the balance does not cover it; a released payment stays
 * with the customer.
 */
export function heldIncoming(deps: Pick<IncomingCasesDeps, 'accounts'>): HeldSubjectKind {
  return {
    async decided(tx, { kind, subjectId }, decision, { freezeFunds }) {
      const record = await lockIncoming(tx.client, subjectId)
      if (record === null) throw new Error(`The incoming payment ${subjectId} is gone.`)
      const context = await contextOf(deps, tx, record)
      const move =
        kind === 'inbound_recall'
          ? await answerRecall(deps, tx, record, { accepted: decision === 'blocked', context })
          : decision === 'released'
            ? moves.release(
                record,
                incomingFee(await feeRulesOf(tx.client, record.balanceId as string), record),
                await withHome(deps, tx, record, record.balanceId as string, context),
              )
            : freezeFunds
              ? null
              : moves.block(record, context)
      if (move === null) return {}
      if (record.status === 'under_review' && decision === 'released')
        await mustTakeMoney(tx, record.balanceId as string)
      await changeIncoming(tx.client, subjectId, move.change, tx.now)
      return { effects: move.effects }
    },
  }
}

/**
 * Checks that a balance still accepts money: it must be active or frozen. When it refuses, the compliance hold stays
 * open, and staff can still send the money back.
 *
 * @throws ProblemError `invalid-transition`
 */
async function mustTakeMoney({ client }: ApprovalTx, balanceId: string): Promise<void> {
  const balance = await lockBalance(client, balanceId)
  if (balance === null || (balance.status !== 'active' && balance.status !== 'frozen')) {
    refuseTransition(
      'The balance does not accept money any more; the payment can only be sent back.',
      balance?.status ?? 'closed',
      ['active', 'frozen'],
    )
  }
}

async function answerRecall(
  deps: Pick<IncomingCasesDeps, 'accounts'>,
  tx: ApprovalTx,
  record: IncomingRecord,
  { accepted, context }: { readonly accepted: boolean; readonly context: moves.IncomingMoveContext },
): Promise<moves.IncomingMove> {
  if (!accepted) return moves.rejectRecall(record, NOT_AGREED, context)
  const holdId = record.recallHoldId ?? (await setAside(tx, record, BigInt(record.recall?.amount ?? 0n)))
  return holdId === null
    ? moves.rejectRecall(record, SHORT_FUNDS, context)
    : moves.acceptRecall(record, holdId, await withHome(deps, tx, record, record.balanceId as string, context))
}

/**
 * Opens a recall of a credit by the payer's bank: opens a case for the operator's staff, and places a hold on the money
 * where the balance covers it.
 *
 * @returns the id of the case
 * @throws ProblemError `simulation-not-possible` when the payment cannot be recalled, `validation-error` for an amount
 * above it
 */
export async function requestRecall(
  tx: ApprovalTx,
  record: IncomingRecord,
  { id, amount, reasonCode }: CreditRecallRequest,
): Promise<string> {
  const problem = moves.mayMove(record, 'recall')
  if (problem !== null)
    refuse('simulation-not-possible', problem.detail, {
      extra: { currentStatus: record.status, connectionProvider: 'sandbox' },
    })
  if (record.rail === 'internal')
    refuse('simulation-not-possible', 'No bank can ask for a payment within the platform.', {
      extra: { currentStatus: record.status, connectionProvider: 'sandbox' },
    })
  if (record.recall !== null)
    refuse('simulation-not-possible', 'The incoming payment was recalled before.', {
      extra: { currentStatus: record.status, connectionProvider: 'sandbox' },
    })
  const wanted = amount ?? record.amount
  if (wanted > record.amount) {
    const message = 'The recalled amount is above the received amount.'
    refuse('validation-error', message, {
      errors: [{ field: '/amount/amountMinor', code: 'too_large', message, params: { max: record.amount.toString() } }],
    })
  }
  const caseId = tx.ids.next()
  const holdId = await setAside(tx, record, wanted)
  const { effects, change } = moves.openRecall(record, { caseId, amount: wanted, reasonCode, holdId }, tx)
  await writeEffects(tx, {
    ...effects,
    providerEvents: [
      {
        id,
        connectionId: record.connectionId,
        type: 'account.credit_recalled',
        objectId: record.id,
        code: reasonCode,
        receivedAt: tx.now,
      },
    ],
  })
  await changeIncoming(tx.client, record.id, change, tx.now)
  return caseId
}

/**
 * Places a hold on the recalled amount; null where the balance does not cover it. The balance's version rises, so that
 * no actor keeps a balance in its cache that is too high.
 */
async function setAside(
  { client, ids, now }: ApprovalTx,
  record: IncomingRecord,
  amount: bigint,
): Promise<string | null> {
  const balanceId = record.balanceId as string
  const balance = await lockBalance(client, balanceId)
  if (balance === null || balance.available < amount) return null
  const hold = moves.recallHold(record, amount, { ids, now })
  await writeEffects({ client, now }, { holds: [hold] }, { balanceId, version: balance.version })
  return hold.id
}

/** Adds the connection of the balance to a context where it is another than that of the money; the balance is locked. */
async function withHome(
  { accounts }: Pick<IncomingCasesDeps, 'accounts'>,
  { client }: ApprovalTx,
  record: IncomingRecord,
  balanceId: string,
  context: moves.IncomingMoveContext,
): Promise<moves.IncomingMoveContext> {
  const connectionId = (await lockBalance(client, balanceId))?.connectionId ?? record.connectionId
  if (connectionId === record.connectionId) return context
  return {
    ...context,
    home: { connectionId, accounts: await accounts.within(client).accounts({ ...record, connectionId }) },
  }
}

async function contextOf(
  deps: Pick<IncomingCasesDeps, 'accounts'>,
  { client, ids, now }: ApprovalTx,
  record: IncomingRecord,
): Promise<moves.IncomingMoveContext> {
  const accounts = deps.accounts.within(client)
  const underReview = record.status === 'under_review' ? record.customerId : null
  const internal =
    underReview === null
      ? await accounts.accounts(record)
      : await accounts.accountsWith(record, 'review_held', underReview)
  return { accounts: internal, ids, now }
}
