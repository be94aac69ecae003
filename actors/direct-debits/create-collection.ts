/** Makes a collection by a mandate of a customer. */
import { orderNumber } from '../../lib/base/ids.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { refuseField, type FieldError, type Problem } from '../../lib/base/problems.ts'
import { moneyProblem } from '../../lib/customers/money-access.ts'
import type { CreateCollection } from '../../lib/direct-debits/create-debits.ts'
import type { CollectionCreate } from '../../lib/direct-debits/collection-schema.ts'
import { NEW_COLLECTION, type CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { earliestDueDate, faultOfDueDate, submissionDeadline, type Period } from '../../lib/direct-debits/dates.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES, type SchemeTerms } from '../../lib/direct-debits/schemes.ts'
import { preNotificationOf } from '../../lib/direct-debits/notices/pre-notification.ts'
import { noticeOf } from '../../lib/direct-debits/debit-terms.ts'
import { exposureProblem } from '../../lib/direct-debits/exposure.ts'
import { ensureExposure, readDebitTerms } from '../../storage/direct-debits/customer-debit-terms.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import { factsOf, type CreditorFacts } from './debit-facts.ts'
import type { DebitOutcome } from './debit-mover.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'
import { mandateActor } from './mandate.ts'

/** A collection that a body asks for, before it is decided. */
export interface WantedCollection {
  readonly mandate: MandateRecord
  /** The largest exposure of the customer in the currency, minor units; null: no limit. */
  readonly maxExposure: bigint | null
  /** The customer's standing or its returns, where they forbid collections. */
  readonly refusal: Problem | null
  /** Makes the collection under this id and number, and checks its due date, by the time of the call. */
  at(made: { readonly id: string; readonly number: string }): Pick<CreateCollection, 'collection' | 'fault'>
}

/**
 * Checks what a body refers to.
 *
 * @throws ProblemError `validation-error` when the customer has no such mandate
 */
export async function wantedCollection(
  { clock }: Pick<DirectDebitDeps, 'clock'>,
  caller: CommandOrigin,
  body: CollectionCreate,
  facts: CreditorFacts,
): Promise<WantedCollection> {
  const mandate = await facts.mandate(body.mandateId.toLowerCase())
  if (mandate === null || mandate.customerId !== caller.customerId)
    return refuseField('/mandateId', 'not_found', 'No such mandate.')
  const { scheme: name, currency } = mandate
  const scheme = DEBIT_SCHEMES[name]
  const terms = await facts.terms(name, currency)
  const notice = noticeOf(scheme, terms, mandate.noticeDays)
  return {
    mandate,
    maxExposure: terms.maxExposure[currency] ?? null,
    refusal: moneyProblem(terms, 'pay') ?? (terms.isStopped ? STOPPED : null),
    at({ id, number }) {
      const now = clock.now()
      const dueDate = body.dueDate ?? earliestDueDate(scheme, now, notice)
      return {
        collection: collectionOf(mandate, body, { id, number, dueDate, notice, now, caller }),
        fault: body.dueDate == null ? null : dueFault(scheme, dueDate, now, notice),
      }
    },
  }
}

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
  facts: CreditorFacts = factsOf(deps.database, caller.customerId),
): Promise<DebitOutcome> {
  const { database, ids, system, orderNumbers } = deps
  const { customerId } = caller
  const wanted = await wantedCollection(deps, caller, body, facts)
  const { mandate, maxExposure } = wanted
  const { currency, scheme } = mandate
  const made = { id: caller.paymentId ?? ids.next(), number: orderNumber('COL', await orderNumbers.take()) }
  if (maxExposure !== null) await ensureExposure(database, { customerId, currency })
  let { refusal } = wanted
  const reply = await askUntilDecided(
    { ...caller, system, actor: mandateActor, id: mandate.id },
    () => ({
      kind: 'create_collection' as const,
      customerId,
      ...wanted.at(made),
      refusal,
      maxExposure,
      key: caller.key,
      problemRequest: caller.problemRequest,
      context: { by: 'member' as const },
      seed: ids.next(),
    }),
    async (conflict): Promise<'again'> => {
      switch (conflict.kind) {
        case 'external_id_used':
          refusal = {
            slug: 'duplicate-external-id',
            detail: `externalId ${body.externalId} belongs to another collection.`,
            extra: { existingId: conflict.existingId },
          }
          return 'again'
        case 'exposure_exceeded': {
          const { exposure } = await readDebitTerms(database, { customerId, scheme, currency })
          refusal = exposureProblem(maxExposure ?? 0n, exposure, currency)
          return 'again'
        }
        default:
          throw new Error(`Making a collection met ${conflict.kind}.`)
      }
    },
    'mandate',
  )
  if (reply.kind === 'stale') throw new Error('A new collection ends no mandate.')
  return reply
}

/** The refusal of a customer whose collections come back too often. */
const STOPPED: Problem = {
  slug: 'limit-exceeded',
  detail: 'Too many collections of this scheme came back; the bank takes no new ones at present.',
}

function collectionOf(
  mandate: MandateRecord,
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
  const { id: mandateId, customerId, operatorId, connectionId, shard, balanceId, scheme } = mandate
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
    preNotification: preNotificationOf(mandate, { amount: BigInt(amount.amountMinor), dueDate, reference }, notice),
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
