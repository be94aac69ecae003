/** What the sandbox does with an exchange, read from the amount that is sold in minor units of any currency. */
import type { CatalogueRule } from './triggers.ts'

/** How long it takes when nothing says otherwise. */
const SETTLED_MS = 5_000
const RECONCILED_MS = 60_000

export interface ExchangePlan {
  /** Its answer when it is told: taken, or none in time. */
  readonly submit: 'accepted' | 'timeout'
  /** What it says then, or knows when it is asked. Null: nothing, until somebody simulates it. */
  readonly outcome: { readonly afterMs: number; readonly event: 'settled' | 'refused'; readonly reason: string | null } | null
}

interface Row extends ExchangePlan { readonly amount: bigint; readonly what: string }

const ORDINARY: ExchangePlan = { submit: 'accepted', outcome: { afterMs: SETTLED_MS, event: 'settled', reason: null } }
const ROWS: readonly Row[] = [
  { amount: 1701n, submit: 'accepted', outcome: null, what: 'stays processing until it is simulated' },
  { amount: 1309n, submit: 'accepted', outcome: { afterMs: SETTLED_MS, event: 'refused', reason: 'FX01' }, what: 'failed' },
  { amount: 1501n, submit: 'timeout', outcome: { afterMs: RECONCILED_MS, event: 'settled', reason: null }, what: 'exception, completed after 60 s' },
]
/** A quote for it has expired when it arrives. */
export const EXPIRED_QUOTE_AMOUNT = 1801n

/** What becomes of an exchange. */
export function planExchange(sellAmount: bigint): ExchangePlan {
  return ROWS.find(({ amount }) => amount === sellAmount) ?? ORDINARY
}

/** The rules above in words. */
export function exchangeRules(): readonly CatalogueRule[] {
  return [
    ...ROWS.map(({ amount, what }) => `sell amountMinor ${amount}: ${what}`),
    `sell amountMinor ${EXPIRED_QUOTE_AMOUNT} of a quote: expired already on arrival`,
    `any other sell amount: completed after ${SETTLED_MS / 1_000} s`,
  ].map((rule) => ({ topic: 'exchanges', rule }))
}
