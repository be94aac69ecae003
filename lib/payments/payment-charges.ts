/**
 * The charges of a payment after it was sent, by the terms of its submission (lib/pricing/fees.ts): the partner's
 * charge at its confirmation, and the fee or refund at a return. The balance is not checked for them: they are owed,
 * and may take the balance below zero. And its cash, where it leaves through another connection than that of its balance
 * (L21).
 */
import type { Effects } from '../decisions/effects.ts'
import type { Posting } from '../ledger/posting.ts'
import { entry } from '../ledger/entry.ts'
import type { Amounts, RuleId } from '../ledger/postings.ts'
import { taxWithin } from '../pricing/fees.ts'
import { ownBalance } from './move-parts.ts'
import { moveCash } from '../providers/cash-leg.ts'
import type { PaymentMoveContext, PaymentState } from './payment-state.ts'

/** Posts the partner's charge: L16, or L17 where the sender bears it. Empty where the partner charges nothing. */
export function partnerCharge(payment: PaymentState, context: PaymentMoveContext, now: number): readonly Posting[] {
  const partner = payment.charges?.partner
  if (partner === undefined) return NOTHING
  return charge(partner.passedOn ? 'L17' : 'L16', { P: BigInt(partner.amountMinor) }, payment, context, now)
}

/** Posts the charges of a return as agreed: L14 gives the fee back, L15 charges a return fee. */
export function returnCharges(payment: PaymentState, context: PaymentMoveContext, now: number): readonly Posting[] {
  const { charges } = payment
  if (charges === undefined) return NOTHING
  return [
    ...(charges.feeRefundable === true
      ? charge('L14', { F: payment.fee, T: taxWithin(charges) }, payment, context, now)
      : NOTHING),
    ...(charges.return === undefined ? NOTHING : charge('L15', { P: BigInt(charges.return) }, payment, context, now)),
  ]
}

const NOTHING: readonly Posting[] = []

const TEXTS: Partial<Record<RuleId, string>> = {
  L14: 'fee given back',
  L15: 'return fee',
  L16: 'charge of the bank',
  L17: 'charges',
}

function charge(
  rule: RuleId,
  amounts: Amounts,
  payment: PaymentState,
  { accounts, ids, valueDate }: PaymentMoveContext,
  now: number,
): readonly Posting[] {
  return entry({
    rule,
    amounts,
    currency: payment.currency,
    accounts,
    balances: ownBalance(payment),
    entryId: ids.next(),
    customerId: payment.customerId,
    source: { object: 'payment', id: payment.id },
    description: `Payment ${payment.number}, ${TEXTS[rule] as string}`,
    bookedAt: now,
    valueDate,
  })
}

/** The rows of a leg. */
export interface PaymentCash {
  readonly postings: NonNullable<Effects['postings']>
  readonly cashOrders?: NonNullable<Effects['cashOrders']>
}

export const NO_CASH: PaymentCash = { postings: [] }

/**
 * Moves cash between the connection of the paying balance and that of the payment, where they are not one: `out` when
 * the payment has left, `back` when money of it comes back. `amount` is minor units.
 */
export function cashOf(
  { id, number, customerId, operatorId, shard, currency, connectionId }: PaymentState,
  way: 'out' | 'back',
  amount: bigint,
  { home, accounts, ids }: PaymentMoveContext,
  now: number,
): PaymentCash {
  if (home === undefined) return NO_CASH
  const there = { connectionId, accounts }
  return moveCash(
    {
      subject: { object: 'payment', id },
      ...{ customerId, operatorId, shard, currency, amount },
      ...(way === 'out' ? { from: home, to: there } : { from: there, to: home }),
      description: way === 'out' ? `Cash of payment ${number}` : `Cash of payment ${number} returned`,
    },
    { ids, now },
  )
}
