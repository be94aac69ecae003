/** Accounts: their details at the bank, money that the sandbox adds, and balances without use. */
import type { Tenant } from '../../lib/commands/caller.ts'
import { getAccountDetails } from '../../storage/accounts/account-details-queries.ts'
import type { ExchangeDeps } from '../exchange/create-exchange.ts'
import type { AccountPartner } from '../providers/account-partner.ts'
import { background, type Node } from '../runtime/node.ts'
import { AccountDetailsUpkeep } from './account-details.ts'
import { createAddMoney } from './add-money.ts'
import { IdleBalances } from './idle-balances.ts'

export type AccountService = ReturnType<typeof createAccountService>

/** Creates the service. */
export function createAccountService(
  node: Node,
  {
    exchanges,
    accountBook,
  }: { readonly exchanges: { readonly deps: ExchangeDeps }; readonly accountBook: AccountPartner },
) {
  const { database } = node
  return {
    reads: {
      /** Null when the balance itself is not the tenant's. */
      getAccountDetails: (tenant: Tenant, balanceId: string) => getAccountDetails(database, tenant, balanceId),
    },
    commands: { addMoney: createAddMoney({ ...node, ...exchanges.deps }) },
    tasks: [new IdleBalances(node).task()],
    background: [background('account details', new AccountDetailsUpkeep({ ...node, partner: accountBook }))],
  }
}
