/** Changes a schedule. */
import { withEditor } from '../../lib/approvals/requesters.ts'
import { checkAllowed } from './change-schedule.ts'
import { patchedMetadata } from '../../lib/base/metadata.ts'
import { refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import { calendarOf } from '../../lib/scheduled-payments/rail-calendar.ts'
import { changed } from '../../lib/scheduled-payments/schedule.ts'
import * as reads from '../../storage/scheduled-payments/scheduled-payment-queries.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { metadataFault } from '../../lib/recipients/payment-fields.ts'
import { checkSeries, railOfTerms } from './schedule-terms.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { ScheduledPayment, ScheduledPaymentUpdate } from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { lockScheduleOf, txOf, versioned, writeSchedule, type ScheduledPaymentDeps } from './write-schedule.ts'
import { ofCustomer, readRecipient, type ScheduleRecipient } from './schedule-recipient.ts'

/**
 * Changes the terms of a schedule; absent members stay as they are.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `invalid-transition`, `validation-error`
 */
export async function updateSchedule(
  deps: ScheduledPaymentDeps,
  by: Caller,
  id: string,
  body: ScheduledPaymentUpdate,
  expected: number | bigint | null,
): Promise<Versioned<ScheduledPayment>> {
  const { database } = deps
  const seen = await reads.findSchedule(database, by.tenant, id)
  if (seen === null) return refuseNotFound()
  const recipient = ofCustomer(by, await readRecipient(deps, seen.recipientId))
  return await inTransaction(database, async (client) => {
    const tx = txOf(deps, client)
    const before = await lockScheduleOf(tx, by, id, expected)
    checkAllowed('update', before)
    const after = patched(before, body, recipient)
    if (isSame(before, after)) return versioned(before)
    return versioned(await writeSchedule(tx, by, 'updated', before, withShaper(before, after, by.principal.id, tx.now)))
  })
}

/** Compares two versions of a schedule by everything that the API shows, and by the rail. */
const isSame = (before: reads.ScheduleRecord, after: reads.ScheduleRecord): boolean =>
  before.rail === after.rail && JSON.stringify(reads.scheduleJson(before)) === JSON.stringify(reads.scheduleJson(after))

/** Computes a schedule after a change of terms. @throws ProblemError when the terms are not allowed */
function patched(
  before: reads.ScheduleRecord,
  body: ScheduledPaymentUpdate,
  recipient: ScheduleRecipient,
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
    metadata,
  }
  const dates = {
    series: { ...state.series, endDate: body.endDate === undefined ? state.series.endDate : body.endDate },
    maxOccurrences: body.maxOccurrences === undefined ? state.maxOccurrences : body.maxOccurrences,
  }
  if (!TERMS.some((member) => body[member] !== undefined)) {
    const wrong = body.metadata === undefined ? null : metadataFault(before.rail, metadata)
    if (wrong !== null) refuseField(wrong.field, wrong.code, wrong.message)
    return { ...before, metadata }
  }
  const carrier = railOfTerms(recipient, terms, recipient.onPlatform)
  checkSeries(dates, carrier)
  if (dates.maxOccurrences !== null && dates.maxOccurrences < state.occurrencesBegun) {
    refuseField('/maxOccurrences', 'too_small', 'The schedule already had more occurrences.', {
      min: state.occurrencesBegun,
    })
  }
  return {
    ...before,
    ...terms,
    rail: carrier.rail,
    state: changed(state, dates, calendarOf(carrier.rail, before.calendar)),
  }
}

/** Adds the person or key to the editors of a schedule when its terms have changed; `now` is epoch milliseconds. */
function withShaper(
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
