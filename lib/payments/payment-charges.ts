/**
 * The charges of a payment after it was sent, by the terms of its submission (lib/pricing/fees.ts): the partner's
 * charge at its confirmation, and the fee or refund at a return. The balance is not checked for them: they are owed,
 * and may take the balance below zero.
 */
import type { Posting } from '../ledger/posting.ts'
import { entry } from '../ledger/entry.ts'
import type { Amounts, RuleId } from '../ledger/postings.ts'
import { taxWithin } from '../pricing/fees.ts'
import { ownBalance } from './move-parts.ts'
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
