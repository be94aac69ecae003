/**
 * Adjustments: entries that the operator's treasury makes by hand, each asked for by one person and approved by another.
 *
 *   pending_approval ──approve──▶ posted
 *          └─────────reject─────▶ rejected
 *
 * Each kind is a row of one table: its posting rule, what it moves, and the members of the request that it needs. A new
 * kind is a new row.
 */
import type { AccountKey } from '../ledger/chart.ts'
import { mayOverdraw, type RuleId } from '../ledger/postings.ts'

export const ADJUSTMENT_KINDS = [
  'correction_credit',
  'correction_debit',
  'write_off',
  'interest',
  'suspense_charge',
  'suspense_direct_debit',
  'house_funding',
  'card_settlement_paid',
  'card_settlement_received',
  'period_close',
  'reversal',
] as const
export type AdjustmentKind = (typeof ADJUSTMENT_KINDS)[number]

export const ADJUSTMENT_STATUSES = ['pending_approval', 'posted', 'rejected'] as const
export type AdjustmentStatus = (typeof ADJUSTMENT_STATUSES)[number]

/** The members of a request that depend on its kind. */
export type AdjustmentField =
  | 'balanceId'
  | 'connectionId'
  | 'currency'
  | 'amount'
  | 'period'
  | 'breakId'
  | 'entryId'
  | 'description'
  | 'documentIds'

interface KindRow {
  readonly rule: RuleId
  readonly variant?: string
  /** The members that the request must have. */
  readonly needs: readonly AdjustmentField[]
  /** Further members that it may have. */
  readonly takes?: readonly AdjustmentField[]
  /** The side of the customer's balance; absent where no balance is moved. */
  readonly side?: 'debit' | 'credit'
  /** The text of the entry, which the customer reads where a balance is moved. */
  readonly text: string
  /**
   * True where the money has left already, so that the entry is posted even if the operator's own money does not cover
   * it (G10).
   */
  readonly isSpent?: true
}

const FOR_CUSTOMER = ['description', 'documentIds'] as const

const KINDS = {
  correction_credit: {
    rule: 'L90',
    needs: ['balanceId', 'amount'],
    takes: FOR_CUSTOMER,
    side: 'credit',
    text: 'Correction in your favour',
  },
  correction_debit: {
    rule: 'L90',
    variant: 'against_customer',
    needs: ['balanceId', 'amount'],
    takes: FOR_CUSTOMER,
    side: 'debit',
    text: 'Correction',
  },
  write_off: {
    rule: 'L91',
    needs: ['balanceId', 'amount'],
    takes: FOR_CUSTOMER,
    side: 'credit',
    text: 'Negative balance written off',
  },
  interest: {
    rule: 'L92',
    needs: ['balanceId', 'amount'],
    takes: FOR_CUSTOMER,
    side: 'credit',
    text: 'Interest',
  },
  suspense_charge: {
    rule: 'L93',
    variant: 'explained_as_charge',
    needs: ['breakId'],
    text: 'Charge of the partner',
    isSpent: true,
  },
  suspense_direct_debit: {
    rule: 'L93',
    variant: 'explained_as_direct_debit',
    needs: ['breakId', 'balanceId'],
    takes: FOR_CUSTOMER,
    side: 'debit',
    text: 'Direct debit',
  },
  house_funding: {
    rule: 'L94',
    needs: ['connectionId', 'amount'],
    takes: ['breakId'],
    text: 'The operator funds its own account',
  },
  card_settlement_paid: {
    rule: 'L74',
    needs: ['connectionId', 'amount'],
    text: 'Net settlement paid to the card scheme',
    isSpent: true,
  },
  card_settlement_received: {
    rule: 'L74',
    variant: 'scheme_pays',
    needs: ['connectionId', 'amount'],
    text: 'Net settlement paid by the card scheme',
  },
  period_close: { rule: 'L95', needs: ['currency', 'period'], text: 'Period close' },
  reversal: { rule: 'L90', needs: ['entryId'], takes: ['description'], text: 'Reversal' },
} as const satisfies Record<AdjustmentKind, KindRow>

/** Every kind by its name. The rule of a reversal is that of the entry it reverses. */
export const ADJUSTMENTS: { readonly [kind in AdjustmentKind]: KindRow } = KINDS

/** The rules whose entries can be reversed: those that only adjustments post. */
export const REVERSIBLE: readonly RuleId[] = ['L74', 'L90', 'L91', 'L92', 'L94', 'L95']

/** Tells whether the entry of a kind may take a balance below zero (G3). */
export function overdraws(kind: AdjustmentKind, rule: RuleId): boolean {
  return kind === 'reversal' ? mayOverdraw(rule, 'reversed') : mayOverdraw(rule, ADJUSTMENTS[kind].variant)
}

/** The accounts of the operator's own money: what they hold together must not fall below zero (G10). */
export const OWN_MONEY = [
  'house',
  'inc_fee',
  'inc_fx',
  'exp_partner',
  'exp_fx',
  'exp_loss',
  'exp_interest',
] as const satisfies readonly AccountKey[]
export type OwnMoneyKey = (typeof OWN_MONEY)[number]

/** Alerts are raised when less than this part of the own money is left, in percent. */
const HEADROOM_PERCENT = 20n

/** The operator's own money in one currency: what it has earned and brought in, and what it has spent. Minor units. */
export interface OwnMoney {
  readonly funds: bigint
  readonly expenses: bigint
}

/** Tells whether so little of the own money is left that people should know (G10). */
export function isShort({ funds, expenses }: OwnMoney): boolean {
  return (funds - expenses) * 100n < funds * HEADROOM_PERCENT
}

/** An adjustment. Amounts are minor units, times epoch milliseconds. */
export interface AdjustmentRecord {
  readonly id: string
  readonly operatorId: string
  readonly kind: AdjustmentKind
  readonly status: AdjustmentStatus
  readonly rule: RuleId
  readonly currency: string
  /** Null for a period that is not closed yet: the amounts are those of the moment of the approval. */
  readonly amount: bigint | null
  readonly balanceId: string | null
  readonly customerId: string | null
  readonly connectionId: string | null
  /** `YYYY-MM`. */
  readonly period: string | null
  readonly breakId: string | null
  /** The entry that is reversed. */
  readonly entryId: string | null
  /** The text of the entry. */
  readonly description: string
  /** For staff alone. */
  readonly reason: string
  readonly documentIds: readonly string[]
  readonly requestedBy: string
  readonly requestedByName: string
  readonly decidedBy: string | null
  readonly decidedByName: string | null
  readonly decidedAt: number | null
  readonly decisionReason: string | null
  /** The entries that the approval has posted. */
  readonly entryIds: readonly string[]
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}
