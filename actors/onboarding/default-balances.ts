/** Opens the balances with which a customer begins. */
import { moneyProblem } from '../../lib/customers/money-access.ts'
import { OFFERED_CURRENCIES } from '../../lib/customers/currencies.ts'
import { defaultCurrencies } from '../../lib/onboarding/case-review.ts'
import { countOpenBalances } from '../../storage/balances/balance-changes.ts'
import { lockCustomer } from '../../storage/balances/closure.ts'
import { readSetting } from '../../storage/customers/settings.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { openWithin } from '../accounts/open-balance.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import type { LockedCase } from './move-case.ts'

/**
 * Opens a balance in each currency that the case of a locked customer expects; none where the customer has balances
 * already, or where a measure of staff keeps it from opening any.
 */
export async function openDefaultBalances(tx: ChangeTransaction, by: AuditBy, { record }: LockedCase): Promise<void> {
  const { client } = tx
  const { customerId } = record
  const standing = await lockCustomer(client, customerId)
  if (standing === null || moneyProblem(standing, 'prepare') !== null) return
  if ((await countOpenBalances(client, customerId)) > 0) return
  const setting = await readSetting(client, customerId, 'currencies', true)
  const enabled = setting === null ? null : new Set((setting.value as { enabled: string[] }).enabled)
  const available = new Set([...OFFERED_CURRENCIES].filter((currency) => enabled === null || enabled.has(currency)))
  for (const currency of defaultCurrencies(record.expectedActivity?.currencies ?? null, available))
    await openWithin(tx, by, customerId, { currency, parentBalanceId: null, metadata: {} })
}
