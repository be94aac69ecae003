/**
 * The transaction of a decision by people: repeated on fresh rows when another change came first, with follow-up work
 * after the commit.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { CommitConflict } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import { lostRace } from '../../storage/db/sqlstates.ts'
import { inTransaction } from '../../storage/db/transaction.ts'

/** The work to do after the commit: mails, the payment queue. */
export type Afterwards = (() => void)[]

/**
 * Runs the work in one transaction, and its follow-up work after the commit.
 *
 * @throws the errors of the work; CommitConflict and database errors when they persist
 */
export async function decideInTransaction<Result>(
  { database, clock, ids }: { readonly database: Database; readonly clock: Clock; readonly ids: IdSource },
  work: (tx: ApprovalTx, afterwards: Afterwards) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const afterwards: Afterwards = []
    try {
      const result = await inTransaction(database, async (client) =>
        work({ client, ids, now: clock.now() }, afterwards),
      )
      for (const follow of afterwards) follow()
      return result
    } catch (error) {
      const again =
        error instanceof CommitConflict
          ? error.conflicts.every(({ kind }) => kind === 'payment_stale' || kind === 'exchange_stale')
          : lostRace(error)
      if (!again || attempt >= LIMITS.attemptsMax) throw error
    }
  }
}
