/** Simulates the statement of a month. */
import type { StatementJobRequest } from './statement-job.ts'
import { dateIn } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import { monthOf, STATEMENT_FORMATS } from '../../lib/statements/statement.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import {
  holderOf,
  statementOfMonth,
  type StatementBalance,
  type StatementRecord,
} from '../../storage/statements/statements.ts'
import { planStatement } from '../../storage/statements/statement-plan.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runOnce } from '../commands/run-once.ts'
import type { SimStatement } from '../../lib/statements/statement-schema.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import { balanceOf, insertStatementJob, type StatementDeps } from './insert-statement-job.ts'

/**
 * Simulates that the statement of the previous month is available, and requests it when it is missing.
 *
 * @throws ProblemError `not-found`, `simulation-not-possible`, and what `runOnce` throws
 */
export async function simulateStatement(
  deps: StatementDeps,
  by: Caller,
  { balanceId }: SimStatement,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { database, clock, ids } = deps
  const balance = await balanceOf(deps, by, balanceId)
  const { statement, request } = await lastMonth(deps, balance)
  const holder = await holderOf(database, balanceId)
  return await runOnce(deps, idempotency, 202, async (client) => {
    const now = clock.now()
    let statementId = statement?.id ?? null
    if (statementId === null) {
      const job = await insertStatementJob(client, by, balance, { id: ids.next(), request, now })
      // Planned now, so that the event can name the statement; the job adds its files.
      const planned = await planStatement(client, {
        id: ids.next(),
        jobId: job.id,
        ...request,
        balance,
        holder,
        now,
      })
      statementId = planned?.id ?? null
    }
    if (statementId === null)
      refuse('simulation-not-possible', 'The month before has no statement of its own.', {
        extra: { currentStatus: 'none', connectionProvider: 'sandbox' },
      })
    const eventId = ids.next()
    await writeEvent(client, {
      id: eventId,
      createdAt: now,
      customerId: balance.customerId,
      operatorId: balance.operatorId,
      shard: balance.shard,
      type: 'statement.available',
      object: 'statement',
      objectId: statementId,
      status: 'ready',
      previousStatus: null,
      amount: null,
      currency: null,
      sandbox: true,
      related: { object: 'balance', id: balanceId },
    })
    return {
      simulationId: ids.next(),
      kind: 'statement',
      status: 'queued',
      provider: 'platform',
      providerEventIds: [],
      providerReference: null,
      details: { statementId, balanceId, eventId },
    }
  })
}

/** Finds the statement of the previous month, and the request that makes it when it is missing. */
async function lastMonth(
  { database, clock }: Pick<StatementDeps, 'database' | 'clock'>,
  balance: StatementBalance,
): Promise<{ readonly statement: StatementRecord | null; readonly request: StatementJobRequest }> {
  const period = monthOf(Temporal.PlainDate.from(dateIn(clock.now(), 'UTC')).subtract({ months: 1 }).toString())
  const request: StatementJobRequest = {
    balanceId: balance.id,
    kind: 'monthly',
    ...period,
    formats: STATEMENT_FORMATS,
    fails: false,
  }
  return { statement: await statementOfMonth(database, balance.id, period.to), request }
}
