/** Recipients: the people and companies a customer pays. */
import Type, { type Static } from 'typebox'
import { list } from '../list.ts'
import { Address } from './address.ts'
import { CountryCode, CurrencyCode, Email, ExternalId, Metadata, Nullable, Text, Timestamp, Uuid, Words } from './primitives.ts'

const RECIPIENT_TYPES = ['business', 'individual'] as const
const RECIPIENT_STATUSES = ['pending_approval', 'active', 'rejected', 'blocked', 'deleted'] as const
const VERIFICATION_OUTCOMES = ['match', 'close_match', 'no_match', 'unavailable'] as const
const APPROVAL_STATUSES = ['not_required', 'pending', 'approved', 'rejected', 'expired', 'cancelled'] as const

const identifier = () => Nullable(Type.String())

export const RecipientType = Words('RecipientType', RECIPIENT_TYPES)
export const VerificationOutcome = Words('VerificationOutcome', VERIFICATION_OUTCOMES)

export const RecipientBank = Type.Object({
  bankCountry: CountryCode,
  iban: identifier(),
  bic: identifier(),
  accountNumber: identifier(),
  bankName: Nullable(Text(0, 70)),
  accountType: Nullable(Type.Enum(['checking', 'savings', 'current'])),
  sortCode: identifier(),
  routingNumber: identifier(),
  bsb: identifier(),
  institutionNumber: identifier(),
  transitNumber: identifier(),
  bankCode: identifier(),
  branchCode: identifier(),
  clearingNumber: identifier(),
  ifsc: identifier(),
  clabe: identifier(),
  bankgiro: identifier(),
  fpsId: identifier(),
  secondaryReference: Nullable(Text(0, 35)),
  intermediaryBic: identifier(),
  bankAddress: Nullable(Address),
}, { title: 'RecipientBank', description: 'On lists iban, accountNumber, clabe, bankgiro and fpsId are null.' })

export const RecipientVerification = Type.Object({
  scheme: Words('VerificationScheme', ['cop', 'vop', 'internal', 'none']),
  outcome: VerificationOutcome,
  reasonCode: Nullable(Type.String()),
  reason: Type.String(),
  matchedName: Nullable(Type.String({ description: 'Only for close_match.' })),
  accountTypeMatch: Nullable(Type.Boolean()),
  requestedName: Type.String(),
  checkedAt: Timestamp,
  validUntil: Nullable(Timestamp),
  override: Nullable(Type.Object({ acceptOutcome: VerificationOutcome, reason: Type.String(), by: Uuid, at: Timestamp })),
}, { title: 'RecipientVerification' })

export const RecipientApproval = Type.Object({
  mode: Words('RecipientApprovalMode', ['none', 'customer_tier', 'operator_queue', 'customer_then_operator']),
  status: Words('RecipientApprovalStatus', APPROVAL_STATUSES),
  approvalId: Nullable(Uuid),
  stage: Nullable(Type.Enum(['customer', 'operator'])),
  requestedAt: Timestamp,
  decidedAt: Nullable(Timestamp),
  decidedBy: Nullable(Uuid),
  reason: Nullable(Type.String()),
}, { title: 'RecipientApproval' })

export const Recipient = Type.Object({
  id: Uuid,
  customerId: Uuid,
  externalId: Nullable(ExternalId),
  type: RecipientType,
  name: Text(2, 140),
  nickname: Nullable(Type.String()),
  email: Nullable(Email),
  address: Nullable(Address),
  currency: CurrencyCode,
  bank: RecipientBank,
  maskedIdentifier: Type.String(),
  defaultReference: Nullable(Type.String()),
  purpose: Nullable(Type.String()),
  status: Words('RecipientStatus', RECIPIENT_STATUSES, 'Only `active` recipients can be paid.'),
  verification: Nullable(RecipientVerification),
  lastPaidAt: Nullable(Timestamp),
  createdBy: Uuid,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  approval: Nullable(RecipientApproval),
  metadata: Metadata,
}, { title: 'Recipient' })
export type Recipient = Static<typeof Recipient>

export const recipientList = list({
  filters: {
    status: { kind: 'words', values: RECIPIENT_STATUSES },
    type: { kind: 'words', values: RECIPIENT_TYPES },
    currency: { kind: 'text', max: 3 },
    country: { kind: 'text', max: 2 },
    verificationOutcome: { kind: 'words', values: VERIFICATION_OUTCOMES },
    approvalStatus: { kind: 'words', values: APPROVAL_STATUSES },
    createdBy: { kind: 'ids' },
    id: { kind: 'ids' },
    lastPaidFrom: { kind: 'timeFrom' },
    lastPaidTo: { kind: 'timeTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  metadata: true,
  sorts: ['name', '-createdAt', '-lastPaidAt'],
  q: true,
})
