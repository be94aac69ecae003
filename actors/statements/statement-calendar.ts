/**
 * Requests monthly statements: on the first day of a month, at 06:00 UTC, one job for each balance that existed in the
 * month before. The progress of a shard is a row, moved in the transaction that inserts the jobs, so that a crash in
 * between leaves no balance out and requests none twice; moving it adds the task that goes on.
 */
import { dateIn, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { monthlyDueAt, monthOf, nextMonth, STATEMENT_FORMATS } from '../../lib/statements/statement.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM } from '../../storage/trail/trail.ts'
import { insertJob } from '../../storage/jobs/jobs.ts'
import {
  balancesOfMonth,
  beginCalendar,
  moveCalendar,
  withDueShard,
  type CalendarPlace,
} from '../../storage/statements/statement-calendar.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { StatementJobRequest } from './statement-job.ts'
import type { Task } from '../runtime/tasks.ts'

/** The number of balances handled in one transaction. */
const BALANCES_MAX = 200

export interface StatementCalendarOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
}

export class StatementCalendar {
  readonly #options: StatementCalendarOptions

  constructor(options: StatementCalendarOptions) {
    this.#options = options
  }

  /** Begins the calendar of a new installation with the current month. */
  async begin(): Promise<void> {
    const { database, clock } = this.#options
    const { from } = monthOf(dateIn(clock.now(), 'UTC'))
    await beginCalendar(database, from, monthlyDueAt(from))
  }

  /** Requests the statements of a shard that are due, `BALANCES_MAX` per run. */
  task(): Task {
    return {
      name: 'statements.calendar',
      run: async (shard) => {
        const { database, clock } = this.#options
        const now = clock.now()
        await withDueShard(database, { now, shard: Number(shard) }, (client, place) => this.#ask(client, place, now))
      },
    }
  }

  async #ask(client: TransactionClient, place: CalendarPlace, now: number): Promise<void> {
    const { ids } = this.#options
    const { shard, month } = place
    const period = monthOf(month)
    const next = nextMonth(month)
    const { balances, read } = await balancesOfMonth(client, place, {
      from: period.from,
      until: next,
      max: BALANCES_MAX,
    })
    for (const { id: balanceId, customerId, operatorId } of balances) {
      const request: StatementJobRequest = {
        balanceId,
        kind: 'monthly',
        ...period,
        formats: STATEMENT_FORMATS,
        fails: false,
      }
      await insertJob(client, {
        id: ids.next(),
        tenantId: customerId,
        operatorId,
        customerId,
        shard,
        kind: 'statement',
        request,
        fingerprint: null,
        subject: { object: 'balance', id: balanceId },
        requestedBy: SYSTEM.actor.id,
        requestId: null,
        now,
      })
    }
    if (read === null) await moveCalendar(client, { shard, month: next, afterBalance: null }, monthlyDueAt(next))
    else await moveCalendar(client, { ...place, afterBalance: read }, null)
  }
}
