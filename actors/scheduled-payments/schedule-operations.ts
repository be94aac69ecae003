/**
 * The operations on scheduled payments: a checked request becomes rows, each change in one transaction with its event
 * and its trail entry. Their payments are made by actors/scheduled-payments/scheduled-payments.ts.
 */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import * as reads from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  occurrenceList,
  ScheduledPayment,
  ScheduledPaymentCreate,
  scheduledPaymentList,
  ScheduledPaymentUpdate,
} from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { Command, CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { createSchedule } from './create-schedule.ts'
import { cancelSchedule, pauseSchedule, resumeSchedule } from './move-schedule.ts'
import { runScheduleNow } from './run-schedule-now.ts'
import { updateSchedule } from './update-schedule.ts'
import type { ScheduledPaymentDeps } from './write-schedule.ts'

/** The reads. Null means: no such row in this tenant. */
export interface ScheduledPaymentReads {
  list(query: ListQuery<typeof scheduledPaymentList>): Promise<ListResult<ScheduledPayment>>
  get(tenant: Tenant, id: string): Promise<Versioned<ScheduledPayment> | null>
  occurrences(
    query: ListQuery<typeof occurrenceList> & { readonly scheduledPaymentId: string },
  ): ReturnType<typeof reads.listOccurrences>
}

/** The writes. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency key. */
export interface ScheduledPaymentCommands {
  create(by: Caller, command: Command<ScheduledPaymentCreate>): Promise<CommandAnswer<ScheduledPayment, 201>>
  update(
    by: Caller,
    id: string,
    body: ScheduledPaymentUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<ScheduledPayment>>
  pause(by: Caller, id: string): Promise<Versioned<ScheduledPayment>>
  resume(by: Caller, id: string): Promise<Versioned<ScheduledPayment>>
  cancel(by: Caller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer<ScheduledPayment, 200>>
  /** Makes the next occurrence due now. */
  runNow(by: Caller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer<SimulationResult, 202>>
}

/** Creates the reads of scheduled payments. */
export function createScheduledPaymentReads({
  database,
}: Pick<ScheduledPaymentDeps, 'database'>): ScheduledPaymentReads {
  const db = readDatabase(database)
  return {
    list: (query) => reads.listScheduledPayments(db, query),
    get: (tenant, id) => reads.getScheduledPayment(database, tenant, id),
    occurrences: (query) => reads.listOccurrences(database, db, query),
  }
}

/** Creates the commands of scheduled payments. */
export function createScheduledPaymentCommands(deps: ScheduledPaymentDeps): ScheduledPaymentCommands {
  return {
    create: (by, command) => createSchedule(deps, by, command),
    update: (by, id, body, expected) => updateSchedule(deps, by, id, body, expected),
    pause: (by, id) => pauseSchedule(deps, by, id),
    resume: (by, id) => resumeSchedule(deps, by, id),
    cancel: (by, id, idempotency) => cancelSchedule(deps, by, id, idempotency),
    runNow: (by, id, idempotency) => runScheduleNow(deps, by, id, idempotency),
  }
}
