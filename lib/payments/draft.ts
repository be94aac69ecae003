/**
 * Drafts: payments that are being written. A draft holds no money and sends no event; its faults are reported when it
 * is submitted. It shows its recipient as it is now.
 */
import { requestersOf } from '../approvals/requesters.ts'
import { inStoredOrder, patchedMetadata } from '../base/metadata.ts'
import type { VerificationOutcome } from '../recipients/verification.ts'
import { givenOf, NONE_GIVEN, type Given } from './given-schema.ts'
import { NO_PROGRESS, type PaymentDetails, type PaymentRecord, type RecipientSnapshot } from './payment.ts'
import type { Rail } from '../rails/rails.ts'

/** The fields of a draft that its author writes. */
export interface DraftInput extends Partial<Given> {
  readonly sourceBalanceId: string
  readonly recipientId: string
  readonly amount: { readonly amountMinor: string; readonly currency: string }
  readonly reference: string
  readonly requestedRail?: Rail | null
  readonly quoteId?: string | null
  readonly executionDate?: string | null
  readonly chargeBearer?: PaymentDetails['chargeBearer']
  readonly purposeCode?: string | null
  readonly purpose?: string | null
  readonly endToEndId?: string
  readonly documentIds?: readonly string[]
  readonly internalNote?: string | null
  readonly notifyRecipient?: boolean
  readonly verificationOverride?: { readonly acceptOutcome: VerificationOutcome; readonly reason: string } | null
  readonly metadata?: Readonly<Record<string, string>>
}

/** A change of a draft: an omitted field stays, null clears it, metadata is merged. */
export type DraftPatch = Partial<Omit<DraftInput, 'metadata'>> & {
  readonly metadata?: Readonly<Record<string, string | null>>
}

/** The balance and the recipient of a draft as they are now. */
export interface DraftFacts {
  readonly balance: { readonly name: string; readonly connectionId: string }
  readonly recipient: RecipientSnapshot
}

type Origin = Pick<PaymentRecord, 'id' | 'customerId' | 'number' | 'createdBy' | 'createdVia' | 'createdAt'>

/** Makes version 1 of a draft. */
export function newDraft(origin: Origin, input: DraftInput, facts: DraftFacts): PaymentRecord {
  return written({ ...origin, version: 1, updatedAt: origin.createdAt }, input, facts)
}

/**
 * Makes the next version of a draft, changed by a person or key at `now` (epoch milliseconds). Records who changed its
 * terms and who set its amount.
 */
export function rewrittenDraft(
  draft: PaymentRecord,
  input: DraftInput,
  facts: DraftFacts,
  { by, now }: { readonly by: string; readonly now: number },
): PaymentRecord {
  const next = written({ ...draft, version: draft.version + 1, updatedAt: now }, input, facts)
  const { editors = [], amountSetBy = draft.createdBy } = draft.details
  const shaped = termsText(next) === termsText(draft) ? editors : requestersOf(editors, [by])
  const setBy = next.amount === draft.amount && next.currency === draft.currency ? amountSetBy : by
  return {
    ...next,
    details: {
      ...next.details,
      ...(shaped.length === 0 ? {} : { editors: shaped }),
      ...(setBy === draft.createdBy ? {} : { amountSetBy: setBy }),
    },
  }
}

/** Writes the terms of a draft as text: every field but the descriptive ones. */
function termsText(draft: PaymentRecord): string {
  const { internalNote, metadata, documentIds, ...terms } = inputOfDraft(draft)
  return JSON.stringify({ ...terms, ...NONE_GIVEN })
}

function written(
  origin: Origin & Pick<PaymentRecord, 'version' | 'updatedAt'>,
  input: DraftInput,
  { balance, recipient }: DraftFacts,
): PaymentRecord {
  const { id, customerId, number, createdBy, createdVia, createdAt, version, updatedAt } = origin
  const override = input.verificationOverride ?? null
  return {
    id,
    customerId,
    number,
    createdBy,
    createdVia,
    createdAt,
    version,
    updatedAt,
    connectionId: balance.connectionId,
    status: 'draft',
    ...givenOf(input),
    sourceBalanceId: input.sourceBalanceId,
    recipientId: input.recipientId,
    currency: input.amount.currency,
    amount: BigInt(input.amount.amountMinor),
    fee: 0n,
    rail: null,
    routing: null,
    executionDate: input.executionDate ?? null,
    details: {
      sourceBalanceName: balance.name,
      recipient: {
        name: recipient.name,
        type: recipient.type,
        maskedIdentifier: recipient.maskedIdentifier,
        currency: recipient.currency,
        bankCountry: recipient.bankCountry,
      },
      chargeBearer: input.chargeBearer ?? 'shared',
      requestedRail: input.requestedRail ?? null,
      reference: input.reference,
      endToEndId: input.endToEndId ?? number,
      uetr: null,
      purposeCode: input.purposeCode ?? null,
      purpose: input.purpose ?? null,
      estimatedArrival: null,
      instant: false,
      internalNote: input.internalNote ?? null,
      notifyRecipient: input.notifyRecipient ?? false,
      queued: null,
      ...(input.documentIds === undefined || input.documentIds.length === 0 ? {} : { documentIds: input.documentIds }),
      ...(override === null ? {} : { verificationOverride: override }),
      ...(input.quoteId == null ? {} : { quoteId: input.quoteId }),
    },
    metadata: inStoredOrder(input.metadata ?? {}),
    scheduledPaymentId: null,
    ...NO_PROGRESS,
  }
}

/** Reads the input fields back from a draft: they are submitted, or changed by a patch. */
export function inputOfDraft(
  draft: PaymentRecord,
): Required<Omit<DraftInput, 'verificationOverride'>> & Pick<DraftInput, 'verificationOverride'> {
  const { sourceBalanceId, recipientId, amount, currency, executionDate, details, metadata } = draft
  const {
    reference,
    requestedRail,
    chargeBearer,
    purposeCode,
    purpose,
    endToEndId,
    internalNote,
    notifyRecipient,
    verificationOverride = null,
    quoteId = null,
    documentIds = [],
  } = details
  return {
    sourceBalanceId,
    recipientId,
    amount: { amountMinor: amount.toString(), currency },
    reference,
    requestedRail,
    quoteId,
    executionDate,
    chargeBearer,
    purposeCode,
    purpose,
    endToEndId,
    ...givenOf(draft),
    documentIds,
    internalNote,
    notifyRecipient,
    metadata,
    verificationOverride: verificationOverride as NonNullable<DraftInput['verificationOverride']> | null,
  }
}

/** Applies a change to the input fields of a draft. */
export function patchedDraft(draft: PaymentRecord, { metadata, ...patch }: DraftPatch): DraftInput {
  const before = inputOfDraft(draft)
  return {
    ...before,
    ...patch,
    ...(metadata === undefined ? {} : { metadata: patchedMetadata(before.metadata, metadata) }),
  }
}
