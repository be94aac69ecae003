/** All reads of the API, over one pool. */
import type { Database } from '../../storage/db/database.ts'
import { getAccountDetails } from '../../storage/accounts/account-details-queries.ts'
import { findApiKey } from '../../storage/identity/api-key-queries.ts'
import {
  balanceReader,
  getBalance,
  listBalances,
  type BalanceListQuery,
} from '../../storage/balances/balance-queries.ts'
import { listHolds, type HoldListQuery } from '../../storage/balances/hold-queries.ts'
import { findIdempotencyRecord } from '../../storage/replay/recorded-commands.ts'
import {
  getIncomingPayment,
  getSuspenseItem,
  listIncomingPayments,
  listSuspense,
  type IncomingListQuery,
  type SuspenseListQuery,
} from '../../storage/incoming-payments/incoming-payment-queries.ts'
import { JournalReader, type JournalListQuery } from '../../storage/balances/journal-queries.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { getPayment, listPayments, type PaymentListQuery, type Queue } from '../../storage/payments/payment-queries.ts'
import {
  getRecipientReview,
  listRecipientReviews,
  type RecipientReviewListQuery,
} from '../../storage/recipients/recipient-review-queries.ts'
import { getRecipient, listRecipients, type RecipientListQuery } from '../../storage/recipients/recipient-queries.ts'
import { getTransfer, listTransfers, type TransferListQuery } from '../../storage/transfers/transfer-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'

/** Dependencies of the reads. */
export interface ReadOptions extends Queue {
  readonly database: Database
}

/** The reads, as functions without further dependencies. */
export type Reads = ReturnType<typeof createReads>

/**
 * Builds the reads. Each returns null when the tenant has no such row, and throws DatabaseUnavailable while Postgres is
 * slow or gone. None of them writes.
 */
export function createReads({ database, clock, drainPerSecond }: ReadOptions) {
  const db = readDatabase(database)
  const balances = balanceReader(database)
  const journals = new JournalReader(database, db, balances)
  const queue: Queue = { clock, drainPerSecond }
  return {
    listBalances: (query: BalanceListQuery) => listBalances(db, query),
    getBalance: (tenant: Tenant, id: string) => getBalance(balances, tenant, id),
    getAccountDetails: (tenant: Tenant, balanceId: string) => getAccountDetails(database, tenant, balanceId),
    listJournal: (query: JournalListQuery) => journals.list(query),
    listHolds: (query: HoldListQuery) => listHolds(database, db, query),
    listRecipients: (query: RecipientListQuery) => listRecipients(db, query),
    getRecipient: (tenant: Tenant, id: string) => getRecipient(database, tenant, id),
    listRecipientReviews: (query: RecipientReviewListQuery) => listRecipientReviews(db, query),
    getRecipientReview: (tenant: Tenant, id: string) => getRecipientReview(database, tenant, id),
    listPayments: (query: PaymentListQuery) => listPayments(database, db, query, queue),
    getPayment: (tenant: Tenant, id: string) => getPayment(database, tenant, id, queue),
    listTransfers: (query: TransferListQuery) => listTransfers(db, query),
    getTransfer: (tenant: Tenant, id: string) => getTransfer(database, tenant, id),
    listIncomingPayments: (query: IncomingListQuery) => listIncomingPayments(db, query),
    getIncomingPayment: (tenant: Tenant, id: string) => getIncomingPayment(database, tenant, id),
    listSuspense: (query: SuspenseListQuery) => listSuspense(db, query),
    getSuspenseItem: (tenant: Tenant, id: string) => getSuspenseItem(database, tenant, id),
    findApiKey: (sha256: string) => findApiKey(database, sha256),
    findIdempotencyRecord: (id: string) => findIdempotencyRecord(database, id, clock.now()),
  }
}
