/**
 * Changes that customers make to payments: drafts can change in every member, other payments only in their notes; and
 * drafts can be deleted.
 */
import { documentsWithin, documentUsesOf, draftFacts } from './drafts.ts'
import { checkedDocuments } from '../documents/named-documents.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { metadataFault } from '../../lib/recipients/payment-fields.ts'
import { patchedMetadata } from '../../lib/base/metadata.ts'
import { rewriteOf } from '../../lib/payments/payment-rows.ts'
import { inputOfDraft, patchedDraft, rewrittenDraft } from '../../lib/payments/draft.ts'
import type { PaymentDetails, PaymentRecord } from '../../lib/payments/payment.ts'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { Overloaded } from '../runtime/lane.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import { lockApproval } from '../../storage/approvals/approvals.ts'
import { noteSubjectChange } from '../../storage/approvals/approval-standing.ts'
import { sqlState, UNIQUE_VIOLATION } from '../../storage/db/sqlstates.ts'
import type { Database } from '../../storage/db/database.ts'
import { keepUses } from '../../storage/documents/documents.ts'
import { deleteDraft, paymentWithExternalId } from '../../storage/payments/drafts.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { PaymentUpdate } from '../../lib/payments/payment-schema.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The members that can change after a payment is no longer a draft. */
const NOTES: ReadonlySet<string> = new Set(['documentIds', 'internalNote', 'metadata'])

export interface PaymentChangesDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
}

/** The writes. Every refusal is thrown as a problem. */
export interface PaymentChanges {
  update(by: Caller, id: string, body: PaymentUpdate, expected: number | bigint | null): Promise<void>
  remove(by: Caller, id: string, expected: number | bigint | null): Promise<void>
}

export function createPaymentChanges({ database, clock, ids }: PaymentChangesDeps): PaymentChanges {
  async function read(by: Caller, id: string, expected: number | bigint | null): Promise<PaymentRecord> {
    const payment = await findPayment(database, id)
    if (payment === null || payment.customerId !== by.tenant.id) refuseNotFound()
    checkVersion(payment, expected)
    return payment
  }

  /** Writes one change to the version of a payment that was read. @returns false when the payment has changed since */
  async function change(by: Caller, payment: PaymentRecord, body: PaymentUpdate): Promise<boolean> {
    const now = clock.now()
    try {
      return await inTransaction(database, async (client) => {
        const effects =
          payment.status === 'draft'
            ? await draftChange(client, payment, body, { by: by.principal.id, now })
            : await noteChange(client, payment, body, now)
        if (effects === null) return true
        const members = payment.status === 'draft' ? Object.keys(body) : changedNotes(payment, effects)
        // Lock order: the approval before its payment, as in every decision.
        if (payment.status === 'pending_approval' && !(await noteWaiting(client, by, payment, members, now)))
          return false
        if (body.documentIds !== undefined)
          await keepUses(client, payment.id, effects.documentUses?.map(({ documentId }) => documentId) ?? [])
        await writeEffects(
          { client, now },
          {
            ...effects,
            statusUpdates: [
              {
                objectId: payment.id,
                version: payment.version + 1,
                customerId: payment.customerId,
                status: payment.status,
                previousStatus: payment.status,
                message: messageOf(payment, members),
                actor: 'member',
                at: now,
              },
            ],
          },
        )
        await writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: by.tenant.id,
          at: now,
          action: 'payment.updated',
          object: { type: 'payment', id: payment.id },
          before: { version: payment.version, status: payment.status },
          after: { version: payment.version + 1, members: Object.keys(body) },
        })
        return true
      })
    } catch (error) {
      // Decided again on the current row: another change came first, or another payment has just taken the external id.
      if (error instanceof CommitConflict || sqlState(error) === UNIQUE_VIOLATION) return false
      throw error
    }
  }

  return {
    async update(by, id, body, expected) {
      for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
        if (await change(by, await read(by, id, expected), body)) return
      }
      throw new Overloaded('The payment keeps changing; try again.')
    },

    async remove(by, id, expected) {
      for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
        const payment = await read(by, id, expected)
        const { status, version, number } = payment
        if (status !== 'draft') refuseTransition('Only a draft can be deleted.', status, ['draft'])
        const gone = await inTransaction(database, async (client) => {
          if (!(await deleteDraft(client, id, version))) return false
          await writeAudit(client, {
            ...auditCaller(by),
            id: ids.next(),
            tenantId: by.tenant.id,
            at: clock.now(),
            action: 'payment.deleted',
            object: { type: 'payment', id },
            before: { status, number, version },
            after: null,
          })
          return true
        })
        if (gone) return
      }
      throw new Overloaded('The payment keeps changing; try again.')
    },
  }
}

/** Lists the notes that a change affects, by their API names. */
function changedNotes({ details, metadata }: PaymentRecord, { paymentDecisions = [] }: Effects): readonly string[] {
  const [decision] = paymentDecisions
  const next = JSON.parse(decision?.details ?? '{}') as PaymentDetails
  const nextMetadata = decision?.metadata ?? '{}'
  return [
    ...(JSON.stringify(next.documentIds ?? []) === JSON.stringify(details.documentIds ?? []) ? [] : ['documentIds']),
    ...(next.internalNote === details.internalNote ? [] : ['internalNote']),
    ...(nextMetadata === JSON.stringify(metadata) ? [] : ['metadata']),
  ]
}

/**
 * The text of the update log. For a payment that waits for approval it names the members that approvers now see
 * changed.
 */
function messageOf({ status }: PaymentRecord, members: readonly string[]): string {
  if (status === 'draft') return 'Draft changed.'
  if (status !== 'pending_approval') return 'Notes changed.'
  return `Changed while waiting for approval: ${members.join(', ')}.${members.includes('documentIds') ? ' Approvals start anew.' : ''}`
}

/**
 * Records a change of a payment with the approval that it waits for. Changed documents restart the approvals, so that
 * no approval counts for documents that the approver has not seen.
 *
 * @returns false when the payment no longer waits
 */
async function noteWaiting(
  client: TransactionClient,
  { principal }: Caller,
  { id, details }: PaymentRecord,
  members: readonly string[],
  now: number,
): Promise<boolean> {
  const approval = details.approvalId === undefined ? null : await lockApproval(client, details.approvalId)
  if (approval?.status !== 'pending') return false
  await noteSubjectChange({ client, now }, approval, {
    changedBy: principal.id,
    changedByName: principal.name,
    changedAt: timestamp(now),
    paymentId: id,
    members,
    restarted: members.includes('documentIds'),
  })
  return true
}

/** Computes a change of a draft. Null when it changes nothing. */
async function draftChange(
  client: TransactionClient,
  draft: PaymentRecord,
  patch: PaymentUpdate,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<Effects | null> {
  const input = patchedDraft(draft, {
    ...patch,
    ...(patch.documentIds === undefined
      ? {}
      : { documentIds: await checkedDocuments(documentsWithin(client), draft.customerId, patch.documentIds) }),
  })
  checkMetadata(input.metadata ?? {})
  const next = rewrittenDraft(draft, input, await draftFacts(client, draft.customerId, input, now), { by, now })
  if (JSON.stringify(inputOfDraft(next)) === JSON.stringify(inputOfDraft(draft))) return null
  if (next.externalId !== null && next.externalId !== draft.externalId) {
    const existingId = await paymentWithExternalId(client, {
      customerId: draft.customerId,
      externalId: next.externalId,
      except: draft.id,
    })
    if (existingId !== null)
      refuse('duplicate-external-id', `externalId ${next.externalId} belongs to another payment.`, {
        extra: { existingId },
      })
  }
  return {
    paymentRewrites: [rewriteOf(next, { holdId: null, payingBalanceId: next.sourceBalanceId, version: draft.version })],
    ...(patch.documentIds === undefined ? {} : documentUsesOf(next)),
  }
}

/** Computes a change of notes, which are all that can still change. Null when it changes nothing. */
async function noteChange(
  client: TransactionClient,
  payment: PaymentRecord,
  body: PaymentUpdate,
  now: number,
): Promise<Effects | null> {
  const errors = Object.keys(body)
    .filter((member) => !NOTES.has(member))
    .map((member) => ({
      field: `/${member}`,
      code: 'read_only_field' as const,
      message: 'Can be changed in a draft only.',
    }))
  if (errors.length > 0) refuse('validation-error', 'A submitted payment cannot be changed.', { errors })
  const { details } = payment
  const metadata = body.metadata === undefined ? payment.metadata : patchedMetadata(payment.metadata, body.metadata)
  checkMetadata(metadata)
  const wrong = body.metadata === undefined ? null : metadataFault(payment.rail, metadata)
  if (wrong !== null) refuseField(wrong.field, wrong.code, wrong.message)
  const internalNote = body.internalNote === undefined ? details.internalNote : body.internalNote
  const documentIds =
    body.documentIds === undefined
      ? (details.documentIds ?? [])
      : await checkedDocuments(documentsWithin(client), payment.customerId, body.documentIds)
  if (
    internalNote === details.internalNote &&
    JSON.stringify(documentIds) === JSON.stringify(details.documentIds ?? []) &&
    JSON.stringify(metadata) === JSON.stringify(payment.metadata)
  )
    return null
  // A repeat under the creation's key must show the original answer.
  const original = details.original ?? {
    internalNote: details.internalNote,
    metadata: payment.metadata,
    documentIds: details.documentIds ?? [],
  }
  const changed = { ...details, internalNote, documentIds, original }
  return {
    ...(body.documentIds === undefined ? {} : documentUsesOf({ id: payment.id, details: changed })),
    paymentDecisions: [
      {
        id: payment.id,
        version: payment.version,
        status: payment.status,
        details: JSON.stringify(changed),
        metadata: Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata),
        updatedAt: now,
      },
    ],
  }
}

function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  const message = 'Is too large.'
  if (!fitsMetadata(metadata))
    refuse('validation-error', message, { errors: [{ field: '/metadata', code: 'too_large', message }] })
}
