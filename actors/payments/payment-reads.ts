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
    /** `forOperator`: with the members that customers never see. */
    listPayments: (query: PaymentListQuery, forOperator = false) =>
      listPayments(database, db, query, queue, forOperator),
    /** `forOperator`: with the members that customers never see. */
    getPayment: (tenant: Tenant, id: string, forOperator = false) =>
      getPayment(database, tenant, id, queue, forOperator),
  }
}
