/** The reads of transfers. Null means: no such row in this tenant. */
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { getTransfer, listTransfers, type TransferListQuery } from '../../storage/transfers/transfer-queries.ts'

/** Creates the reads. They throw DatabaseUnavailable while Postgres is slow or gone. */
export function createTransferReads({ database }: { readonly database: Database }) {
  const db = readDatabase(database)
  return {
    listTransfers: (query: TransferListQuery) => listTransfers(db, query),
    getTransfer: (tenant: Tenant, id: string) => getTransfer(database, tenant, id),
  }
}
