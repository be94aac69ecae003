/** The reads of incoming payments. Null means: no such row in this tenant. */
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import {
  getIncomingPayment,
  getSuspenseItem,
  listIncomingPayments,
  listSuspense,
  type IncomingListQuery,
  type SuspenseListQuery,
} from '../../storage/incoming-payments/incoming-payment-queries.ts'

/** Creates the reads. They throw DatabaseUnavailable while Postgres is slow or gone. */
export function createIncomingPaymentReads({ database }: { readonly database: Database }) {
  const db = readDatabase(database)
  return {
    listIncomingPayments: (query: IncomingListQuery) => listIncomingPayments(db, query),
    getIncomingPayment: (tenant: Tenant, id: string) => getIncomingPayment(database, tenant, id),
    listSuspense: (query: SuspenseListQuery) => listSuspense(db, query),
    getSuspenseItem: (tenant: Tenant, id: string) => getSuspenseItem(database.pool, tenant, id),
  }
}
