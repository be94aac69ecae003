/**
 * The operations on scheduled payments: a checked request becomes rows, each change in one transaction with its event
 * and its trail entry. Their payments are made by actors/scheduled-payments/scheduled-payments.ts.
 */
import { withEditor } from '../../lib/approvals/requesters.ts'
import { checkAllowed, tellStatus, writeTrail } from './change-schedule.ts'
import { payeeOnPlatform } from '../payments/submit-payment.ts'
import { laterThan } from '../../lib/base/clock.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import { inStoredOrder, patchedMetadata } from '../../lib/base/metadata.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import { cancelled, changed, dueNow, opened, paused, resumed } from '../../lib/scheduled-payments/schedule.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { Database } from '../../storage/db/database.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import * as reads from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import type { PayableRecipient, RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import * as rows from '../../storage/scheduled-payments/scheduled-payments.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { runOnce, decideOnce } from '../commands/run-once.ts'
import { checkSeries, firstOccurrence, railOfTerms } from './schedule-terms.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type {
  occurrenceList,
  ScheduledPayment,
  ScheduledPaymentCreate,
  scheduledPaymentList,
  ScheduledPaymentUpdate,
} from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { Command, CommandAnswer, Idempotency, IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The maximum number of schedules of one customer that have not ended. */
const SCHEDULES_MAX = 20_000

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
  create(by: ByCaller, command: Command<ScheduledPaymentCreate>): Promise<CommandAnswer>
  update(
    by: ByCaller,
    id: string,
    body: ScheduledPaymentUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<ScheduledPayment>>
  pause(by: ByCaller, id: string): Promise<Versioned<ScheduledPayment>>
  resume(by: ByCaller, id: string): Promise<Versioned<ScheduledPayment>>
  cancel(by: ByCaller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer>
  /** Makes the next occurrence due now. */
  runNow(by: ByCaller, id: string, idempotency: Idempotency | null): Promise<CommandAnswer>
}

export interface ScheduledPaymentDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly orderNumbers: OrderNumbers
  readonly recipients: RecipientCache
  readonly balances: Pick<BalanceCache, 'find'>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
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

const versioned = (record: reads.ScheduleRecord): Versioned<ScheduledPayment> => ({
  version: record.version,
  view: reads.scheduleJson(record),
})
/** Compares two versions of a schedule by everything that the API shows, and by the rail. */
const isSame = (before: reads.ScheduleRecord, after: reads.ScheduleRecord): boolean =>
  before.rail === after.rail && JSON.stringify(reads.scheduleJson(before)) === JSON.stringify(reads.scheduleJson(after))
const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')

/** Refuses a recipient that cannot be paid. */
function checkPayable(status: string | null): void {
  if (status !== 'active')
    refuse('recipient-not-approved', `The recipient is ${status ?? 'deleted'}.`, {
      extra: { recipientStatus: status ?? 'deleted' },
    })
}

/** A recipient, and whether the rail `internal` can carry payments to it from the paying balance. */
type SeenRecipient = PayableRecipient & { readonly onPlatform: boolean }

/** Creates the commands of scheduled payments. */
export function createScheduledPaymentCommands(world: ScheduledPaymentDeps): ScheduledPaymentCommands {
  const { database, ids, clock, orderNumbers, recipients } = world

  const txOf = (client: TransactionClient): ApprovalTx => ({ client, ids, now: clock.now() })

  /**
   * Reads the current recipient, bypassing the cache of this node. Uses a connection of its own, so call it outside
   * transactions.
   */
  async function readRecipient(id: string, sourceBalanceId: string): Promise<SeenRecipient | null> {
    recipients.forget(id)
    const recipient = await recipients.find(id)
    return recipient === null
      ? null
      : { ...recipient, onPlatform: (await payeeOnPlatform(world, recipient, { id: sourceBalanceId })) !== null }
  }

  /** Refuses a recipient that is not the customer's own. */
  function ofCustomer(by: ByCaller, found: SeenRecipient | null): SeenRecipient {
    return found === null || found.customerId !== by.tenant.id
      ? refuseField('/recipientId', 'not_found', 'No such recipient.')
      : found
  }

  async function locked(
    { client }: ApprovalTx,
    by: ByCaller,
    id: string,
    expected: number | bigint | null = null,
  ): Promise<reads.ScheduleRecord> {
    const found = await rows.lockSchedule(client, id)
    if (found === null || found.customerId !== by.tenant.id) return gone()
    if (expected !== null && found.version !== BigInt(expected)) {
      refuse('precondition-failed', 'The resource has changed since it was read.', {
        extra: { currentEtag: etagOf(versioned(found)) },
      })
    }
    return found
  }

  /** Writes a locked schedule with the caller's change. */
  async function write(
    asked: ApprovalTx,
    by: ByCaller,
    action: string,
    before: reads.ScheduleRecord,
    after: reads.ScheduleRecord,
  ): Promise<reads.ScheduleRecord> {
    const tx = { ...asked, now: laterThan(before.updatedAt, asked.now) }
    await rows.updateSchedule(tx.client, after, tx.now)
    await tellStatus(tx, after, before.state.status)
    const written = (await rows.lockSchedule(tx.client, after.id)) as reads.ScheduleRecord
    await writeTrail(tx, auditCaller(by), action, before, written)
    return written
  }

  async function create(
    tx: ApprovalTx,
    by: ByCaller,
    body: ScheduledPaymentCreate,
    seen: SeenRecipient | null,
    number: bigint,
  ): Promise<reads.ScheduleRecord> {
    const { client, now } = tx
    const customerId = by.tenant.id
    const {
      recipientId,
      sourceBalanceId,
      reference,
      requestedRail = null,
      purposeCode = null,
      externalId = null,
    } = body
    const terms = {
      amount: BigInt(body.amount.amountMinor),
      currency: body.amount.currency,
      requestedRail,
      reference,
      purposeCode,
    }
    const recipient = ofCustomer(by, seen)
    const balance = await rows.scheduleBalance(client, customerId, sourceBalanceId)
    if (balance === null) refuseField('/sourceBalanceId', 'not_found', 'No such balance.')
    const carrier = railOfTerms(recipient, terms, recipient.onPlatform)
    if (balance.currency !== terms.currency)
      refuseField(
        '/sourceBalanceId',
        'currency_mismatch',
        `The balance is in ${balance.currency}; payments in another currency cannot be scheduled.`,
      )
    if (balance.status !== 'active') refuseField('/sourceBalanceId', 'inactive', `The balance is ${balance.status}.`)
    const {
      frequency,
      startDate,
      endDate = null,
      maxOccurrences = null,
      dayPolicy = 'next_business_day',
      lastDayOfMonth = false,
    } = body
    const dates = { series: { frequency, startDate, endDate, dayPolicy, lastDayOfMonth }, maxOccurrences }
    checkSeries(dates, carrier)
    const first = firstOccurrence(dates, carrier, balance.calendar, now)
    await rows.lockSchedulesOf(client, customerId)
    const owner = externalId === null ? null : await rows.scheduleWithExternalId(client, customerId, externalId)
    if (owner !== null)
      refuse('duplicate-external-id', `externalId ${externalId} belongs to another scheduled payment.`, {
        extra: { existingId: owner },
      })
    if (await rows.hasSchedules(client, customerId, SCHEDULES_MAX)) {
      refuse('limit-reached', `A customer may have at most ${SCHEDULES_MAX} scheduled payments.`, {
        extra: { limit: SCHEDULES_MAX, resource: 'scheduled_payment' },
      })
    }
    checkPayable(await rows.holdRecipient(client, customerId, recipientId))
    const record: reads.ScheduleRecord = {
      ...terms,
      id: ids.next(),
      customerId,
      operatorId: balance.operatorId,
      shard: balance.shard,
      number: orderNumber('SCH', number),
      externalId,
      version: 1n,
      recipientId,
      sourceBalanceId,
      rail: carrier.rail,
      calendar: balance.calendar,
      chargeBearer: body.chargeBearer ?? 'shared',
      state: opened(dates.series, maxOccurrences, first, calendarOf(carrier.rail, balance.calendar), now),
      lastPaymentId: null,
      lastPaymentStatus: null,
      metadata: inStoredOrder(body.metadata ?? {}),
      editors: [],
      amountSetBy: null,
      createdBy: by.principal.id,
      createdByName: by.principal.name,
      createdAt: now,
      updatedAt: now,
    }
    await rows.insertSchedule(client, record)
    await tellStatus(tx, record, null)
    await writeTrail(tx, auditCaller(by), 'created', null, record)
    return record
  }

  /** Computes a schedule after a change of terms. @throws ProblemError when the terms are not allowed */
  function patched(
    before: reads.ScheduleRecord,
    body: ScheduledPaymentUpdate,
    recipient: SeenRecipient,
  ): reads.ScheduleRecord {
    const { state } = before
    const metadata = body.metadata === undefined ? before.metadata : patchedMetadata(before.metadata, body.metadata)
    if (!fitsMetadata(metadata)) refuseField('/metadata', 'too_large', 'Is too large.')
    const terms = {
      amount: body.amount === undefined ? before.amount : BigInt(body.amount.amountMinor),
      currency: body.amount?.currency ?? before.currency,
      requestedRail: body.requestedRail === undefined ? before.requestedRail : body.requestedRail,
      reference: body.reference ?? before.reference,
      purposeCode: body.purposeCode === undefined ? before.purposeCode : body.purposeCode,
    }
    const dates = {
      series: { ...state.series, endDate: body.endDate === undefined ? state.series.endDate : body.endDate },
      maxOccurrences: body.maxOccurrences === undefined ? state.maxOccurrences : body.maxOccurrences,
    }
    if (!TERMS.some((member) => body[member] !== undefined)) return { ...before, metadata }
    const carrier = railOfTerms(recipient, terms, recipient.onPlatform)
    checkSeries(dates, carrier)
    if (dates.maxOccurrences !== null && dates.maxOccurrences < state.occurrencesBegun) {
      refuseField('/maxOccurrences', 'too_small', 'So many occurrences have been already.', {
        min: state.occurrencesBegun,
      })
    }
    return {
      ...before,
      ...terms,
      rail: carrier.rail,
      metadata,
      state: changed(state, dates, calendarOf(carrier.rail, before.calendar)),
    }
  }

  return {
    async create(by, command) {
      const [seen, number] = await Promise.all([
        readRecipient(command.body.recipientId, command.body.sourceBalanceId),
        orderNumbers.take(),
      ])
      return await decideOnce(world, command, 201, async (client) => {
        const made = await create(txOf(client), by, command.body, seen, number)
        return { shown: versioned(made), made: { id: made.id, location: `/v1/scheduled-payments/${made.id}` } }
      })
    },

    async update(by, id, body, expected) {
      const seen = await reads.findSchedule(database, by.tenant, id)
      if (seen === null) return gone()
      const recipient = ofCustomer(by, await readRecipient(seen.recipientId, seen.sourceBalanceId))
      return await inTransaction(database, async (client) => {
        const tx = txOf(client)
        const before = await locked(tx, by, id, expected)
        checkAllowed('update', before)
        const after = patched(before, body, recipient)
        if (isSame(before, after)) return versioned(before)
        return versioned(await write(tx, by, 'updated', before, shaped(before, after, by.principal.id, tx.now)))
      })
    },

    pause: (by, id) =>
      inTransaction(database, async (client) => {
        const tx = txOf(client)
        const before = await locked(tx, by, id)
        checkAllowed('pause', before)
        return versioned(await write(tx, by, 'paused', before, rows.withState(before, paused(before.state, tx.now))))
      }),

    async resume(by, id) {
      const seen = await reads.findSchedule(database, by.tenant, id)
      if (seen === null) return gone()
      return await inTransaction(database, async (client) => {
        const tx = txOf(client)
        // Lock order: recipients before schedules, because blocking a recipient pauses its schedules.
        const recipient = await rows.holdRecipient(client, by.tenant.id, seen.recipientId)
        const before = await locked(tx, by, id)
        checkAllowed('resume', before)
        checkPayable(recipient)
        return versioned(
          await write(
            tx,
            by,
            'resumed',
            before,
            rows.withState(before, resumed(before.state, calendarOf(before.rail, before.calendar), tx.now)),
          ),
        )
      })
    },

    cancel: (by, id, idempotency) =>
      runOnce(world, idempotency, 200, async (client) => {
        const tx = txOf(client)
        const before = await locked(tx, by, id)
        checkAllowed('cancel', before)
        return versioned(await write(tx, by, 'cancelled', before, rows.withState(before, cancelled(before.state)))).view
      }),

    runNow: (by, id, idempotency) =>
      runOnce(world, idempotency, 202, async (client) => {
        const tx = txOf(client)
        const before = await locked(tx, by, id)
        const { status, next } = before.state
        if (status !== 'active' || next === null || (await rows.dueOccurrence(client, id)) !== null) {
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
          simulationId: ids.next(),
          kind: 'scheduled_run',
          status: 'queued',
          provider: 'platform',
          providerEventIds: [],
          providerReference: null,
          details: { scheduledPaymentId: id, plannedDate: next.plannedDate, executionDate: next.executionDate },
        }
      }),
  }
}

/** Adds the person or key to the editors of a schedule when its terms have changed; `now` is epoch milliseconds. */
function shaped(
  before: reads.ScheduleRecord,
  after: reads.ScheduleRecord,
  by: string,
  now: number,
): reads.ScheduleRecord {
  const terms = ({
    amount,
    requestedRail,
    reference,
    purposeCode,
    state: { series, maxOccurrences },
  }: reads.ScheduleRecord) =>
    JSON.stringify([amount.toString(), requestedRail, reference, purposeCode, series.endDate, maxOccurrences])
  if (terms(before) === terms(after)) return after
  return {
    ...after,
    editors: withEditor(before.editors, by, now),
    amountSetBy: before.amount === after.amount ? before.amountSetBy : by,
  }
}

/**
 * The members that are checked again when they change. A change of other members skips rules that are newer than the
 * schedule.
 */
const TERMS = ['amount', 'requestedRail', 'reference', 'purposeCode', 'endDate', 'maxOccurrences'] as const
