/** Annotations of transactions: each change is one transaction with its trail entry. */
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import {
  annotationJson,
  deleteAnnotation,
  insertAnnotation,
  lockAnnotation,
  rewriteAnnotation,
  type AnnotationRecord,
} from '../../storage/transactions/annotations.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Annotation } from '../../lib/transactions/annotation-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The dependencies of changes of transactions and their annotations. */
export interface TransactionDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly ids: IdSource
}

/** An annotation as the API shows it, with its version. */
export const annotationView = (record: AnnotationRecord): Versioned<Annotation> => ({
  version: record.version,
  view: annotationJson(record),
})

/**
 * Adds an annotation to a transaction of the caller's customer.
 *
 * @throws ProblemError `not-found`
 */
export async function createAnnotation(
  { database, clock, ids }: TransactionDeps,
  by: Caller,
  transactionId: string,
  text: string,
): Promise<Versioned<Annotation>> {
  return await inTransaction(database, async (client) => {
    const now = clock.now()
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
    if (!(await insertAnnotation(client, tenant.id, annotation))) refuseNotFound()
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'annotation.created',
      object: { type: 'annotation', id: annotation.id },
      before: null,
      after: { transactionId, text },
    })
    return annotationView(annotation)
  })
}

/**
 * Replaces the text of an annotation.
 *
 * @throws ProblemError `not-found`, `insufficient-scope`, `precondition-failed`
 */
export async function updateAnnotation(
  { database, clock, ids }: TransactionDeps,
  by: Caller,
  transactionId: string,
  id: string,
  text: string,
  expected: number | bigint | null,
): Promise<Versioned<Annotation>> {
  return await inTransaction(database, async (client) => {
    const now = clock.now()
    const before = await lockAnnotationOf(client, by, transactionId, id, expected)
    if (before.text === text) return annotationView(before)
    await rewriteAnnotation(client, by.tenant.id, before, text, now)
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'annotation.updated',
      object: { type: 'annotation', id },
      before: { text: before.text },
      after: { text },
    })
    return annotationView({ ...before, text, version: before.version + 1n, updatedAt: now })
  })
}

/**
 * Deletes an annotation.
 *
 * @throws ProblemError `not-found`, `insufficient-scope`, `precondition-failed`
 */
export async function removeAnnotation(
  { database, clock, ids }: TransactionDeps,
  by: Caller,
  transactionId: string,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await inTransaction(database, async (client) => {
    const now = clock.now()
    const before = await lockAnnotationOf(client, by, transactionId, id, expected)
    await deleteAnnotation(client, by.tenant.id, before)
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'annotation.deleted',
      object: { type: 'annotation', id },
      before: { transactionId, text: before.text },
      after: null,
    })
  })
}

/**
 * Locks an annotation for a caller who may change it: its author, or an administrator.
 *
 * @throws ProblemError `not-found`, `insufficient-scope`, `precondition-failed`
 */
async function lockAnnotationOf(
  client: TransactionClient,
  { tenant, principal }: Caller,
  transactionId: string,
  id: string,
  expected: number | bigint | null,
): Promise<AnnotationRecord> {
  const found = (await lockAnnotation(client, { customerId: tenant.id, transactionId, id })) ?? refuseNotFound()
  if (found.author.id !== principal.id && !principal.capabilities.has('settings.manage')) {
    refuse('insufficient-scope', 'Only its author and administrators can change an annotation.', {
      extra: { requiredCapability: 'settings.manage' },
    })
  }
  checkVersion(found, expected)
  return found
}
