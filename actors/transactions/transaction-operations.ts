/**
 * The operations on transactions for the HTTP layer: reads, and the categories and annotations that people add. Each
 * change is one transaction with its trail entry.
 */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { findAnnotation, listAnnotations } from '../../storage/transactions/annotation-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { findTransaction, listTransactions } from '../../storage/transactions/transaction-queries.ts'
import { getTransaction } from '../../storage/transactions/transaction-details.ts'
import { listTransactionUpdates } from '../../storage/transactions/transaction-update-queries.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Annotation, annotationList } from '../../lib/transactions/annotation-schema.ts'
import type {
  Transaction,
  TransactionDetail,
  transactionList,
  TransactionUpdate,
  transactionUpdateList,
} from '../../lib/transactions/transaction-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  annotationView,
  createAnnotation,
  removeAnnotation,
  updateAnnotation,
  type TransactionDeps,
} from './change-annotation.ts'
import { categorizeTransaction } from './categorize-transaction.ts'

/** The reads. Null means: no such row in this tenant. */
export interface TransactionReads {
  list(query: ListQuery<typeof transactionList>): Promise<ListResult<Transaction>>
  /** `forOperator`: with the members that customers never see. */
  get(tenant: Tenant, id: string, forOperator?: boolean): Promise<Versioned<TransactionDetail> | null>
  /** Checks whether the transaction is the tenant's. */
  exists(tenant: Tenant, id: string): Promise<boolean>
  listUpdates(
    query: ListQuery<typeof transactionUpdateList> & { readonly transactionId: string },
  ): Promise<ListResult<TransactionUpdate> | null>
  listAnnotations(
    query: ListQuery<typeof annotationList> & { readonly transactionId: string },
  ): Promise<ListResult<Annotation> | null>
  getAnnotation(tenant: Tenant, transactionId: string, id: string): Promise<Versioned<Annotation> | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface TransactionCommands {
  setCategory(
    by: Caller,
    id: string,
    category: string | null | undefined,
    expected: number | bigint | null,
  ): Promise<Versioned<TransactionDetail>>
  annotate(by: Caller, transactionId: string, text: string): Promise<Versioned<Annotation>>
  rewriteAnnotation(
    by: Caller,
    transactionId: string,
    id: string,
    text: string,
    expected: number | bigint | null,
  ): Promise<Versioned<Annotation>>
  deleteAnnotation(by: Caller, transactionId: string, id: string, expected: number | bigint | null): Promise<void>
}

/** Creates the reads and commands of transactions. */
export function createTransactions(deps: TransactionDeps): {
  readonly reads: TransactionReads
  readonly commands: TransactionCommands
} {
  const { database, clock } = deps
  const db = readDatabase(database)

  const reads: TransactionReads = {
    list: async (query) => (await listTransactions(database, db, query, clock.now())) as ListResult<Transaction>,
    get: async (tenant, id, forOperator = false) =>
      (await getTransaction(database, db, tenant, id, {
        now: clock.now(),
        forOperator,
      })) as Versioned<TransactionDetail> | null,
    exists: async (tenant, id) => (await findTransaction(database, db, tenant, id, clock.now())) !== null,
    listUpdates: (query) => listTransactionUpdates(database, db, query, clock.now()),
    listAnnotations: async (query) =>
      (await reads.exists(query.tenant, query.transactionId)) ? await listAnnotations(db, query) : null,
    async getAnnotation(tenant, transactionId, id) {
      const record = await findAnnotation(db, { customerId: tenant.id, transactionId, id })
      return record === null ? null : annotationView(record)
    },
  }

  const commands: TransactionCommands = {
    async setCategory(by, id, category, expected) {
      await categorizeTransaction(deps, by, id, category, expected)
      return (await reads.get(by.tenant, id)) ?? refuseNotFound()
    },
    annotate: (by, transactionId, text) => createAnnotation(deps, by, transactionId, text),
    rewriteAnnotation: (by, transactionId, id, text, expected) =>
      updateAnnotation(deps, by, transactionId, id, text, expected),
    deleteAnnotation: (by, transactionId, id, expected) => removeAnnotation(deps, by, transactionId, id, expected),
  }
  return { reads, commands }
}
