/**
 * The operations on transactions for the HTTP layer: reads, and the categories and annotations that people add. Each
 * change is one transaction with its trail entry.
 */
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse } from '../../lib/base/problems.ts'
import {
  annotationJson,
  deleteAnnotation,
  insertAnnotation,
  lockAnnotation,
  rewriteAnnotation,
  type AnnotationRecord,
} from '../../storage/transactions/annotations.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { findAnnotation, listAnnotations } from '../../storage/transactions/annotation-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import {
  findTransaction,
  getTransaction,
  listTransactions,
  listTransactionUpdates,
} from '../../storage/transactions/transaction-queries.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { setCategory } from '../../storage/transactions/transactions.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
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

/** The reads. Null means: no such row in this tenant. */
export interface TransactionReads {
  list(query: ListQuery<typeof transactionList>): Promise<ListResult<Transaction>>
  get(tenant: Tenant, id: string): Promise<Versioned<TransactionDetail> | null>
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
    by: ByCaller,
    id: string,
    category: string | null | undefined,
    expected: number | bigint | null,
  ): Promise<Versioned<TransactionDetail>>
  annotate(by: ByCaller, transactionId: string, text: string): Promise<Versioned<Annotation>>
  rewriteAnnotation(
    by: ByCaller,
    transactionId: string,
    id: string,
    text: string,
    expected: number | bigint | null,
  ): Promise<Versioned<Annotation>>
  deleteAnnotation(by: ByCaller, transactionId: string, id: string, expected: number | bigint | null): Promise<void>
}

export interface TransactionDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly ids: IdSource
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')
const stale = (): never => refuse('precondition-failed', 'The resource has changed since it was read.')
const shown = (record: AnnotationRecord): Versioned<Annotation> => ({
  version: record.version,
  view: annotationJson(record),
})

export function createTransactions({ database, clock, ids }: TransactionDeps): {
  readonly reads: TransactionReads
  readonly commands: TransactionCommands
} {
  const db = readDatabase(database)

  const reads: TransactionReads = {
    list: async (query) => (await listTransactions(database, db, query, clock.now())) as ListResult<Transaction>,
    get: async (tenant, id) =>
      (await getTransaction(database, db, tenant, id, clock.now())) as Versioned<TransactionDetail> | null,
    exists: async (tenant, id) => (await findTransaction(database, db, tenant, id, clock.now())) !== null,
    listUpdates: (query) => listTransactionUpdates(database, db, query, clock.now()),
    listAnnotations: async (query) =>
      (await reads.exists(query.tenant, query.transactionId)) ? await listAnnotations(db, query) : null,
    async getAnnotation(tenant, transactionId, id) {
      const record = await findAnnotation(db, { customerId: tenant.id, transactionId, id })
      return record === null ? null : shown(record)
    },
  }

  async function changing<Result>(work: (client: TransactionClient, now: number) => Promise<Result>): Promise<Result> {
    return await inTransaction(database, (client) => work(client, clock.now()))
  }

  async function trail(
    client: TransactionClient,
    by: ByCaller,
    now: number,
    action: string,
    object: { readonly type: string; readonly id: string },
    before: object | null,
    after: object | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: by.tenant.id,
      at: now,
      action,
      object,
      before,
      after,
    })
  }

  /**
   * Locks an annotation for a caller who may change it: its author, or an administrator.
   *
   * @throws ProblemError `insufficient-scope`
   */
  async function locked(
    client: TransactionClient,
    { tenant, principal }: ByCaller,
    transactionId: string,
    id: string,
    expected: number | bigint | null,
  ): Promise<AnnotationRecord> {
    const found = (await lockAnnotation(client, { customerId: tenant.id, transactionId, id })) ?? gone()
    if (found.author.id !== principal.id && !principal.capabilities.has('settings.manage')) {
      refuse('insufficient-scope', 'Only its author and administrators can change an annotation.', {
        extra: { requiredCapability: 'settings.manage' },
      })
    }
    if (expected !== null && BigInt(expected) !== found.version) stale()
    return found
  }

  const commands: TransactionCommands = {
    async setCategory(by, id, category, expected) {
      if (category !== undefined) {
        await changing(async (client, now) => {
          const before = await setCategory(client, {
            customerId: by.tenant.id,
            id,
            category,
            expected: expected === null ? null : BigInt(expected),
          })
          if (before === null) return gone()
          if (before === 'stale') return stale()
          await trail(
            client,
            by,
            now,
            'transaction.updated',
            { type: 'transaction', id },
            { category: before.category },
            { category },
          )
        })
      }
      return (await reads.get(by.tenant, id)) ?? gone()
    },
    async annotate(by, transactionId, text) {
      return await changing(async (client, now) => {
        const { tenant, principal } = by
        const annotation: AnnotationRecord = {
          id: ids.next(),
          transactionId,
          text,
          author: { id: principal.id, name: principal.name },
          version: 1n,
          createdAt: now,
          updatedAt: now,
        }
        if (!(await insertAnnotation(client, tenant.id, annotation))) gone()
        await trail(client, by, now, 'annotation.created', { type: 'annotation', id: annotation.id }, null, {
          transactionId,
          text,
        })
        return shown(annotation)
      })
    },
    async rewriteAnnotation(by, transactionId, id, text, expected) {
      return await changing(async (client, now) => {
        const before = await locked(client, by, transactionId, id, expected)
        if (before.text === text) return shown(before)
        await rewriteAnnotation(client, before, text, now)
        await trail(client, by, now, 'annotation.updated', { type: 'annotation', id }, { text: before.text }, { text })
        return shown({ ...before, text, version: before.version + 1n, updatedAt: now })
      })
    },
    async deleteAnnotation(by, transactionId, id, expected) {
      await changing(async (client, now) => {
        const before = await locked(client, by, transactionId, id, expected)
        await deleteAnnotation(client, before)
        await trail(
          client,
          by,
          now,
          'annotation.deleted',
          { type: 'annotation', id },
          { transactionId, text: before.text },
          null,
        )
      })
    },
  }
  return { reads, commands }
}
