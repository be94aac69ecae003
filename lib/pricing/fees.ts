/**
 * Fees by rules that are data: an operator's fees for payments, incoming payments, returned payments and exchanges; and
 * the partner's charges for payments, which the operator bears or passes on. Amounts are minor units of the currency
 * moved; for exchanges, of the sold currency.
 */
import { ON_PLATFORM_RAIL, type ChargeBearer, type Rail } from '../rails/rails.ts'

/**
 * The kinds of fees; `partner_charge` is the partner's charge, `collection_return` the fee for a returned collection,
 * `card_conversion` the markup on what a card scheme has converted.
 */
export const FEE_KINDS = [
  'payment',
  'incoming_payment',
  'payment_return',
  'exchange',
  'partner_charge',
  'collection_return',
  'card_purchase',
  'card_withdrawal',
  'card_conversion',
] as const
export type FeeKind = (typeof FEE_KINDS)[number]

/** The terms that rules of only some kinds can have. */
export type FeeTerm = 'rail' | 'refundable' | 'tax' | 'passedOn'

/**
 * The terms that rules of each kind can have. `tax`: the posting rule of the fee has a line for tax within it (L10 for
 * payments, L71 for cards), so a new kind of fee that carries tax is a row here.
 */
export const FEE_TERMS: Readonly<Record<FeeKind, ReadonlySet<FeeTerm>>> = {
  payment: new Set<FeeTerm>(['rail', 'refundable', 'tax']),
  incoming_payment: new Set<FeeTerm>(['rail']),
  payment_return: new Set<FeeTerm>(['rail']),
  exchange: new Set<FeeTerm>(),
  partner_charge: new Set<FeeTerm>(['rail', 'passedOn']),
  collection_return: new Set<FeeTerm>(),
  card_purchase: new Set<FeeTerm>(['tax']),
  card_withdrawal: new Set<FeeTerm>(['tax']),
  card_conversion: new Set<FeeTerm>(['tax']),
}

export interface FeeRule {
  readonly kind: FeeKind
  /** Null: any rail that no other rule of the same kind names. */
  readonly rail: Rail | null
  readonly fixed: bigint
  /** Share of the amount, in hundredths of a per cent. */
  readonly bps: bigint
  readonly min: bigint
  /** Null: no cap. */
  readonly max: bigint | null
  /** The rate of the tax that the fee includes, in hundredths of a per cent; 0 where it includes none. */
  readonly taxBps: bigint
  /** For payments: the fee is given back when the payment is returned. */
  readonly refundable: boolean
  /** For the partner's charge: senders who bear all charges of a payment pay it. */
  readonly passedOn: boolean
}

/** A rule as storage reads it: amounts as text. */
export interface FeeRuleJson {
  readonly kind: FeeKind
  /** Empty: the rule of every rail. */
  readonly rail: Rail | ''
  readonly fixed: string
  readonly bps: number
  readonly min: string
  readonly max: string | null
  readonly taxBps: number
  readonly refundable: boolean
  readonly passedOn: boolean
}

export const feeRuleOf = ({
  kind,
  rail,
  fixed,
  bps,
  min,
  max,
  taxBps,
  refundable,
  passedOn,
}: FeeRuleJson): FeeRule => ({
  kind,
  rail: rail === '' ? null : rail,
  fixed: BigInt(fixed),
  bps: BigInt(bps),
  min: BigInt(min),
  max: max === null ? null : BigInt(max),
  taxBps: BigInt(taxBps),
  refundable,
  passedOn,
})

const BPS = 10_000n

function ruleFor(rules: readonly FeeRule[], kind: FeeKind, rail: Rail | null): FeeRule | undefined {
  return (
    rules.find((one) => one.kind === kind && one.rail === rail && rail !== null) ??
    rules.find((one) => one.kind === kind && one.rail === null)
  )
}

/** Computes a fee; fractions of a minor unit are rounded half up. */
function priceOf(rule: FeeRule, amount: bigint): bigint {
  const fee = rule.fixed + (amount * rule.bps + BPS / 2n) / BPS
  const atLeast = fee < rule.min ? rule.min : fee
  return rule.max !== null && atLeast > rule.max ? rule.max : atLeast
}

/** Computes the fee for an amount; 0 where no rule fits. `rail` is null where it is not known. */
export function feeOf(rules: readonly FeeRule[], rail: Rail | null, amount: bigint, kind: FeeKind = 'payment'): bigint {
  if (rules.length === 0) return 0n
  const rule = ruleFor(rules, kind, rail)
  return rule === undefined ? 0n : priceOf(rule, amount)
}

/**
 * Computes the tax within a fee of its rule, minor units: the fee is what the customer pays, tax included, so a
 * rate of 20 per cent is a sixth of the fee. Fractions of a minor unit are rounded half up; 0 where no rule has a rate.
 */
export function feeTaxOf(rules: readonly FeeRule[], rail: Rail | null, fee: bigint, kind: FeeKind = 'payment'): bigint {
  const rate = fee === 0n ? 0n : (ruleFor(rules, kind, rail)?.taxBps ?? 0n)
  const whole = BPS + rate
  return (fee * rate + whole / 2n) / whole
}

/**
 * Charges that a payment may cost beside its fee, and the tax within its fee. They are agreed at its submission and
 * stored with it, so that a change of prices does not change a payment in progress. Amounts are minor units as text;
 * absent members are not charged.
 */
export interface PaymentCharges {
  /** The tax within the fee (L10, L12, L14). */
  readonly feeTax?: string
  /** The fee is given back when the payment is returned (L14). */
  readonly feeRefundable?: true
  /** Charged when the payment is returned (L15). */
  readonly return?: string
  /** The partner's charge at the confirmation: the operator's cost (L16), or the sender's (L17). */
  readonly partner?: { readonly amountMinor: string; readonly passedOn: boolean }
}

/** Returns the tax within the fee of a payment, minor units. */
export const taxWithin = (charges: PaymentCharges | undefined): bigint => BigInt(charges?.feeTax ?? 0)

/** Returns the charges of a payment beside its fee, and the tax within its fee; undefined where there are none. */
export function chargesOf(
  rules: readonly FeeRule[],
  {
    rail,
    amount,
    fee,
    chargeBearer,
  }: { readonly rail: Rail; readonly amount: bigint; readonly fee: bigint; readonly chargeBearer: ChargeBearer },
): PaymentCharges | undefined {
  if (rules.length === 0) return undefined
  const tax = feeTaxOf(rules, rail, fee)
  const taxed = tax === 0n ? {} : { feeTax: tax.toString() }
  // No partner takes part within the platform, and such a payment is never returned.
  if (rail === ON_PLATFORM_RAIL) return tax === 0n ? undefined : taxed
  const returned = feeOf(rules, rail, amount, 'payment_return')
  const partner = ruleFor(rules, 'partner_charge', rail)
  const taken = partner === undefined ? 0n : priceOf(partner, amount)
  const charges: PaymentCharges = {
    ...taxed,
    ...(fee > 0n && ruleFor(rules, 'payment', rail)?.refundable === true ? { feeRefundable: true } : {}),
    ...(returned === 0n ? {} : { return: returned.toString() }),
    ...(partner === undefined || taken === 0n
      ? {}
      : { partner: { amountMinor: taken.toString(), passedOn: partner.passedOn && chargeBearer === 'sender' } }),
  }
  return Object.keys(charges).length === 0 ? undefined : charges
}
