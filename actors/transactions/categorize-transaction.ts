/** Categorizes a transaction. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { setCategory } from '../../storage/transactions/transactions.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { TransactionDeps } from './change-annotation.ts'
import { refuseChanged } from '../../lib/commands/etag.ts'

/**
 * Sets or removes the category of a transaction; undefined changes nothing.
 *
 * @throws ProblemError `not-found`, `precondition-failed`
 */
export async function categorizeTransaction(
  { database, clock, ids }: TransactionDeps,
  by: Caller,
  id: string,
  category: string | null | undefined,
  expected: number | bigint | null,
): Promise<void> {
  if (category === undefined) return
  await inTransaction(database, async (client) => {
    const now = clock.now()
    const before = await setCategory(client, {
      customerId: by.tenant.id,
      id,
      category,
      expected: expected === null ? null : BigInt(expected),
    })
    if (before === null) refuseNotFound()
    if (before === 'stale') refuseChanged()
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'transaction.updated',
      object: { type: 'transaction', id },
      before: { category: before.category },
      after: { category },
    })
  })
}
