/** The sandbox's plan for an exchange, chosen by the sold amount in minor units of any currency. */
import { MINUTE_MS } from '../base/clock.ts'
import { SANDBOX_DEPOSIT, SANDBOX_MARGIN_CALL } from '../exchange/forward-terms.ts'
import { BASE_RATES } from '../exchange/market.ts'
import type { CatalogueRule } from './triggers.ts'

/** The time that an exchange takes where no trigger sets another. */
const SETTLED_MS = 5_000
const RECONCILED_MS = MINUTE_MS

export interface ExchangePlan {
  /** The partner's answer to the order: accepted, or no answer in time. */
  readonly submit: 'accepted' | 'timeout'
  /** The partner's later report, or its answer to an enquiry. Null: none until it is simulated. */
  readonly outcome: {
    readonly afterMs: number
    readonly event: 'settled' | 'refused'
    readonly reason: string | null
  } | null
}

interface Row extends ExchangePlan {
  readonly amount: bigint
  readonly what: string
}

const ORDINARY: ExchangePlan = { submit: 'accepted', outcome: { afterMs: SETTLED_MS, event: 'settled', reason: null } }
const ROWS: readonly Row[] = [
  { amount: 1701n, submit: 'accepted', outcome: null, what: 'stays processing until it is simulated' },
  {
    amount: 1309n,
    submit: 'accepted',
    outcome: { afterMs: SETTLED_MS, event: 'refused', reason: 'FX01' },
    what: 'failed',
  },
  {
    amount: 1501n,
    submit: 'timeout',
    outcome: { afterMs: RECONCILED_MS, event: 'settled', reason: null },
    what: 'exception, completed after 60 s',
  },
]
/** A quote that sells this amount has expired when it arrives. */
export const EXPIRED_QUOTE_AMOUNT = 1801n

/** Returns the plan for an exchange. */
export function planExchange(sellAmount: bigint): ExchangePlan {
  return ROWS.find(({ amount }) => amount === sellAmount) ?? ORDINARY
}

/** Describes these rules, for the catalogue that integrators read. */
export function exchangeRules(): readonly CatalogueRule[] {
  return [
    ...ROWS.map(({ amount, what }) => `sell amountMinor ${amount}: ${what}`),
    `sell amountMinor ${EXPIRED_QUOTE_AMOUNT} of a quote: expired already on arrival`,
    `any other sell amount: completed after ${SETTLED_MS / 1_000} s`,
    `sell amountMinor ${SANDBOX_DEPOSIT.amount} of a forward: a deposit of ${SANDBOX_DEPOSIT.bps / 100} per cent`,
    `sell amountMinor ${SANDBOX_MARGIN_CALL.amount} of a forward: a margin call ${SANDBOX_MARGIN_CALL.afterMs / 1_000} s after it is active`,
    `base rates for 1 EUR: ${BASE_RATES.map(([currency, rate]) => `${currency} ${rate}`).join(', ')}; other pairs by division, forwards 1 basis point a day`,
  ].map((rule) => ({ topic: 'exchanges', rule }))
}
