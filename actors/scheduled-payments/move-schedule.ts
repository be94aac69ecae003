/** Pauses, resumes and cancels a schedule. */
import { checkAllowed } from './change-schedule.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import { cancelled, paused, resumed } from '../../lib/scheduled-payments/schedule.ts'
import * as reads from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import * as rows from '../../storage/scheduled-payments/scheduled-payments.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runOnce } from '../commands/run-once.ts'
import type { ScheduledPayment } from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import { lockScheduleOf, txOf, versioned, writeSchedule, type ScheduledPaymentDeps } from './write-schedule.ts'
import { checkPayable } from './schedule-recipient.ts'

/**
 * Pauses an active schedule: no payment is made until it is resumed.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function pauseSchedule(
  deps: ScheduledPaymentDeps,
  by: Caller,
  id: string,
): Promise<Versioned<ScheduledPayment>> {
  const { database } = deps
  return await inTransaction(database, async (client) => {
    const tx = txOf(deps, client)
    const before = await lockScheduleOf(tx, by, id)
    checkAllowed('pause', before)
    return versioned(
      await writeSchedule(tx, by, 'paused', before, rows.withState(before, paused(before.state, tx.now))),
    )
  })
}

/**
 * Resumes a paused schedule with the next occurrence after now.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `recipient-not-approved`
 */
export async function resumeSchedule(
  deps: ScheduledPaymentDeps,
  by: Caller,
  id: string,
): Promise<Versioned<ScheduledPayment>> {
  const { database } = deps
  const seen = await reads.findSchedule(database, by.tenant, id)
  if (seen === null) return refuseNotFound()
  return await inTransaction(database, async (client) => {
    const tx = txOf(deps, client)
    // Lock order: recipients before schedules, because blocking a recipient pauses its schedules.
    const recipient = await rows.holdRecipient(client, by.tenant.id, seen.recipientId)
    const before = await lockScheduleOf(tx, by, id)
    checkAllowed('resume', before)
    checkPayable(recipient)
    return versioned(
      await writeSchedule(
        tx,
        by,
        'resumed',
        before,
        rows.withState(before, resumed(before.state, calendarOf(before.rail, before.calendar), tx.now)),
      ),
    )
  })
}

/**
 * Cancels a schedule for good.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, and what `runOnce` throws
 */
export async function cancelSchedule(
  deps: ScheduledPaymentDeps,
  by: Caller,
  id: string,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<ScheduledPayment, 200>> {
  return await runOnce(deps, idempotency, 200, async (client) => {
    const tx = txOf(deps, client)
    const before = await lockScheduleOf(tx, by, id)
    checkAllowed('cancel', before)
    return versioned(await writeSchedule(tx, by, 'cancelled', before, rows.withState(before, cancelled(before.state))))
      .view
  })
}
