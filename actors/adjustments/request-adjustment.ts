/** Requests of adjustments: what is asked for is checked against the books, and waits for another person. */
import {
  ADJUSTMENTS,
  REVERSIBLE,
  type AdjustmentField,
  type AdjustmentKind,
  type AdjustmentRecord,
} from '../../lib/adjustments/adjustment.ts'
import type { AdjustmentCreate } from '../../lib/adjustments/adjustment-schema.ts'
import { periodEnd } from '../../lib/adjustments/period-close.ts'
import { refuse, refuseField, type FieldError } from '../../lib/base/problems.ts'
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { refuseTippingOff } from '../../lib/compliance/tipping-off.ts'
import {
  isConnectionOf,
  lockAdjustedBalance,
  operatorAccounts,
  pairsOfEntry,
  postedCloses,
  sweptBefore,
} from '../../storage/adjustments/adjustments.ts'
import { lockItem, type ItemRecord } from '../../storage/reconciliation/reconciliation-items.ts'
import { lockStatusesOf } from '../../storage/documents/documents.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { checkedDocuments } from '../documents/named-documents.ts'
import { checkBalance } from './check-balance.ts'

/** The members of a request that depend on its kind. */
const FIELDS: readonly AdjustmentField[] = [
  'balanceId',
  'connectionId',
  'currency',
  'amount',
  'period',
  'breakId',
  'entryId',
  'description',
  'documentIds',
]

/** Decisions of the last moments of a month may still be on their way to the database for this time. */
const COMMITTED_AFTER_MS = 5 * MINUTE_MS

/** The accounts that an adjustment moves, as far as the books tell. */
export type AdjustmentTerms = Pick<
  AdjustmentRecord,
  | 'kind'
  | 'rule'
  | 'currency'
  | 'amount'
  | 'balanceId'
  | 'customerId'
  | 'connectionId'
  | 'period'
  | 'breakId'
  | 'entryId'
  | 'description'
  | 'documentIds'
>

const NOTHING = {
  amount: null,
  balanceId: null,
  customerId: null,
  connectionId: null,
  period: null,
  breakId: null,
  entryId: null,
} as const

/** Checks that a request has the members of its kind and no others. @throws ProblemError `validation-error` */
function checkFields(body: AdjustmentCreate): void {
  const { needs, takes = [] } = ADJUSTMENTS[body.kind]
  const errors = FIELDS.flatMap((field): FieldError[] => {
    const pointer = `/${field}`
    if (body[field] === undefined)
      return needs.includes(field) ? [{ field: pointer, code: 'required', message: `A ${body.kind} needs it.` }] : []
    return needs.includes(field) || takes.includes(field)
      ? []
      : [{ field: pointer, code: 'not_applicable', message: `A ${body.kind} has none.` }]
  })
  if (errors.length > 0) refuse('validation-error', (errors[0] as FieldError).message, { errors })
}

/**
 * Reads what a request moves, and locks what it rests on until the transaction ends.
 *
 * @throws ProblemError `validation-error`, `invalid-transition`, `insufficient-funds`, `document-not-clean`
 */
export async function readRequest(
  client: TransactionClient,
  { operatorId, now }: { readonly operatorId: string; readonly now: number },
  body: AdjustmentCreate,
): Promise<AdjustmentTerms> {
  checkFields(body)
  refuseTippingOff({ '/description': body.description ?? null })
  const { kind, description = ADJUSTMENTS[kind].text } = body
  const found = await readFacts(client, { operatorId, now }, body)
  const documents = {
    statuses: (customerId: string, ids: readonly string[]) => lockStatusesOf(client, customerId, ids),
  }
  const documentIds =
    found.customerId === null ? [] : await checkedDocuments(documents, found.customerId, body.documentIds)
  return { kind, rule: ADJUSTMENTS[kind].rule, ...NOTHING, ...found, description, documentIds }
}

type Facts = Pick<AdjustmentTerms, 'currency'> &
  Partial<Omit<AdjustmentTerms, 'currency'>> & { readonly customerId: string | null }
interface At {
  readonly operatorId: string
  readonly now: number
}

async function readFacts(client: TransactionClient, at: At, body: AdjustmentCreate): Promise<Facts> {
  switch (body.kind) {
    case 'correction_credit':
    case 'correction_debit':
    case 'write_off':
    case 'interest':
      return await ofBalance(client, at, body)
    case 'suspense_charge':
    case 'suspense_direct_debit':
      return await ofBreak(client, at, body)
    case 'house_funding':
    case 'card_settlement_paid':
    case 'card_settlement_received':
      return await ofConnection(client, at, body)
    case 'period_close':
      return await ofPeriod(client, at, body)
    case 'reversal':
      return await ofEntry(client, at, body)
    default:
      return body.kind satisfies never
  }
}

async function ofBalance(client: TransactionClient, { operatorId }: At, body: AdjustmentCreate): Promise<Facts> {
  const { kind, amount: money } = body as { kind: AdjustmentKind } & Required<Pick<AdjustmentCreate, 'amount'>>
  const balance = await lockAdjustedBalance(client, operatorId, body.balanceId as string)
  if (balance === null) refuseField('/balanceId', 'not_found', 'No such balance.')
  if (money.currency !== balance.currency)
    refuseField('/amount/currency', 'currency_mismatch', `The balance is in ${balance.currency}.`)
  const { id: balanceId, customerId, connectionId, currency } = balance
  const amount = BigInt(money.amountMinor)
  checkBalance(balance, { kind, rule: ADJUSTMENTS[kind].rule, amount, side: ADJUSTMENTS[kind].side })
  return { currency, amount, balanceId, customerId, connectionId }
}

async function ofBreak(client: TransactionClient, { operatorId }: At, body: AdjustmentCreate): Promise<Facts> {
  const item = await lockItem(client, body.breakId as string)
  if (item === null || item.operatorId !== operatorId) refuseField('/breakId', 'not_found', 'No such break.')
  const amount = suspendedDebit(item)
  const { id: breakId, currency, connectionId } = item
  if (body.kind === 'suspense_charge') return { currency, amount, connectionId, breakId, customerId: null }
  const balance = await lockAdjustedBalance(client, operatorId, body.balanceId as string)
  if (balance === null) refuseField('/balanceId', 'not_found', 'No such balance.')
  if (balance.currency !== currency)
    refuseField('/balanceId', 'currency_mismatch', `The debit is in ${currency}, the balance in ${balance.currency}.`)
  if (balance.connectionId !== connectionId)
    refuseField('/balanceId', 'invalid_value', 'The balance is kept at another partner than the one that was debited.')
  checkBalance(balance, { kind: body.kind, rule: 'L93', amount, side: 'debit' })
  return { currency, amount, connectionId, breakId, balanceId: balance.id, customerId: balance.customerId }
}

/** Returns the amount of a debit in suspense. @throws ProblemError `validation-error` for any other break */
export function suspendedDebit({ status, direction, partnerAmount }: ItemRecord): bigint {
  if (status !== 'in_suspense' || direction !== 'DBIT' || partnerAmount === null)
    refuseField('/breakId', 'invalid_value', 'The break is no debit in suspense.')
  return partnerAmount
}

async function ofConnection(client: TransactionClient, { operatorId }: At, body: AdjustmentCreate): Promise<Facts> {
  const { connectionId, amount } = body as Required<Pick<AdjustmentCreate, 'connectionId' | 'amount'>>
  if (!(await isConnectionOf(client, operatorId, connectionId)))
    refuseField('/connectionId', 'not_found', 'No such connection.')
  const facts = { currency: amount.currency, amount: BigInt(amount.amountMinor), connectionId, customerId: null }
  if (body.breakId === undefined) return facts
  const item = await lockItem(client, body.breakId)
  if (item === null || item.operatorId !== operatorId) refuseField('/breakId', 'not_found', 'No such break.')
  checkOwnCredit(item, facts)
  return { ...facts, breakId: item.id }
}

/**
 * Checks that a break is a credit of this amount that only the bank has, and that waits for its cause: then it can be
 * the operator's own money.
 *
 * @throws ProblemError `validation-error`
 */
export function checkOwnCredit(
  item: ItemRecord,
  { connectionId, currency, amount }: Pick<AdjustmentTerms, 'connectionId' | 'currency' | 'amount'>,
): void {
  const { status, direction, kind, partnerAmount } = item
  const waits = (status === 'timing' || status === 'open') && direction === 'CRDT' && kind === 'missing_with_us'
  if (!waits || item.connectionId !== connectionId || item.currency !== currency || partnerAmount !== amount)
    refuseField('/breakId', 'invalid_value', 'The break is no open credit of this amount at this connection.')
}

async function ofPeriod(client: TransactionClient, at: At, body: AdjustmentCreate): Promise<Facts> {
  const { currency, period } = body as Required<Pick<AdjustmentCreate, 'currency' | 'period'>>
  await checkPeriod(client, at, { currency, period })
  const accounts = await operatorAccounts(client, at.operatorId, currency)
  const swept = await sweptBefore(client, accounts, periodEnd(period))
  if (Object.values(swept).every((amount) => amount === 0n))
    refuseField('/period', 'invalid_value', `There is nothing to close in ${currency}.`)
  return { currency, period, customerId: null }
}

/**
 * Checks that a period has ended, and that neither it nor a later one is closed.
 *
 * @returns how often the period was closed before
 * @throws ProblemError `validation-error`
 */
export async function checkPeriod(
  client: TransactionClient,
  { operatorId, now }: At,
  { currency, period }: { readonly currency: string; readonly period: string },
): Promise<number> {
  if (periodEnd(period) + COMMITTED_AFTER_MS > now)
    refuseField('/period', 'too_far_ahead', 'The period has not ended yet.')
  const closes = await postedCloses(client, operatorId, currency)
  const inTheWay = closes.find((close) => !close.isReversed && close.period >= period)
  if (inTheWay !== undefined)
    refuseField('/period', 'invalid_value', `The period ${inTheWay.period} is closed in ${currency}.`)
  return closes.filter((close) => close.period === period).length
}

async function ofEntry(client: TransactionClient, { operatorId }: At, body: AdjustmentCreate): Promise<Facts> {
  const entryId = body.entryId as string
  const pairs = await pairsOfEntry(client, operatorId, entryId)
  const [first] = pairs
  if (first === undefined) refuseField('/entryId', 'not_found', 'No such entry.')
  const { rule, sourceObject, reversalOf, currency } = first
  const isOurs = sourceObject === 'adjustment' || sourceObject === 'period_close'
  if (!isOurs || !REVERSIBLE.includes(rule) || reversalOf !== null)
    refuseField('/entryId', 'invalid_value', 'Only entries of adjustments are reversed, and reversals are not.')
  const amount = pairs.reduce((sum, pair) => sum + pair.amount, 0n)
  const moved = pairs.find(({ debitsBalance, creditsBalance }) => debitsBalance || creditsBalance)
  const facts = { rule, currency, amount, entryId, customerId: null }
  if (moved === undefined) return facts
  const balanceId = moved.debitsBalance ? moved.debitAccount : moved.creditAccount
  const balance = await lockAdjustedBalance(client, operatorId, balanceId)
  if (balance === null) throw new Error(`The entry ${entryId} moves the balance ${balanceId}, which does not exist.`)
  checkBalance(balance, { kind: 'reversal', rule, amount, side: moved.debitsBalance ? 'credit' : 'debit' })
  return { ...facts, balanceId, customerId: balance.customerId, connectionId: balance.connectionId }
}
