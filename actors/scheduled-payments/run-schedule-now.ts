/** Simulates that an occurrence of a schedule is due. */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { laterThan } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import { dueNow } from '../../lib/scheduled-payments/schedule.ts'
import * as rows from '../../storage/scheduled-payments/scheduled-payments.ts'
import * as occurrences from '../../storage/scheduled-payments/scheduled-occurrences.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runOnce } from '../commands/run-once.ts'
import type { CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import { lockScheduleOf, txOf, type ScheduledPaymentDeps } from './write-schedule.ts'

/**
 * Makes the next occurrence of a schedule due now, in the sandbox.
 *
 * @throws ProblemError `not-found`, `simulation-not-possible`, and what `runOnce` throws
 */
export async function runScheduleNow(
  deps: ScheduledPaymentDeps,
  by: Caller,
  id: string,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SimulationResult, 202>> {
  return await runOnce(deps, idempotency, 202, async (client) => {
    const tx = txOf(deps, client)
    const before = await lockScheduleOf(tx, by, id)
    const { status, next } = before.state
    if (status !== 'active' || next === null || (await occurrences.dueOccurrence(client, id)) !== null) {
      refuse(
        'simulation-not-possible',
        status === 'active' ? 'An occurrence is being made just now.' : `The scheduled payment is ${status}.`,
        {
          extra: { currentStatus: status, connectionProvider: 'sandbox' },
        },
      )
    }
    await rows.updateSchedule(
      client,
      rows.withState(before, dueNow(before.state, tx.now)),
      laterThan(before.updatedAt, tx.now),
    )
    return {
      simulationId: tx.ids.next(),
      kind: 'scheduled_run',
      status: 'queued',
      provider: 'platform',
      providerEventIds: [],
      providerReference: null,
      details: { scheduledPaymentId: id, plannedDate: next.plannedDate, executionDate: next.executionDate },
    }
  })
}
