/**
 * What balances are closed by.
 *
 *   active ──▶ closing     the accounts behind it are being closed at the partner; nothing is paid in or out any more
 *     │           │
 *     └───────────┴──▶ closed   they are, or there were none
 */
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'
import type { Problem } from '../base/problems.ts'

export type BalanceStatus = 'active' | 'frozen' | 'closing' | 'closed'

/** A balance as whoever closes it has locked it. Amounts in minor units. */
export interface ClosableBalance {
  readonly id: string
  readonly currency: string
  readonly status: BalanceStatus
  readonly posted: bigint
  readonly held: bigint
}

/** What else keeps it open. */
export interface Ties {
  /** Balances below it that are not closed. */
  readonly subBalances: number
  /** Payments, transfers and exchanges that are not over: what has left may come back. */
  readonly underWay: number
}

/**
 * Null: it may be closed, once what is left has been moved to another balance; `sweeps` says that there is one. A late return
 * may have come to a balance that was closed: closing it again moves that, too.
 */
export function closingProblem(balance: ClosableBalance, { subBalances, underWay }: Ties, sweeps: boolean): Problem | null {
  const { status, posted, held } = balance
  const refused = (detail: string): Problem => ({ slug: 'invalid-transition', detail, extra: { currentStatus: status, allowed: ['active', 'closing'] } })
  if (status === 'frozen' || (status === 'closed' && posted === 0n)) return refused(`The balance is ${status}.`)
  if (subBalances > 0) return refused('There are balances below it; close those first.')
  if (held > 0n) return refused(`${major(held, balance)} are held on the balance.`)
  if (underWay > 0) return refused('Payments, transfers or exchanges of the balance are under way.')
  if (posted < 0n || (posted > 0n && !sweeps)) return refused(`There are ${major(posted, balance)} on the balance.`)
  return null
}

function major(amount: bigint, { currency }: ClosableBalance): string {
  return `${formatMajor(amount, currency as CurrencyCode)} ${currency}`
}

/** Whether a balance of a customer that leaves is done: nothing on it, nothing of it held, nothing on its way. */
export function isEmpty({ posted, held }: ClosableBalance, { underWay }: Ties): boolean {
  return posted === 0n && held === 0n && underWay === 0
}
