/** The close of a period (L95): income and expenses of a month move to the house account. */
import { createHash } from 'node:crypto'
import type { OwnMoneyKey } from './adjustment.ts'
import { entry, NO_BALANCE, type EntryOptions, type InternalAccounts } from '../ledger/entry.ts'
import type { Posting } from '../ledger/posting.ts'
import type { Amounts } from '../ledger/postings.ts'
import { timestamp } from '../base/clock.ts'
import type { IdSource } from '../base/ids.ts'

/** The accounts that a close sweeps. */
export type SweptKey = Exclude<OwnMoneyKey, 'house'>

/** The amount to sweep from each account, on its normal side; negative where the other side outweighs. Minor units. */
export type Swept = Readonly<Partial<Record<SweptKey, bigint>>>

/** The letters of the rule's own lines; each other account has a variant of its own. */
const LETTERS = { inc_fee: 'A', inc_fx: 'B', exp_partner: 'P' } as const
const VARIANTS = ['exp_fx', 'exp_loss', 'exp_interest'] as const

/** Entries of one close, at most: those of the rule and its variants, and their opposites. */
const PARTS = 8

export interface PeriodClose {
  readonly operatorId: string
  readonly currency: string
  /** `YYYY-MM`. */
  readonly period: string
  readonly swept: Swept
  readonly accounts: InternalAccounts
  /** How often the period was closed before; each of those closes was reversed. */
  readonly closed: number
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Derives the id of a period as the source of its entries: a UUID of version 8 of the operator, the currency and the
 * month, so that the key of the entries (G2) admits one close.
 */
export function periodId({
  operatorId,
  currency,
  period,
}: Pick<PeriodClose, 'operatorId' | 'currency' | 'period'>): string {
  const hex = createHash('sha256').update(`period ${operatorId} ${currency} ${period}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Returns the first instant after a month, epoch milliseconds. */
export function periodEnd(period: string): number {
  return Temporal.PlainYearMonth.from(period).add({ months: 1 }).toPlainDate({ day: 1 }).toZonedDateTime('UTC')
    .epochMilliseconds
}

/** Makes the entries of a close; none when there is nothing to sweep. */
export function periodPostings(close: PeriodClose): Posting[] {
  const { swept } = close
  const parts: Pick<EntryOptions, 'amounts' | 'variant' | 'reverses'>[] = []
  for (const sign of [1n, -1n] as const) {
    // Accounts of which the other side outweighs are swept by the same lines with their sides swapped.
    const amountOf = (key: SweptKey): bigint => {
      const amount = sign * (swept[key] ?? 0n)
      return amount > 0n ? amount : 0n
    }
    const swapped = (variant?: string) =>
      sign === 1n
        ? {}
        : { reverses: { entryId: null, rule: 'L95', ...(variant === undefined ? {} : { variant }) } as const }
    const amounts: Amounts = Object.fromEntries(
      Object.entries(LETTERS).map(([key, letter]) => [letter, amountOf(key as SweptKey)]),
    )
    parts.push({ amounts, ...swapped() })
    // The letters of the rule's own lines have to be there, whichever lines are taken.
    for (const variant of VARIANTS)
      parts.push({ amounts: { A: 0n, B: 0n, P: amountOf(variant) }, variant, ...swapped(variant) })
  }
  const valueDate = timestamp(periodEnd(close.period) - 1).slice(0, 10)
  return parts.flatMap((part, nth) =>
    Object.values(part.amounts).every((amount) => amount === 0n)
      ? []
      : entry({
          rule: 'L95',
          ...part,
          currency: close.currency,
          accounts: close.accounts,
          balances: NO_BALANCE,
          entryId: close.ids.next(),
          customerId: close.operatorId,
          source: { object: 'period_close', id: periodId(close) },
          occurrence: close.closed * PARTS + nth + 1,
          description: `Close of ${close.period}`,
          bookedAt: close.now,
          valueDate,
        }),
  )
}
