/** Creates a schedule. */
import { tellStatus, writeTrail } from './change-schedule.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import { opened } from '../../lib/scheduled-payments/schedule.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type * as reads from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import * as rows from '../../storage/scheduled-payments/scheduled-payments.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnce } from '../commands/run-once.ts'
import { checkSeries, firstOccurrence, railOfTerms } from './schedule-terms.ts'
import type { ScheduledPayment, ScheduledPaymentCreate } from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { txOf, versioned, type ScheduledPaymentDeps } from './write-schedule.ts'
import { checkPayable, ofCustomer, readRecipient, type ScheduleRecipient } from './schedule-recipient.ts'

/** The maximum number of schedules of one customer that have not ended. */
const SCHEDULES_MAX = 20_000

/**
 * Creates a schedule with its first occurrence.
 *
 * @throws ProblemError what `decideOnce` throws without a key; refusals under a key are answers
 */
export async function createSchedule(
  deps: ScheduledPaymentDeps,
  by: Caller,
  command: Command<ScheduledPaymentCreate>,
): Promise<CommandAnswer<ScheduledPayment, 201>> {
  const [seen, number] = await Promise.all([readRecipient(deps, command.body.recipientId), deps.orderNumbers.take()])
  return await decideOnce(deps, command, 201, async (client) => {
    const made = await insertNewSchedule(txOf(deps, client), by, command.body, seen, number)
    return { shown: versioned(made), made: { type: 'scheduled_payment', id: made.id } }
  })
}

/**
 * Checks a requested schedule and writes it with its event and its trail entry.
 *
 * @throws ProblemError `validation-error`, `duplicate-external-id`, `limit-reached`, `recipient-not-approved`
 */
async function insertNewSchedule(
  tx: ApprovalTx,
  by: Caller,
  body: ScheduledPaymentCreate,
  seen: ScheduleRecipient | null,
  number: bigint,
): Promise<reads.ScheduleRecord> {
  const { client, now } = tx
  const customerId = by.tenant.id
  const { recipientId, sourceBalanceId, externalId = null } = body
  const terms = termsOf(body)
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
  const dates = datesOf(body)
  checkSeries(dates, carrier)
  const first = firstOccurrence(dates, carrier, balance.calendar, now)
  await rows.lockSchedulesOf(client, customerId)
  await checkRoom(client, customerId, externalId)
  checkPayable(await rows.holdRecipient(client, customerId, recipientId))
  const record: reads.ScheduleRecord = {
    ...terms,
    id: tx.ids.next(),
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
    state: opened(dates.series, dates.maxOccurrences, first, calendarOf(carrier.rail, balance.calendar), now),
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

const termsOf = ({
  amount,
  reference,
  requestedRail = null,
  purposeCode = null,
  metadata = {},
}: ScheduledPaymentCreate) => ({
  amount: BigInt(amount.amountMinor),
  currency: amount.currency,
  requestedRail,
  reference,
  purposeCode,
  metadata,
})

const datesOf = ({
  frequency,
  startDate,
  endDate = null,
  maxOccurrences = null,
  dayPolicy = 'next_business_day',
  lastDayOfMonth = false,
}: ScheduledPaymentCreate) => ({ series: { frequency, startDate, endDate, dayPolicy, lastDayOfMonth }, maxOccurrences })

/** Checks that the customer may have one more schedule, with this external id. The customer's schedules are locked. */
async function checkRoom(client: TransactionClient, customerId: string, externalId: string | null): Promise<void> {
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
}
