/** The reads of payments. Null means: no such row in this tenant. */
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { getPayment, listPayments, type PaymentListQuery } from '../../storage/payments/payment-queries.ts'
import type { Queue } from '../../storage/payments/queue-places.ts'

/** Creates the reads. They throw DatabaseUnavailable while Postgres is slow or gone. */
export function createPaymentReads({ database, ...queue }: Queue & { readonly database: Database }) {
  const db = readDatabase(database)
  return {
    listPayments: (query: PaymentListQuery) => listPayments(database, db, query, queue),
    getPayment: (tenant: Tenant, id: string) => getPayment(database, tenant, id, queue),
  }
}
