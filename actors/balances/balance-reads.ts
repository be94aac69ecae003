/** The reads of balances. Null means: no such row in this tenant. */
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  balanceReader,
  getBalance,
  listBalances,
  operatorBalanceJson,
  type BalanceListQuery,
} from '../../storage/balances/balance-queries.ts'
import { listHolds, type HoldListQuery } from '../../storage/balances/hold-queries.ts'
import { JournalReader, type JournalListQuery } from '../../storage/balances/journal-queries.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'

/** Creates the reads. They throw DatabaseUnavailable while Postgres is slow or gone. */
export function createBalanceReads({ database }: { readonly database: Database }) {
  const db = readDatabase(database)
  const balances = balanceReader(database)
  const journals = new JournalReader(database, db, balances)
  return {
    /** `forOperator`: with the members that customers never see. */
    listBalances: (query: BalanceListQuery, forOperator = query.tenant.kind === 'operator') =>
      listBalances(db, query, forOperator),
    getBalance: (tenant: Tenant, id: string) => getBalance(balances, tenant, id),
    /** Reads a balance with the members that customers never see. */
    async getOperatorBalance(tenant: Tenant, id: string) {
      const found = await getBalance(balances, tenant, id)
      return found === null ? null : { version: found.version, view: operatorBalanceJson(found) }
    },
    /** Null when the balance itself is not the tenant's. */
    listJournal: (query: JournalListQuery) => journals.list(query),
    /** Null when the balance itself is not the tenant's. */
    listHolds: (query: HoldListQuery) => listHolds(database, db, query),
  }
}
