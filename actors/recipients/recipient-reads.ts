/** The reads of recipients. Null means: no such row in this tenant. */
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { getRecipient, listRecipients, type RecipientListQuery } from '../../storage/recipients/recipient-queries.ts'
import {
  getRecipientReview,
  listRecipientReviews,
  type RecipientReviewListQuery,
} from '../../storage/recipients/recipient-review-queries.ts'

/** Creates the reads. They throw DatabaseUnavailable while Postgres is slow or gone. */
export function createRecipientReads({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { now(): number }
}) {
  const db = readDatabase(database)
  return {
    listRecipients: (query: RecipientListQuery) => listRecipients(db, query),
    getRecipient: (tenant: Tenant, id: string) => getRecipient(database, tenant, id),
    listRecipientReviews: (query: RecipientReviewListQuery) => listRecipientReviews(db, query, clock.now()),
    getRecipientReview: (tenant: Tenant, id: string) => getRecipientReview(database, tenant, id),
  }
}
