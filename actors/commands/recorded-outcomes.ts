/** Outcomes of commands that are decided in a transaction: recorded under their key, and answered from the record. */
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'
import { outcomeRecord } from '../../lib/decisions/outcome-record.ts'
import type { Problem } from '../../lib/base/problems.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { CommandOrigin } from './command-origin.ts'
import type { Unmade } from './answers.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Clock } from '../../lib/base/clock.ts'

/** Records a refusal under its key, as a success is recorded. */
export async function recordRefusal(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  caller: CommandOrigin,
  problem: Problem,
): Promise<Unmade> {
  if (caller.key === null) return { kind: 'refused', problem, body: null }
  const body = problemBody(problem, caller.problemRequest)
  const outcome = await unlessRecorded(async () => {
    await inTransaction(database, (client) =>
      writeEffects(
        { client, now: clock.now() },
        outcomeRecord(caller.key, problemStatus(problem), null, body, clock.now()),
      ),
    )
    return 'moved_on' as const
  })
  return typeof outcome === 'string' ? { kind: 'refused', problem, body } : outcome
}

/** Runs the work and returns its result, or the outcome that the key already has. */
export async function unlessRecorded<Result>(
  work: () => Promise<Result>,
): Promise<Result | Extract<Unmade, { kind: 'recorded' }>> {
  try {
    return await work()
  } catch (error) {
    const recorded =
      error instanceof CommitConflict ? error.conflicts.find(({ kind }) => kind === 'recorded') : undefined
    if (recorded?.kind === 'recorded') return { kind: 'recorded', outcome: recorded.outcome }
    throw error
  }
}

/** Converts the caller for the trail. */
export function auditBy({ createdBy, createdByName, createdVia }: CommandOrigin): AuditBy {
  return {
    actor: { type: createdVia === 'api_key' ? 'key' : 'member', id: createdBy, name: createdByName },
    address: null,
    requestId: null,
  }
}
