/** The connection of a balance, for money that another connection's bank takes in or pays out. */
import type { ConnectionAccounts } from '../../../lib/providers/cash-leg.ts'
import { connectionOfBalance } from '../../../storage/balances/balance-lookups.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import type { AccountScope, InternalAccountReader } from '../../../storage/journal/internal-account-cache.ts'

/**
 * Reads where a balance sits now; undefined where that is the connection of `scope`. Within a transaction that holds the
 * balance's lock it stays there; otherwise the commit compares its place.
 *
 * @throws the driver's errors; Error when there is no such balance
 */
export async function readHome(
  queries: Queries,
  accounts: Pick<InternalAccountReader, 'accounts'>,
  { balanceId, operatorId, connectionId, currency }: AccountScope & { readonly balanceId: string },
): Promise<ConnectionAccounts | undefined> {
  const home = await connectionOfBalance(queries, balanceId)
  if (home === connectionId) return undefined
  return { connectionId: home, accounts: await accounts.accounts({ operatorId, connectionId: home, currency }) }
}
