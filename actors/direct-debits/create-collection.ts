/** Makes a collection by a mandate of a customer. */
import { orderNumber } from '../../lib/base/ids.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { refuseField, type FieldError, type Problem } from '../../lib/base/problems.ts'
import type { CollectionCreate } from '../../lib/direct-debits/collection-schema.ts'
import { NEW_COLLECTION, type CollectionRecord, type PreNotification } from '../../lib/direct-debits/collection.ts'
import {
  earliestDueDate,
  faultOfDueDate,
  noticeDate,
  submissionDeadline,
  type Period,
} from '../../lib/direct-debits/dates.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES, type SchemeTerms } from '../../lib/direct-debits/schemes.ts'
import { debitTerms } from '../../storage/direct-debits/debit-terms.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import type { DebitOutcome } from './debit-mover.ts'
import { noticeOf } from './debit-notice.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'
import { mandateActor } from './mandate.ts'

/**
 * Makes a collection.
 *
 * @throws ProblemError when the body refers to something that it may not use; Overloaded, DatabaseUnavailable or
 *   OutcomeUnknown, safe to repeat under the same key
 */
export async function createCollectionOf(
  deps: DirectDebitDeps,
  caller: CommandOrigin,
  body: CollectionCreate,
): Promise<DebitOutcome> {
  const { database, ids, clock, system, orderNumbers } = deps
  const { customerId } = caller
  const [mandate, terms] = await Promise.all([
    findMandate(database, body.mandateId.toLowerCase()),
    debitTerms(database, customerId),
  ])
  if (mandate === null || mandate.customerId !== customerId)
    return refuseField('/mandateId', 'not_found', 'No such mandate.')
  const number = orderNumber('COL', await orderNumbers.take())
  const id = ids.next()
  const scheme = DEBIT_SCHEMES[mandate.scheme]
  const notice = noticeOf(mandate.scheme, terms)
  let refusal: Problem | null = null
  const reply = await askUntilDecided(
    { ...caller, system, actor: mandateActor, id: mandate.id },
    () => {
      const now = clock.now()
      const dueDate = body.dueDate ?? earliestDueDate(scheme, now, notice)
      return {
        kind: 'create_collection' as const,
        customerId,
        collection: collectionOf(mandate, body, { id, number, dueDate, notice, now, caller }),
        fault: body.dueDate == null ? null : dueFault(scheme, dueDate, now, notice),
        refusal,
        key: caller.key,
        problemRequest: caller.problemRequest,
        context: { by: 'member' as const },
        seed: ids.next(),
      }
    },
    (conflict) => {
      if (conflict.kind !== 'external_id_used') throw new Error(`Making a collection met ${conflict.kind}.`)
      refusal = {
        slug: 'duplicate-external-id',
        detail: `externalId ${body.externalId} belongs to another collection.`,
        extra: { existingId: conflict.existingId },
      }
      return 'again'
    },
    'mandate',
  )
  if (reply.kind === 'stale') throw new Error('A new collection ends no mandate.')
  return reply
}

function collectionOf(
  { id: mandateId, customerId, operatorId, connectionId, shard, balanceId, scheme }: MandateRecord,
  { amount, reference, externalId = null, retry = null, metadata = {} }: CollectionCreate,
  made: {
    readonly id: string
    readonly number: string
    readonly dueDate: string
    readonly notice: Period
    readonly now: number
    readonly caller: CommandOrigin
  },
): Omit<CollectionRecord, 'sequenceType'> {
  const { id, number, dueDate, notice, now, caller } = made
  const terms = DEBIT_SCHEMES[scheme]
  return {
    ...NEW_COLLECTION,
    id,
    customerId,
    operatorId,
    connectionId,
    shard,
    number,
    externalId,
    mandateId,
    balanceId,
    scheme,
    currency: amount.currency as CollectionRecord['currency'],
    amount: BigInt(amount.amountMinor),
    dueDate,
    submissionDeadline: submissionDeadline(terms, dueDate),
    reference,
    endToEndId: number,
    preNotification: noticeFor(terms, amount.amountMinor, dueDate, notice),
    retry:
      retry === null || !retry.enabled
        ? null
        : {
            enabled: true,
            maxAttempts: Math.min(retry.maxAttempts ?? terms.retry.max, terms.retry.max),
            withinDays: retry.withinDays ?? terms.retry.withinDays,
          },
    dueAt: null,
    createdBy: caller.createdBy,
    createdVia: caller.createdVia,
    metadata: inStoredOrder(metadata),
    createdAt: now,
    updatedAt: now,
  }
}

const noticeFor = (scheme: SchemeTerms, amountMinor: string, dueDate: string, notice: Period): PreNotification => ({
  sentBy: 'customer',
  channel: 'none',
  sentAt: null,
  sendBy: noticeDate(scheme, dueDate, notice),
  amountMinor,
  dueDate,
})

/** Describes the fault of a due date that was asked for; null for none. @throws CalendarUnknown */
function dueFault(scheme: SchemeTerms, dueDate: string, now: number, notice: Period): FieldError | null {
  const earliest = earliestDueDate(scheme, now, notice)
  switch (faultOfDueDate(scheme, dueDate, now, notice)) {
    case null:
      return null
    case 'too_early':
      return {
        field: '/dueDate',
        code: 'too_small',
        message: `The earliest due date is ${earliest}.`,
        params: { earliest },
      }
    case 'too_late':
      return {
        field: '/dueDate',
        code: 'too_far_ahead',
        message: `The due date lies at most ${scheme.dueMaxDays} days ahead.`,
        params: { days: scheme.dueMaxDays },
      }
    case 'not_a_business_day':
      return { field: '/dueDate', code: 'not_business_day', message: `${scheme.name} does not settle on this day.` }
  }
}
