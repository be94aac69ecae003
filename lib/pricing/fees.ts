/**
 * What an operator charges, by rules that are data: for payments, for money that comes in, for payments that are returned and for
 * exchanges; and what the partner takes for payments, which an operator bears or passes on. Amounts are minor units of the currency
 * moved, of exchanges the one that is sold.
 */
import type { Rail } from '../rails/rails.ts'

/** What is charged for; `partner_charge` is what the partner takes. */
export const FEE_KINDS = ['payment', 'incoming_payment', 'payment_return', 'exchange', 'partner_charge'] as const
export type FeeKind = (typeof FEE_KINDS)[number]

export interface FeeRule {
  readonly kind: FeeKind
  /** Null: any rail that no other rule of its kind names. */
  readonly rail: Rail | null
  readonly fixed: bigint
  /** Of the amount, in hundredths of a per cent. */
  readonly bps: bigint
  readonly min: bigint
  /** Null: no cap. */
  readonly max: bigint | null
  /** Of payments: it is given back when the payment is returned. */
  readonly refundable: boolean
  /** Of what the partner takes: senders who bear all charges of a payment pay this one. */
  readonly passedOn: boolean
}

/** A rule as it is read: amounts as text. */
export interface FeeRuleJson {
  readonly kind: FeeKind
  readonly rail: string
  readonly fixed: string
  readonly bps: number
  readonly min: string
  readonly max: string | null
  readonly refundable: boolean
  readonly passedOn: boolean
}

export const feeRuleOf = ({ kind, rail, fixed, bps, min, max, refundable, passedOn }: FeeRuleJson): FeeRule => ({
  kind, rail: rail === '' ? null : rail as Rail, fixed: BigInt(fixed), bps: BigInt(bps), min: BigInt(min), max: max === null ? null : BigInt(max), refundable, passedOn,
})

const BPS = 10_000n

function ruleFor(rules: readonly FeeRule[], kind: FeeKind, rail: string | null): FeeRule | undefined {
  return rules.find((one) => one.kind === kind && one.rail === rail && rail !== null) ?? rules.find((one) => one.kind === kind && one.rail === null)
}

/** Parts of a minor unit are rounded half up. */
function priceOf(rule: FeeRule, amount: bigint): bigint {
  const fee = rule.fixed + (amount * rule.bps + BPS / 2n) / BPS
  const atLeast = fee < rule.min ? rule.min : fee
  return rule.max !== null && atLeast > rule.max ? rule.max : atLeast
}

/** What is charged; 0 where no rule fits. `rail` is null where it is not known. */
export function feeOf(rules: readonly FeeRule[], rail: string | null, amount: bigint, kind: FeeKind = 'payment'): bigint {
  if (rules.length === 0) return 0n
  const rule = ruleFor(rules, kind, rail)
  return rule === undefined ? 0n : priceOf(rule, amount)
}

/**
 * What else a payment may cost, agreed on when it is submitted and kept with it, so that a change of prices changes no payment
 * that is under way. Amounts are minor units as text; what is absent is not charged.
 */
export interface PaymentCharges {
  /** Its fee is given back when it is returned (L14). */
  readonly feeRefundable?: true
  /** Charged when it is returned (L15). */
  readonly return?: string
  /** What the partner takes when it is confirmed: the operator's cost (L16), or the sender's (L17). */
  readonly partner?: { readonly amountMinor: string; readonly passedOn: boolean }
}

/** The terms of a payment beside its fee; undefined where there are none. */
export function chargesOf(rules: readonly FeeRule[], { rail, amount, fee, chargeBearer }: { readonly rail: string; readonly amount: bigint; readonly fee: bigint; readonly chargeBearer: string }): PaymentCharges | undefined {
  // Within the platform no partner takes part, and nothing comes back by itself.
  if (rules.length === 0 || rail === 'internal') return undefined
  const returned = feeOf(rules, rail, amount, 'payment_return')
  const partner = ruleFor(rules, 'partner_charge', rail)
  const taken = partner === undefined ? 0n : priceOf(partner, amount)
  const charges: PaymentCharges = {
    ...(fee > 0n && ruleFor(rules, 'payment', rail)?.refundable === true ? { feeRefundable: true } : {}),
    ...(returned === 0n ? {} : { return: returned.toString() }),
    ...(partner === undefined || taken === 0n ? {} : { partner: { amountMinor: taken.toString(), passedOn: partner.passedOn && chargeBearer === 'sender' } }),
  }
  return Object.keys(charges).length === 0 ? undefined : charges
}
