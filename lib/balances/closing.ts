/**
 * Rules for closing a balance.
 *
 *   active ──▶ closing     the partner is closing the accounts behind it; no money is paid in or out any more
 *     │           │
 *     └───────────┴──▶ closed   the accounts are closed, or there were none
 */
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'
import type { Problem } from '../base/problems.ts'

export type BalanceStatus = 'active' | 'frozen' | 'closing' | 'closed'

/** A balance as the closing transaction has locked it. Amounts in minor units. */
export interface ClosableBalance {
  readonly id: string
  readonly currency: string
  readonly status: BalanceStatus
  readonly posted: bigint
  readonly held: bigint
}

/** Other facts that keep a balance open. */
export interface Ties {
  /** Sub-balances that are not closed. */
  readonly subBalances: number
  /** Payments, transfers, exchanges and direct debits that are not final: money that has left may come back. */
  readonly underWay: number
}

/** The statuses in which a balance may be closed. */
export const CLOSABLE_STATUSES = ['active', 'closing'] as const

/**
 * Checks whether a balance may be closed; null when it may, after its remaining money has been moved to another
 * balance. `sweeps` is true when such a balance is named. A late return may credit a closed balance: closing it again
 * moves that money, too.
 */
export function closingProblem(
  balance: ClosableBalance,
  { subBalances, underWay }: Ties,
  sweeps: boolean,
): Problem | null {
  const { status, posted, held } = balance
  const refused = (detail: string): Problem => ({
    slug: 'invalid-transition',
    detail,
    extra: { currentStatus: status, allowed: CLOSABLE_STATUSES },
  })
  if (status === 'frozen' || (status === 'closed' && posted === 0n)) return refused(`The balance is ${status}.`)
  if (subBalances > 0) return refused('The balance has sub-balances; close them first.')
  if (held > 0n) return refused(`${major(held, balance)} are held on the balance.`)
  if (underWay > 0) return refused('Payments, transfers, exchanges or direct debits of the balance are under way.')
  if (posted < 0n || (posted > 0n && !sweeps)) return refused(`There are ${major(posted, balance)} on the balance.`)
  return null
}

function major(amount: bigint, { currency }: ClosableBalance): string {
  return `${formatMajor(amount, currency as CurrencyCode)} ${currency}`
}

/** Whether the balance of a departing customer is empty: nothing posted, nothing held, nothing under way. */
export function isEmpty({ posted, held }: ClosableBalance, { underWay }: Ties): boolean {
  return posted === 0n && held === 0n && underWay === 0
}
