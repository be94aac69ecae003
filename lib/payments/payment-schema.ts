/** Payments: money that leaves a balance for a recipient. */
import { CHARGE_BEARERS } from '../rails/rails.ts'
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CountryCode,
  CREATED_VIA,
  CreatedVia,
  CurrencyCode,
  Failure,
  Metadata,
  MetadataPatch,
  Money,
  Nullable,
  PositiveMoney,
  Rail,
  RecallStatus,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { FeeTax } from '../pricing/pricing-template-schema.ts'
import { GIVEN, GIVEN_OPTIONAL } from './given-schema.ts'
import { RecipientType, RecipientVerification, VerificationOutcome } from '../recipients/recipient-schema.ts'

const PAYMENT_STATUSES = [
  'draft',
  'pending_approval',
  'scheduled',
  'processing',
  'on_hold',
  'completed',
  'failed',
  'returned',
  'exception',
  'rejected',
  'cancelled',
] as const

/** The longest reference of any rail; the limit of the payment's own rail is checked with the rail. */
const REFERENCE_MAX = 280
const DOCUMENTS_MAX = 10
/** ISO 20022 codes have four characters; the codes of the Indian central bank have five. */
const PURPOSE_CODE_MAX = 5

export const PaymentStatus = Words('PaymentStatus', PAYMENT_STATUSES)

export const ChargeBearer = Words('ChargeBearer', CHARGE_BEARERS)

/** Money that came back after it was sent. */
export const PaymentReturn = Type.Object({
  amount: Money,
  reasonCode: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  receivedAt: Timestamp,
  transactionId: Nullable(Uuid),
})

export const FeeLine = Type.Object(
  {
    type: Type.Enum(['payment', 'fx', 'return', 'collection', 'card', 'account']),
    amount: Money,
    description: Type.String(),
  },
  { title: 'FeeLine' },
)

export const Payment = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String({ description: 'Order number for people.', examples: ['PAY7K3M9QX2TB'] }),
    ...GIVEN,
    status: PaymentStatus,
    statusReason: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    sourceBalanceId: Uuid,
    sourceBalanceName: Type.String(),
    recipientId: Uuid,
    recipient: Type.Object(
      {
        name: Type.String(),
        type: RecipientType,
        maskedIdentifier: Type.String(),
        currency: CurrencyCode,
        bankCountry: CountryCode,
      },
      { description: 'The recipient at the submission of the payment; in a draft, the recipient as it is now.' },
    ),
    amount: Money,
    fee: Nullable(Money),
    feeTax: FeeTax,
    fees: Type.Array(FeeLine),
    totalDebit: Money,
    quoteId: Nullable(Uuid),
    exchangeId: Nullable(Uuid),
    returnedAmount: Nullable(Money),
    chargeBearer: ChargeBearer,
    requestedRail: Nullable(Rail),
    rail: Nullable(Rail),
    reference: Type.String(),
    endToEndId: Type.String(),
    uetr: Nullable(Uuid),
    purposeCode: Nullable(Type.String()),
    purpose: Nullable(Type.String()),
    executionDate: Nullable(CalendarDate),
    estimatedArrival: Nullable(Timestamp),
    instant: Type.Boolean(),
    approvalId: Nullable(Uuid),
    processing: Type.Optional(
      Type.Object(
        {
          status: Type.Literal('queued'),
          position: Nullable(Type.Integer()),
          etaSeconds: Nullable(Type.Integer()),
          estimatedAt: Nullable(Timestamp),
        },
        { description: 'Absent after the hand-over to the partner.' },
      ),
    ),
    exception: Type.Optional(
      Nullable(
        Type.Object({
          kind: Words('PaymentExceptionKind', [
            'compliance_hold',
            'provider_timeout',
            'provider_state_unknown',
            'reconciliation_mismatch',
            'ledger_blocked',
          ]),
          code: Nullable(Type.String()),
          message: Type.String(),
          since: Timestamp,
        }),
        { description: 'Shown to operator staff only.' },
      ),
    ),
    failure: Nullable(Failure),
    return: Nullable(PaymentReturn),
    recall: Nullable(
      Type.Object({
        status: RecallStatus,
        reasonCode: Type.String(),
        requestedAt: Timestamp,
        decidedAt: Nullable(Timestamp),
        response: Nullable(Type.String()),
      }),
    ),
    verification: Nullable(RecipientVerification),
    cancellable: Type.Boolean(),
    bulkPaymentId: Nullable(Uuid),
    bulkRowId: Nullable(Uuid),
    scheduledPaymentId: Nullable(Uuid),
    fundsRequestId: Nullable(Uuid),
    documentIds: Type.Array(Uuid),
    internalNote: Nullable(Type.String()),
    notifyRecipient: Type.Boolean(),
    createdBy: Uuid,
    createdVia: CreatedVia,
    submittedBy: Nullable(Uuid),
    submittedAt: Nullable(Timestamp),
    approvedAt: Nullable(Timestamp),
    sentAt: Nullable(Timestamp),
    completedAt: Nullable(Timestamp),
    failedAt: Nullable(Timestamp),
    cancelledAt: Nullable(Timestamp),
    providerRef: Type.Optional(Nullable(Type.String(), { description: 'Shown to operator staff only.' })),
    connectionId: Type.Optional(Nullable(Uuid, { description: 'Shown to operator staff only.' })),
    routing: Type.Optional(
      Nullable(
        Type.Object({ ruleId: Nullable(Uuid), connectionId: Uuid, reason: Type.String() }, { title: 'PaymentRouting' }),
        {
          description:
            'Why the payment leaves through its connection; null where that is the connection of its balance and no ' +
            'rule decided. Shown to operator staff only.',
        },
      ),
    ),
    metadata: Metadata,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Payment' },
)
export type Payment = Static<typeof Payment>

const VerificationOverride = Type.Object(
  {
    acceptOutcome: VerificationOutcome,
    reason: Text(10, 500),
  },
  { additionalProperties: false },
)

export const PaymentCreate = Type.Object(
  {
    sourceBalanceId: Uuid,
    recipientId: Uuid,
    amount: PositiveMoney,
    reference: Text(1, REFERENCE_MAX),
    requestedRail: Type.Optional(Nullable(Rail, { description: 'Null chooses the best available rail.' })),
    quoteId: Type.Optional(Nullable(Uuid)),
    executionDate: Type.Optional(Nullable(CalendarDate)),
    chargeBearer: Type.Optional(ChargeBearer),
    purposeCode: Type.Optional(Nullable(Text(1, PURPOSE_CODE_MAX))),
    purpose: Type.Optional(Nullable(Text(0, 140))),
    endToEndId: Type.Optional(Text(1, 35)),
    ...GIVEN_OPTIONAL,
    documentIds: Type.Optional(Type.Array(Uuid, { maxItems: DOCUMENTS_MAX })),
    internalNote: Type.Optional(Nullable(Text(0, 500))),
    notifyRecipient: Type.Optional(Type.Boolean()),
    verificationOverride: Type.Optional(Nullable(VerificationOverride)),
    draft: Type.Optional(Type.Boolean()),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'PaymentCreate',
    additionalProperties: false,
    examples: [
      {
        sourceBalanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        recipientId: '01980d6e-8a01-7b44-8e12-1c2d3e4f5a6b',
        amount: { amountMinor: '12500', currency: 'EUR' },
        reference: 'Invoice 2026-0042',
      },
    ],
  },
)
export type PaymentCreate = Static<typeof PaymentCreate>

export const PaymentUpdate = Type.Object(
  {
    sourceBalanceId: Type.Optional(Uuid),
    recipientId: Type.Optional(Uuid),
    amount: Type.Optional(PositiveMoney),
    reference: Type.Optional(Text(1, REFERENCE_MAX)),
    requestedRail: Type.Optional(Nullable(Rail)),
    quoteId: Type.Optional(Nullable(Uuid)),
    executionDate: Type.Optional(Nullable(CalendarDate)),
    chargeBearer: Type.Optional(ChargeBearer),
    purposeCode: Type.Optional(Nullable(Text(1, PURPOSE_CODE_MAX))),
    purpose: Type.Optional(Nullable(Text(0, 140))),
    endToEndId: Type.Optional(Text(1, 35)),
    ...GIVEN_OPTIONAL,
    documentIds: Type.Optional(Type.Array(Uuid, { maxItems: DOCUMENTS_MAX })),
    internalNote: Type.Optional(Nullable(Text(0, 500))),
    notifyRecipient: Type.Optional(Type.Boolean()),
    verificationOverride: Type.Optional(Nullable(VerificationOverride)),
    metadata: Type.Optional(MetadataPatch),
  },
  {
    title: 'PaymentUpdate',
    additionalProperties: false,
    description: 'A draft accepts every member; a submitted payment only documentIds, internalNote and metadata.',
    examples: [{ internalNote: 'Checked with the supplier.' }],
  },
)
export type PaymentUpdate = Static<typeof PaymentUpdate>

export const PaymentSubmit = Type.Object(
  {
    verificationOverride: Type.Optional(Nullable(VerificationOverride)),
    expectedVersion: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          description:
            'The expected version of the draft, the number at the beginning of its ETag; any other version ' +
            'is refused with 412.',
        }),
      ),
    ),
  },
  { title: 'PaymentSubmit', additionalProperties: false },
)
export type PaymentSubmit = Static<typeof PaymentSubmit>

export const PaymentCheck = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether the payment would be accepted now.' }),
    rail: Nullable(Rail),
    railReason: Nullable(
      Words('RailReason', ['requested', 'on_platform', 'instant', 'same_day', 'batch', 'international']),
      { description: 'The reason for the choice of the rail.' },
    ),
    fee: Nullable(Money),
    feeTax: FeeTax,
    totalDebit: Nullable(Money),
    executionDate: Nullable(CalendarDate),
    estimatedArrival: Nullable(Timestamp),
    approval: Type.Object({
      required: Type.Boolean(),
      tier: Nullable(Type.Integer()),
      requiredApprovals: Nullable(Type.Integer()),
    }),
    verification: Nullable(RecipientVerification),
    issues: Type.Array(
      Type.Object(
        {
          severity: Words('IssueSeverity', ['error', 'warning']),
          code: Type.String({ description: 'The slug of the problem, or the code of the field error.' }),
          field: Nullable(Type.String({ description: 'JSON Pointer into the body.' })),
          message: Type.String(),
        },
        { title: 'PaymentIssue' },
      ),
    ),
  },
  { title: 'PaymentCheck' },
)
export type PaymentCheck = Static<typeof PaymentCheck>

export const PaymentCancel = Type.Object(
  {
    reason: Type.Optional(Nullable(Text(1, 200))),
  },
  { title: 'PaymentCancel', additionalProperties: false },
)
export type PaymentCancel = Static<typeof PaymentCancel>

export const paymentList = list({
  filters: {
    status: { kind: 'words', values: PAYMENT_STATUSES },
    rail: { kind: 'words', values: Rail.enum },
    currency: { kind: 'text', max: 3 },
    recipientId: { kind: 'ids' },
    sourceBalanceId: { kind: 'ids' },
    bulkPaymentId: { kind: 'ids' },
    scheduledPaymentId: { kind: 'ids' },
    createdVia: { kind: 'words', values: CREATED_VIA },
    externalId: { kind: 'text', max: 64 },
    number: { kind: 'text', max: 20 },
    amountFrom: { kind: 'amountFrom', oneCurrency: true },
    amountTo: { kind: 'amountTo', oneCurrency: true },
    executionFrom: { kind: 'dateFrom' },
    executionTo: { kind: 'dateTo' },
    completedFrom: { kind: 'timeFrom' },
    completedTo: { kind: 'timeTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  metadata: true,
  sorts: ['-createdAt', 'createdAt', '-executionDate', '-amount'],
})
