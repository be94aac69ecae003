/** The reads of balances. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Balance, balanceList } from '../../lib/balances/balance-schema.ts'
import type { Hold, holdList } from '../../lib/balances/hold-schema.ts'
import type { JournalLine, journalList } from '../../lib/balances/journal-line-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/** A list of rows that belong to one balance. */
export type ListOfBalanceQuery<List> = ListQuery<List> & { readonly balanceId: string }

export interface BalanceReads {
  listBalances(query: ListQuery<typeof balanceList>): Promise<ListResult<Balance>>
  getBalance(tenant: Tenant, id: string): Promise<Versioned<Balance> | null>
  /** Null when the balance itself is not the tenant's. */
  listJournal(query: ListOfBalanceQuery<typeof journalList>): Promise<ListResult<JournalLine> | null>
  listHolds(query: ListOfBalanceQuery<typeof holdList>): Promise<ListResult<Hold> | null>
}
