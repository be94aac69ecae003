/**
 * Moves a scheduled payment from one state to another, and writes the change together with its event and its trail
 * entry, and a notice to the people who pay when time or another person has stopped the schedule.
 */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import { laterThan } from '../../lib/base/clock.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import {
  ALLOWED_IN,
  isAllowed,
  paused,
  type ScheduleMove,
  type ScheduleState,
  type ScheduleStatus,
} from '../../lib/scheduled-payments/schedule.ts'
import { refuseTransition } from '../../lib/base/problems.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { SYSTEM, writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import type { ScheduleRecord } from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import { giveUpDue } from '../../storage/scheduled-payments/scheduled-occurrences.ts'
import { lockSchedulesTo, updateSchedule, withState } from '../../storage/scheduled-payments/scheduled-payments.ts'

/** The roles that may pay: their members must know when a scheduled payment is no longer made. */
const PAYING_ROLES = rolesWith('payments.create')

/** The part of a schedule that the trail keeps. */
export function trailOf({
  number,
  externalId,
  recipientId,
  sourceBalanceId,
  currency,
  amount,
  requestedRail,
  reference,
  purposeCode,
  metadata,
  state,
}: ScheduleRecord): object {
  const { status, series, maxOccurrences, nextOccurrenceAt, occurrencesCreated, consecutiveFailures } = state
  return {
    number,
    externalId,
    status,
    recipientId,
    sourceBalanceId,
    amount: { amountMinor: amount.toString(), currency },
    requestedRail,
    reference,
    purposeCode,
    frequency: series.frequency,
    startDate: series.startDate,
    endDate: series.endDate,
    maxOccurrences,
    nextOccurrenceAt,
    occurrencesCreated,
    consecutiveFailures,
    metadata,
  }
}

/** In these statuses, a schedule makes no further payment. */
export const STOPPED_STATUSES: ReadonlySet<string> = new Set(['paused', 'cancelled', 'failed'])

/**
 * Writes the event of a new status. A schedule that stops makes no further payment, and gives up the occurrence in
 * progress. `previousStatus` is null for a new schedule.
 */
export async function tellStatus(
  { client, ids, now }: ApprovalTx,
  { id, customerId, operatorId, shard, state }: ScheduleRecord,
  previousStatus: ScheduleStatus | null,
): Promise<void> {
  if (state.status === previousStatus) return
  if (STOPPED_STATUSES.has(state.status)) await giveUpDue(client, id, now)
  await writeEvent(client, {
    id: ids.next(),
    createdAt: now,
    customerId,
    operatorId,
    shard,
    type: 'scheduled_payment.status_changed',
    object: 'scheduled_payment',
    objectId: id,
    status: state.status,
    previousStatus,
    amount: null,
    currency: null,
  })
}

/** Writes a change of a schedule into the trail of its customer. */
export async function writeTrail(
  { client, ids, now }: ApprovalTx,
  by: AuditBy,
  action: AuditVerb<'scheduled_payment'>,
  before: ScheduleRecord | null,
  after: ScheduleRecord,
): Promise<void> {
  await writeAudit(client, {
    ...by,
    id: ids.next(),
    tenantId: after.customerId,
    at: now,
    action: `scheduled_payment.${action}`,
    object: { type: 'scheduled_payment', id: after.id },
    before: before === null ? null : trailOf(before),
    after: trailOf(after),
  })
}

/** Refuses a move that people may not make now. */
export function checkAllowed(move: ScheduleMove, { state: { status } }: ScheduleRecord): void {
  if (!isAllowed(move, status)) refuseTransition(`The scheduled payment is ${status}.`, status, ALLOWED_IN[move])
}

/** Writes a locked schedule whose state was changed by time or by another person, and tells people when it stops. */
export async function moveSchedule(
  asked: ApprovalTx,
  before: ScheduleRecord,
  after: ScheduleRecord,
  reason: string | null,
): Promise<void> {
  const tx = { ...asked, now: laterThan(before.updatedAt, asked.now) }
  await updateSchedule(tx.client, after, tx.now)
  const { status } = after.state
  if (status === before.state.status) return
  await tellStatus(tx, after, before.state.status)
  await writeTrail(tx, SYSTEM, status, before, after)
  if (status === 'failed' || status === 'paused') await tellPeople(tx, after, reason)
}

async function tellPeople(
  { client, ids, now }: ApprovalTx,
  { id, customerId, number, createdBy, state }: ScheduleRecord,
  reason: string | null,
): Promise<void> {
  const people = new Set([...(await peopleInRoles(client, customerId, PAYING_ROLES)), createdBy])
  const title =
    state.status === 'failed' ? `Scheduled payment ${number} was stopped` : `Scheduled payment ${number} is paused`
  const text = reason ?? `${title}.`
  await insertNotices(
    client,
    ids,
    [...people],
    {
      tenantId: customerId,
      type: 'scheduled_payment_stopped',
      title,
      text,
      object: { type: 'scheduled_payment', id },
    },
    now,
  )
}

/** Pauses the schedules that pay a recipient who has just been blocked. The recipient is locked. */
export async function pauseSchedulesTo(tx: ApprovalTx, recipientId: string): Promise<void> {
  for (const schedule of await lockSchedulesTo(tx.client, recipientId)) {
    if (schedule.state.status === 'active')
      await moveSchedule(tx, schedule, withState(schedule, blocked(schedule.state, tx.now)), RECIPIENT_BLOCKED)
  }
}

export const RECIPIENT_BLOCKED = 'The recipient of the schedule can no longer be paid.'

/** The state of a schedule whose recipient is blocked: active becomes paused, any other status stays. */
export const blocked = (state: ScheduleState, now: number): ScheduleState =>
  state.status === 'active' ? paused(state, now) : state
