/** Parts that the entries and events of incoming payments share. */
import type { IdSource } from '../base/ids.ts'
import type { OutboxEvent } from '../decisions/effects.ts'
import type { IncomingPaymentRow } from './effects.ts'
import type { Posting } from '../ledger/posting.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import { feeOf, type FeeRule } from '../pricing/fees.ts'
import { moveCash, type ConnectionAccounts } from '../providers/cash-leg.ts'

/** The source that entries name. An entry without a customer belongs to the operator and has a source of its own. */
export const INCOMING_SOURCE = 'incoming_payment'
export const SUSPENSE_SOURCE = 'incoming_suspense'

/** Makes the description in the customer's journal. */
export function incomingText({ payerName }: { readonly payerName: string | null }): string {
  return payerName === null ? 'Incoming payment' : `Payment from ${payerName}`
}

interface IncomingEvent extends Pick<OutboxEvent, 'id' | 'status' | 'previousStatus'> {
  readonly type: 'incoming_payment.received' | 'incoming_payment.returned'
  readonly at: number
}

/**
 * Makes an event about an incoming payment for its customer.
 * @throws Error without a customer
 */
export function incomingEvent(
  {
    id: objectId,
    customerId,
    operatorId,
    shard,
    amount,
    currency,
  }: Pick<IncomingPaymentRow, 'id' | 'customerId' | 'operatorId' | 'shard' | 'amount' | 'currency'>,
  { id, type, status, previousStatus, at }: IncomingEvent,
): OutboxEvent {
  if (customerId === null) throw new Error(`The incoming payment ${objectId} has no customer to tell.`)
  return {
    id,
    createdAt: at,
    customerId,
    operatorId,
    shard,
    type,
    object: 'incoming_payment',
    objectId,
    status,
    previousStatus,
    amount,
    currency,
  }
}

/**
 * Moves the cash of an incoming payment between the connection where it arrived and that of its balance (L21): `from`
 * the first for money that is credited, from the second for money that goes back.
 *
 * @throws Error without a customer
 */
export function cashOfCredit(
  record: Pick<IncomingPaymentRow, 'id' | 'customerId' | 'operatorId' | 'shard' | 'amount' | 'currency'>,
  from: ConnectionAccounts,
  to: ConnectionAccounts,
  context: { readonly ids: IdSource; readonly now: number },
): ReturnType<typeof moveCash> {
  const { id, customerId, operatorId, shard, amount, currency } = record
  if (customerId === null) throw new Error(`The incoming payment ${id} has no customer whose cash could move.`)
  const subject = { object: 'incoming_payment', id } as const
  const description = 'Cash of an incoming payment'
  return moveCash({ subject, customerId, operatorId, shard, amount, currency, from, to, description }, context)
}

/** Computes the fee for an incoming payment: never more than its amount. */
export function incomingFee(
  rules: readonly FeeRule[],
  { rail, amount }: Pick<IncomingPaymentRow, 'rail' | 'amount'>,
): bigint {
  const fee = feeOf(rules, rail, amount, 'incoming_payment')
  return fee < amount ? fee : amount
}

/** Makes the fee's postings (L02); none for a fee of zero. */
export function feePostings(
  fee: bigint,
  { id, customerId, balanceId, currency }: Pick<IncomingPaymentRow, 'id' | 'customerId' | 'balanceId' | 'currency'>,
  {
    accounts,
    entryId,
    bookedAt,
    valueDate,
  }: {
    readonly accounts: InternalAccounts
    readonly entryId: string
    readonly bookedAt: number
    readonly valueDate: string
  },
): readonly Posting[] {
  if (fee === 0n) return []
  if (customerId === null || balanceId === null)
    throw new Error(`The incoming payment ${id} has no customer to charge.`)
  return entry({
    rule: 'L02',
    amounts: { F: fee },
    currency,
    accounts,
    balances: { from: balanceId, to: { id: balanceId, fence: 'open' } },
    entryId,
    customerId,
    source: { object: INCOMING_SOURCE, id },
    description: 'Fee for an incoming payment',
    bookedAt,
    valueDate,
  })
}
