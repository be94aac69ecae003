/**
 * The alert that little of an operator's own money is left (G10): raised by an adjustment at once, and for all other
 * expenses (charges of partners, losses of exchanges) when their day is added to the days of the ledger.
 */
import { isShort, type OwnMoney } from '../../lib/adjustments/adjustment.ts'
import { DAY_MS } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { formatMajor } from '../../lib/base/money.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { ownMoneyMoves, wasTold, type OwnMoneyMove } from '../../storage/ledger/own-money.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'

/** The staff roles that are told. */
const ROLES = ['operator_admin', 'treasury']
/** The treasury is told of a currency once in this time. */
const TOLD_MS = 2 * DAY_MS

interface Telling {
  readonly client: TransactionClient
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/** Tells the treasury when the own money has become short by a move; does nothing otherwise. */
export async function tellIfShort(
  { client, ids, now }: Telling,
  { operatorId, currency: code, before, after }: OwnMoneyMove,
): Promise<void> {
  if (isShort(before) || !isShort(after)) return
  const type = 'own_funds_low'
  const title = `Little of the own money in ${code} is left`
  if (await wasTold(client, operatorId, { type, title, since: now - TOLD_MS })) return
  const people = await peopleInRoles(client, operatorId, ROLES)
  const notice = { tenantId: operatorId, type, title, text: textOf(after, code as CurrencyCode), object: null } as const
  await insertNotices(client, ids, people, notice, now)
}

const textOf = ({ funds, expenses }: OwnMoney, currency: CurrencyCode): string =>
  `After expenses ${formatMajor(funds - expenses, currency)} ${currency} of ${formatMajor(funds, currency)} ${currency} are left, less than a fifth.`

/** Tells the treasuries of all operators whose own money has become short on days from `from` (`YYYY-MM-DD`) on. */
export async function tellOfDays(tx: Telling, from: string): Promise<void> {
  for (const move of await ownMoneyMoves(tx.client, from)) await tellIfShort(tx, move)
}
