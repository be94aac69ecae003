/**
 * Creates and submits drafts. Creating a draft moves no money and asks no actor, so it is a transaction of its own.
 * Submitting a draft is the same decision as for any payment, with the draft's version as its fence; its row is
 * overwritten.
 */
import { HOUR_MS } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { inputOfDraft, newDraft, type DraftFacts, type DraftInput } from '../../lib/payments/draft.ts'
import { paymentRow } from '../../lib/payments/payment-rows.ts'
import { paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import { refuseField, refuseNotFound, transitionProblem } from '../../lib/base/problems.ts'
import type { OverrideInput } from '../../lib/recipients/verification.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import { sqlState, UNIQUE_VIOLATION } from '../../storage/db/sqlstates.ts'
import { statusesOf } from '../../storage/documents/documents.ts'
import { readDraftFacts } from '../../storage/payments/drafts.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { Overloaded } from '../runtime/lane.ts'
import type { CancelDeps } from './cancel-payment.ts'
import { recordRefusal, unlessRecorded } from '../commands/recorded-outcomes.ts'
import { outcomeRecord } from '../../lib/decisions/outcome-record.ts'
import { checkedDocuments, type PaymentDocuments } from '../documents/named-documents.ts'
import { checkDate } from '../../lib/payments/payment-request.ts'
import { askBalance, type FlowOutcome, type PaymentInput } from './submit-payment.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The last time zone in which a day ends is half a day behind UTC. */
const LAST_ZONE_MS = 12 * HOUR_MS

/**
 * Reads the current balance and recipient that a draft names.
 *
 * @throws ProblemError when the customer does not have them, or they do not fit
 */
export async function draftFacts(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
  input: DraftInput,
  now: number,
): Promise<DraftFacts & { readonly balance: { readonly operatorId: string; readonly shard: number } }> {
  const { balance, recipient } = await readDraftFacts(client, { customerId, ...input })
  if (balance === null) refuseField('/sourceBalanceId', 'not_found', 'No such balance.')
  if (recipient === null) refuseField('/recipientId', 'not_found', 'No such recipient.')
  if (recipient.currency !== input.amount.currency)
    refuseField('/amount/currency', 'currency_mismatch', `The recipient is paid in ${recipient.currency}.`)
  // The rail, and with it the time zone, is chosen at submission. A date is refused now only when it has passed in
  // every zone.
  const rail = input.requestedRail ?? null
  checkDate(input.executionDate ?? null, rail ?? 'internal', rail === null ? now - LAST_ZONE_MS : now)
  return { balance, recipient }
}

/**
 * Creates a draft.
 *
 * @throws ProblemError when the body refers to something that it may not use; DatabaseUnavailable or OutcomeUnknown,
 *   safe to repeat under the same key
 */
export async function createDraft(deps: CancelDeps, caller: CommandOrigin, input: PaymentInput): Promise<FlowOutcome> {
  const { database, clock, ids, orderNumbers } = deps
  const number = orderNumber('PAY', await orderNumbers.take())
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    try {
      return await unlessRecorded(
        async () =>
          await inTransaction(database, async (client) => {
            const now = clock.now()
            const facts = await draftFacts(client, caller.customerId, input, now)
            const documentIds = await checkedDocuments(documentsWithin(client), caller.customerId, input.documentIds)
            const draft = newDraft(
              {
                id: ids.next(),
                customerId: caller.customerId,
                number,
                createdBy: caller.createdBy,
                createdVia: caller.createdVia,
                createdAt: now,
              },
              { ...input, documentIds },
              facts,
            )
            const { operatorId } = facts.balance
            await writeEffects(
              { client, now },
              {
                ...draftRow(draft, facts.balance),
                ...documentUsesOf(draft),
                ...outcomeRecord(
                  caller.key,
                  201,
                  { type: 'payment', id: draft.id },
                  JSON.stringify(paymentJson(draft, null)),
                  now,
                ),
              },
            )
            return { kind: 'payment_created' as const, payment: draft, operatorId }
          }),
      )
    } catch (error) {
      const used =
        error instanceof CommitConflict ? error.conflicts.find(({ kind }) => kind === 'external_id_used') : undefined
      if (used?.kind === 'external_id_used') {
        return await recordRefusal(deps, caller, {
          slug: 'duplicate-external-id',
          detail: `externalId ${input.externalId} belongs to another payment.`,
          extra: { existingId: used.existingId },
        })
      }
      // The next attempt reports a document that was deleted in this moment as missing.
      const stale = error instanceof CommitConflict && error.conflicts.every(({ kind }) => kind === 'fact_stale')
      if (!stale && sqlState(error) !== UNIQUE_VIOLATION) throw error
    }
  }
  throw new Overloaded('The external id keeps changing hands; try again.')
}

/** The uses of documents to write with a draft. */
export function documentUsesOf({ id, details }: Pick<PaymentRecord, 'id' | 'details'>): Pick<Effects, 'documentUses'> {
  return details.documentIds === undefined
    ? {}
    : {
        documentUses: details.documentIds.map((documentId) => ({
          documentId,
          object: 'payment' as const,
          objectId: id,
        })),
      }
}

/** Reads documents within a transaction. */
export function documentsWithin(client: TransactionClient): PaymentDocuments {
  return { statuses: (customerId, ids) => statusesOf(client, customerId, ids) }
}

function draftRow(draft: PaymentRecord, balance: { readonly operatorId: string; readonly shard: number }): Effects {
  return {
    payments: [paymentRow(draft, balance, null, draft.sourceBalanceId)],
    statusUpdates: [
      {
        objectId: draft.id,
        version: 1,
        customerId: draft.customerId,
        status: 'draft',
        previousStatus: null,
        message: 'Draft made.',
        actor: 'member',
        at: draft.createdAt,
      },
    ],
  }
}

export type SubmitOutcome =
  | Exclude<FlowOutcome, { readonly kind: 'payment_created' | 'transfer_created' }>
  | { readonly kind: 'submitted'; readonly payment: PaymentRecord }

/**
 * Submits a draft.
 *
 * @throws as `submitPayment`, and ProblemError `not-found`, `precondition-failed`
 */
export async function submitDraft(
  deps: CancelDeps,
  caller: CommandOrigin,
  paymentId: string,
  {
    verificationOverride = null,
    expectedVersion = null,
  }: { readonly verificationOverride?: OverrideInput | null; readonly expectedVersion?: number | null },
): Promise<SubmitOutcome> {
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const draft = await findPayment(deps.database, paymentId)
    if (draft === null || draft.customerId !== caller.customerId) refuseNotFound()
    if (draft.status !== 'draft') {
      return await recordRefusal(
        deps,
        caller,
        transitionProblem('Only a draft can be submitted.', draft.status, ['draft']),
      )
    }
    checkVersion(draft, expectedVersion)
    const written = inputOfDraft(draft)
    const outcome = await askBalance(
      deps,
      caller,
      { ...written, verificationOverride: verificationOverride ?? written.verificationOverride ?? null },
      draft,
    )
    switch (outcome.kind) {
      case 'payment_stale':
        break
      case 'payment_created':
        return { kind: 'submitted', payment: outcome.payment }
      case 'transfer_created':
        throw new Error('A draft became a transfer.')
      default:
        return outcome
    }
  }
  throw new Overloaded('The draft keeps changing; try again.')
}
