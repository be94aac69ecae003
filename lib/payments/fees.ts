/** What an operator charges for a payment, by rules that are data. Amounts are minor units of the payment's currency. */
import type { Rail } from './rails.ts'

export interface FeeRule {
  /** Null: any rail that no other rule names. */
  readonly rail: Rail | null
  readonly fixed: bigint
  /** Of the amount, in hundredths of a per cent. */
  readonly bps: bigint
  readonly min: bigint
  /** Null: no cap. */
  readonly max: bigint | null
}

/** A rule as it is read: amounts as text. */
export interface FeeRuleJson {
  readonly rail: string
  readonly fixed: string
  readonly bps: number
  readonly min: string
  readonly max: string | null
}

export const feeRuleOf = ({ rail, fixed, bps, min, max }: FeeRuleJson): FeeRule =>
  ({ rail: rail === '' ? null : rail as Rail, fixed: BigInt(fixed), bps: BigInt(bps), min: BigInt(min), max: max === null ? null : BigInt(max) })

const BPS = 10_000n

/** The fee of a payment; 0 where no rule fits. Parts of a minor unit are rounded half up. */
export function feeOf(rules: readonly FeeRule[], rail: Rail, amount: bigint): bigint {
  if (rules.length === 0) return 0n
  const rule = rules.find((one) => one.rail === rail) ?? rules.find((one) => one.rail === null)
  if (rule === undefined) return 0n
  const fee = rule.fixed + (amount * rule.bps + BPS / 2n) / BPS
  const atLeast = fee < rule.min ? rule.min : fee
  return rule.max !== null && atLeast > rule.max ? rule.max : atLeast
}
