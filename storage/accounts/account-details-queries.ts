/** Account details as the customer sees them. */
import type { AccountDetailsJson } from '../../lib/accounts/details.ts'
import { accountDetailsOf } from './account-details.ts'
import type { Database } from '../db/database.ts'
import { balanceCurrency } from '../balances/balance-queries.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** Reads the account details of one balance; null when the balance is not the tenant's. */
export async function getAccountDetails(
  database: Database,
  tenant: Tenant,
  balanceId: string,
): Promise<readonly AccountDetailsJson[] | null> {
  if ((await balanceCurrency(database, tenant, balanceId)) === null) return null
  return (await accountDetailsOf(database, [balanceId])).get(balanceId) ?? []
}
