/**
 * Decisions on adjustments: a second person approves, and the entries are posted in the transaction of the approval, or
 * rejects. The facts are checked again, because they may have changed since the request.
 */
import { ADJUSTMENTS, type AdjustmentRecord, type OwnMoney } from '../../lib/adjustments/adjustment.ts'
import { periodEnd, periodPostings } from '../../lib/adjustments/period-close.ts'
import { adjustmentPostings, ownMoneyAfter, reversalPostings } from '../../lib/adjustments/postings.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { formatMajor, moneyJson } from '../../lib/base/money.ts'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Posting } from '../../lib/ledger/posting.ts'
import * as rows from '../../storage/adjustments/adjustments.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { TurnFence } from '../../storage/commit/turn.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { lockItem, noteOutcome } from '../../storage/reconciliation/reconciliation-items.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import { makeTransactions } from '../../storage/transactions/make-transactions.ts'
import { recordChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { tellIfShort } from '../ledger/own-money-alert.ts'
import { checkBalance } from './check-balance.ts'
import { checkOwnCredit, checkPeriod, suspendedDebit } from './request-adjustment.ts'

/** Internal accounts, read within the transaction of the decision. */
export interface DecideDeps {
  readonly accounts: Pick<InternalAccountCache, 'within'>
}

/**
 * Approves an adjustment, and posts its entries.
 *
 * @throws ProblemError `not-found`, `insufficient-scope` for the person who asked, `invalid-transition`,
 * `insufficient-funds`, `validation-error`
 */
export async function approveAdjustment(
  deps: DecideDeps,
  tx: ApprovalTx,
  by: Caller<'person'>,
  { id, note }: { readonly id: string; readonly note: string | null },
): Promise<AdjustmentRecord> {
  const record = await lockPending(tx, by, id)
  await rows.lockTreasury(tx.client, record.operatorId)
  const { postings, fence } = await decidePostings(deps, tx, record)
  const [before, after] = await ownMoney(tx, record, postings)
  await writeEffects(tx, { postings }, fence)
  await makeTransactions(tx.client, [...new Set(postings.map(({ sourceId }) => sourceId))])
  if (record.breakId !== null) {
    const { actor } = auditCaller(by)
    const outcome = record.kind === 'suspense_charge' ? 'charge' : 'explained'
    await noteOutcome(tx.client, record.breakId, { outcome, evidence: record.reason, by: actor, now: tx.now })
  }
  await tellIfShort(tx, { ...record, before, after })
  return await decide(tx, by, record, {
    status: 'posted',
    reason: note,
    amount: record.amount ?? postings.reduce((sum, { amount }) => sum + amount, 0n),
    entryIds: [...new Set(postings.map(({ entryId }) => entryId))],
  })
}

/** Rejects an adjustment. @throws ProblemError `not-found`, `insufficient-scope`, `invalid-transition` */
export async function rejectAdjustment(
  tx: ApprovalTx,
  by: Caller<'person'>,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<AdjustmentRecord> {
  const record = await lockPending(tx, by, id)
  return await decide(tx, by, record, { status: 'rejected', reason, amount: record.amount, entryIds: [] })
}

/** Locks an adjustment that waits for another person than the one who asked. */
async function lockPending({ client }: ApprovalTx, by: Caller<'person'>, id: string): Promise<AdjustmentRecord> {
  const record = (await rows.lockAdjustment(client, by.tenant.id, id)) ?? refuseNotFound()
  if (record.status !== 'pending_approval')
    refuseTransition(`The adjustment is ${record.status}.`, record.status, ['pending_approval'])
  if (record.requestedBy === by.principal.id)
    refuse('insufficient-scope', 'Requesters do not decide on their own request.', {
      extra: { requiredCapability: 'treasury.manage' },
    })
  return record
}

async function decide(
  tx: ApprovalTx,
  by: Caller<'person'>,
  record: AdjustmentRecord,
  decision: Pick<Parameters<typeof rows.decideAdjustment>[2], 'status' | 'reason' | 'amount' | 'entryIds'>,
): Promise<AdjustmentRecord> {
  const { actor } = auditCaller(by)
  const decided = await rows.decideAdjustment(tx.client, record, { ...decision, by: actor, now: tx.now })
  await recordChange(tx, auditCaller(by), record.operatorId, {
    action: decision.status === 'posted' ? 'adjustment.approved' : 'adjustment.rejected',
    object: { type: 'adjustment', id: record.id },
    before: { status: record.status },
    after: { status: decision.status, reason: decision.reason, entryIds: decision.entryIds },
  })
  return decided
}

interface Decided {
  readonly postings: readonly Posting[]
  readonly fence: TurnFence | null
}

/** Makes the postings of an adjustment from the facts as they are now. */
async function decidePostings(deps: DecideDeps, tx: ApprovalTx, record: AdjustmentRecord): Promise<Decided> {
  const { client, ids, now } = tx
  if (record.period !== null) return await closePeriod(tx, record, record.period)
  if (record.entryId !== null) {
    const pairs = await rows.pairsOfEntry(client, record.operatorId, record.entryId)
    const isCredit = pairs.some(({ debitsBalance }) => debitsBalance)
    const fence = await fenceOf(tx, record, isCredit ? 'credit' : 'debit')
    return { postings: reversalPostings(record, pairs, { ids, now }), fence }
  }
  if (record.breakId !== null) {
    const item = await lockItem(client, record.breakId)
    if (item === null) throw new Error(`The break ${record.breakId} has vanished.`)
    if (record.kind === 'house_funding') checkOwnCredit(item, record)
    else suspendedDebit(item)
  }
  const fence = await fenceOf(tx, record, ADJUSTMENTS[record.kind].side)
  const { operatorId, connectionId, currency } = record
  if (connectionId === null) throw new Error(`The adjustment ${record.id} has no connection.`)
  const accounts = await deps.accounts.within(client).accounts({ operatorId, connectionId, currency })
  return { postings: adjustmentPostings(record, { accounts, ids, now }), fence }
}

/** Locks the balance that is moved, where there is one, and checks it again. */
async function fenceOf(
  { client }: ApprovalTx,
  { operatorId, kind, rule, amount, balanceId }: AdjustmentRecord,
  side: 'debit' | 'credit' | undefined,
): Promise<TurnFence | null> {
  if (balanceId === null) return null
  const balance = await rows.lockAdjustedBalance(client, operatorId, balanceId)
  if (balance === null) throw new Error(`The balance ${balanceId} has vanished.`)
  checkBalance(balance, { kind, rule, amount: amount ?? 0n, side })
  return { balanceId, version: balance.version }
}

async function closePeriod(
  { client, ids, now }: ApprovalTx,
  { operatorId, currency }: AdjustmentRecord,
  period: string,
): Promise<Decided> {
  const closed = await checkPeriod(client, { operatorId, now }, { currency, period })
  const accounts = await rows.operatorAccounts(client, operatorId, currency)
  const swept = await rows.sweptBefore(client, accounts, periodEnd(period))
  const own = Object.fromEntries(accounts)
  const postings = periodPostings({ operatorId, currency, period, swept, accounts: own, closed, ids, now })
  if (postings.length === 0) refuseField('/period', 'invalid_value', `There is nothing to close in ${currency}.`)
  return { postings, fence: null }
}

/**
 * Sums up the operator's own money before and after the postings. What has not been spent yet is refused when the own
 * money does not cover it, so that no customer's money pays it (G10).
 *
 * @throws ProblemError `insufficient-funds`
 */
async function ownMoney(
  { client }: ApprovalTx,
  { operatorId, currency: code, kind }: AdjustmentRecord,
  postings: readonly Posting[],
): Promise<readonly [before: OwnMoney, after: OwnMoney]> {
  const currency = code as CurrencyCode
  const accounts = await rows.operatorAccounts(client, operatorId, currency)
  const before = await rows.ownMoneyOf(client, accounts)
  const after = ownMoneyAfter(before, postings, new Map([...accounts].map(([key, accountId]) => [accountId, key])))
  const [available, left] = [before.funds - before.expenses, after.funds - after.expenses]
  if (left < 0n && left < available && ADJUSTMENTS[kind].isSpent !== true) {
    const required = available - left
    refuse(
      'insufficient-funds',
      `The operator's own money in ${currency} is ${formatMajor(available, currency)}, required is ${formatMajor(required, currency)}.`,
      {
        extra: {
          available: moneyJson({ amountMinor: available, currency }),
          required: moneyJson({ amountMinor: required, currency }),
        },
      },
    )
  }
  return [before, after]
}
