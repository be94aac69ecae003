/**
 * The operations on business-day calendars of connections for the HTTP layer: each change in one transaction with its
 * trail entry.
 */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { businessDayFrom, type CalendarTerms } from '../../lib/rails/business-days.ts'
import { CalendarUnknown } from '../../lib/rails/calendar-days.ts'
import { railDays } from '../../lib/rails/calendars.ts'
import { RAILS, type Rail } from '../../lib/rails/rails.ts'
import { refuse, type FieldError, type FieldErrorCode, refuseNotFound } from '../../lib/base/problems.ts'
import {
  readConnectionCalendar,
  writeConnectionCalendar,
  type ConnectionCalendarRecord,
} from '../../storage/providers/connection-calendars.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ConnectionCalendar, ConnectionCalendarUpdate } from '../../lib/providers/connection-calendar-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

export interface ConnectionCalendarReads {
  /** Reads the calendar of one of an operator's connections; null when the operator has no such connection. */
  get(operatorId: string, connectionId: string): Promise<Versioned<ConnectionCalendar> | null>
}

export interface ConnectionCalendarCommands {
  /** Changes a calendar; absent members stay as they are. @throws ProblemError */
  update(
    by: Caller<'person'>,
    connectionId: string,
    body: ConnectionCalendarUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<ConnectionCalendar>>
}

/** Creates the reads and commands. */
export function createConnectionCalendars({
  database,
  ids,
  clock,
}: {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
}): {
  readonly reads: ConnectionCalendarReads
  readonly commands: ConnectionCalendarCommands
} {
  const get: ConnectionCalendarReads['get'] = async (operatorId, connectionId) => {
    const record = await readConnectionCalendar(database.pool, operatorId, connectionId)
    return record === null ? null : { version: record.version, view: calendarJson(record) }
  }
  return {
    reads: { get },
    commands: {
      async update(by, connectionId, body, expected) {
        await inTransaction(database, async (client) => {
          const before = await readConnectionCalendar(client, by.tenant.id, connectionId, true)
          if (before === null) refuseNotFound()
          checkVersion(before, expected)
          const after = changed(before, body)
          await writeConnectionCalendar(client, by.tenant.id, { ...after, by: by.session.userId, now: clock.now() })
          await writeAudit(client, {
            ...auditCaller(by),
            id: ids.next(),
            tenantId: by.tenant.id,
            at: clock.now(),
            action: 'provider_connection.calendar_updated',
            object: { type: 'provider_connection', id: connectionId },
            before: settingsJson(before),
            after: settingsJson(after),
          })
        })
        return (await get(by.tenant.id, connectionId)) ?? refuseNotFound()
      },
    },
  }
}

/** Computes a calendar after a change. @throws ProblemError that names every error in the change */
function changed(
  before: ConnectionCalendarRecord,
  { realCalendar, cutOffs, closedDays }: ConnectionCalendarUpdate,
): ConnectionCalendarRecord {
  const errors: FieldError[] = []
  const wrong = (field: string, code: FieldErrorCode, message: string) => {
    errors.push({ field, code, message })
  }
  if (realCalendar === false && !before.sandbox)
    wrong('/realCalendar', 'not_applicable', 'Only a sandbox can switch its calendar off.')
  const times =
    cutOffs === undefined
      ? (before.terms.cutOffs ?? {})
      : byRail(
          cutOffs,
          ({ rail, time }, at) => {
            if ((RAILS.get(rail)?.cutOff ?? null) === null)
              wrong(`/cutOffs/${at}/rail`, 'not_applicable', `${rail} is open around the clock.`)
            return time
          },
          (at) => wrong(`/cutOffs/${at}/rail`, 'invalid_value', 'Each rail once.'),
        )
  const days =
    closedDays === undefined
      ? (before.terms.closedDays ?? {})
      : byRail(
          closedDays,
          ({ rail, dates }, at) => {
            if (railDays(rail).calendar === null)
              wrong(`/closedDays/${at}/rail`, 'not_applicable', `${rail} is open on every day.`)
            else
              for (const [nth, date] of dates.entries())
                if (!opensAgain(rail, date, { closedDays: { [rail]: dates } })) {
                  wrong(`/closedDays/${at}/dates/${nth}`, 'too_far_ahead', 'From here on no business day is known.')
                  break
                }
            return [...dates].sort()
          },
          (at) => wrong(`/closedDays/${at}/rail`, 'invalid_value', 'Each rail once.'),
        )
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
  return { ...before, kept: realCalendar ?? before.kept, terms: { cutOffs: times, closedDays: days } }
}

function byRail<Item extends { readonly rail: Rail }, Value>(
  items: readonly Item[],
  value: (item: Item, at: number) => Value,
  twice: (at: number) => void,
): { readonly [rail in Rail]?: Value } {
  const found: { [rail in Rail]?: Value } = {}
  for (const [at, item] of items.entries()) {
    if (item.rail in found) twice(at)
    found[item.rail] = value(item, at)
  }
  return found
}

function opensAgain(rail: Rail, date: string, terms: CalendarTerms): boolean {
  try {
    return businessDayFrom(rail, date, terms) >= date
  } catch (error) {
    if (error instanceof CalendarUnknown) return false
    throw error
  }
}

function settingsJson({
  kept,
  terms: { cutOffs = {}, closedDays = {} },
}: Pick<ConnectionCalendarRecord, 'kept' | 'terms'>): Pick<
  ConnectionCalendar,
  'realCalendar' | 'cutOffs' | 'closedDays'
> {
  return {
    realCalendar: kept,
    cutOffs: Object.entries(cutOffs)
      .sort()
      .map(([rail, time]) => ({ rail: rail as Rail, time })),
    closedDays: Object.entries(closedDays)
      .sort()
      .map(([rail, dates]) => ({ rail: rail as Rail, dates: [...dates] })),
  }
}

function calendarJson(record: ConnectionCalendarRecord): ConnectionCalendar {
  const { connectionId, updatedBy, updatedAt } = record
  return {
    connectionId,
    ...settingsJson(record),
    updatedBy,
    updatedAt: updatedAt === null ? null : timestamp(updatedAt),
  }
}
