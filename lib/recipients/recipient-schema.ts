/** Recipients: the people and companies a customer pays. */
import { CHARGE_BEARERS } from '../rails/rails.ts'
import Type, { type Static } from 'typebox'
import { RECIPIENT_APPROVAL_STATUSES as APPROVAL_STATUSES, RECIPIENT_STATUSES } from './review.ts'
import { VERIFICATION_OUTCOMES } from './verification.ts'
import { list } from '../contract/list.ts'
import { Address, AddressInput } from '../contract/address.ts'
import {
  CountryCode,
  CurrencyCode,
  Email,
  ExternalId,
  Metadata,
  MetadataPatch,
  Money,
  Nullable,
  Rail,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const RECIPIENT_TYPES = ['business', 'individual'] as const

const identifier = () => Nullable(Type.String())

export const RecipientType = Words('RecipientType', RECIPIENT_TYPES)
export const VerificationOutcome = Words('VerificationOutcome', VERIFICATION_OUTCOMES)

export const RecipientBank = Type.Object(
  {
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
  },
  { title: 'RecipientBank', description: 'On lists iban, accountNumber, clabe, bankgiro and fpsId are null.' },
)

export const RecipientVerification = Type.Object(
  {
    scheme: Words('VerificationScheme', ['cop', 'vop', 'internal', 'none']),
    outcome: VerificationOutcome,
    reasonCode: Nullable(Type.String()),
    reason: Type.String(),
    matchedName: Nullable(Type.String({ description: 'Only present for `close_match`.' })),
    accountTypeMatch: Nullable(Type.Boolean()),
    requestedName: Type.String(),
    checkedAt: Timestamp,
    validUntil: Nullable(Timestamp),
    override: Nullable(
      Type.Object({ acceptOutcome: VerificationOutcome, reason: Type.String(), by: Uuid, at: Timestamp }),
    ),
  },
  { title: 'RecipientVerification' },
)

export const RecipientApproval = Type.Object(
  {
    mode: Words('RecipientApprovalMode', ['none', 'customer_tier', 'operator_queue', 'customer_then_operator']),
    status: Words('RecipientApprovalStatus', APPROVAL_STATUSES),
    approvalId: Nullable(Uuid),
    stage: Nullable(Type.Enum(['customer', 'operator'])),
    requestedAt: Timestamp,
    decidedAt: Nullable(Timestamp),
    decidedBy: Nullable(Uuid),
    reason: Nullable(Type.String()),
  },
  { title: 'RecipientApproval' },
)

export const Recipient = Type.Object(
  {
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
  },
  { title: 'Recipient' },
)
export type Recipient = Static<typeof Recipient>

// ── Requests
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Leaves room for the spaces and dashes that people write; the form of an identifier depends on its market. */
const IDENTIFIER_MAX = 64
const given = () => Type.Optional(Nullable(Text(1, IDENTIFIER_MAX)))

const BankInput = Type.Object(
  {
    bankCountry: Type.Optional(Nullable(CountryCode)),
    iban: given(),
    bic: given(),
    accountNumber: given(),
    bankName: Type.Optional(Nullable(Text(1, 70))),
    accountType: Type.Optional(Nullable(Type.Enum(['checking', 'savings', 'current']))),
    sortCode: given(),
    routingNumber: given(),
    bsb: given(),
    institutionNumber: given(),
    transitNumber: given(),
    bankCode: given(),
    branchCode: given(),
    clearingNumber: given(),
    ifsc: given(),
    clabe: given(),
    bankgiro: given(),
    fpsId: given(),
    secondaryReference: Type.Optional(Nullable(Text(1, 35))),
    intermediaryBic: given(),
    bankAddress: Type.Optional(Nullable(AddressInput)),
  },
  {
    title: 'RecipientBankInput',
    additionalProperties: false,
    description:
      'The required members depend on the currency and the country of the bank: see the requirements. Spaces ' +
      'and dashes are ignored. `bankCountry` may be left out when `iban` is given.',
    examples: [{ iban: 'NL77SBOX0100000001' }],
  },
)

const VerificationOverride = Type.Object(
  {
    acceptOutcome: VerificationOutcome,
    reason: Text(10, 500),
  },
  {
    title: 'VerificationOverride',
    additionalProperties: false,
    description: 'Accepts a name check without a match, when the operator allows it.',
  },
)

const OPTIONAL = {
  nickname: Type.Optional(Nullable(Text(1, 70))),
  email: Type.Optional(Nullable(Email)),
  address: Type.Optional(Nullable(AddressInput)),
  defaultReference: Type.Optional(Nullable(Text(1, 140))),
  purpose: Type.Optional(Nullable(Text(1, 140))),
  externalId: Type.Optional(Nullable(ExternalId)),
  verificationOverride: Type.Optional(Nullable(VerificationOverride)),
}

export const RecipientCreate = Type.Object(
  {
    type: RecipientType,
    name: Text(2, 140),
    currency: CurrencyCode,
    bank: BankInput,
    ...OPTIONAL,
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'RecipientCreate',
    additionalProperties: false,
    examples: [
      {
        type: 'business',
        name: 'Amsterdam Trading BV',
        currency: 'EUR',
        bank: { iban: 'NL77SBOX0100000001' },
        email: 'billing@example.com',
        metadata: { vendor: '4711' },
      },
    ],
  },
)
export type RecipientCreate = Static<typeof RecipientCreate>

export const RecipientUpdate = Type.Object(
  {
    type: Type.Optional(RecipientType),
    name: Type.Optional(Text(2, 140)),
    bank: Type.Optional(BankInput),
    ...OPTIONAL,
    metadata: Type.Optional(MetadataPatch),
  },
  {
    title: 'RecipientUpdate',
    additionalProperties: false,
    description:
      'Members that are left out stay unchanged; null clears a member. `bank` is replaced as a whole, ' +
      '`metadata` key by key. The currency cannot change.',
    examples: [{ nickname: 'Amsterdam', metadata: { vendor: null } }],
  },
)
export type RecipientUpdate = Static<typeof RecipientUpdate>

// ── Requirements
// ──────────────────────────────────────────────────────────────────────────────────────────────────────

const RequirementField = Type.Object(
  {
    name: Type.String({ description: 'JSON Pointer into the body.' }),
    label: Type.String(),
    required: Type.Boolean(),
    requiredWhen: Type.Optional(Type.String({ description: 'The condition under which the field is required.' })),
    type: Type.Enum(['string', 'enum', 'date', 'object']),
    minLength: Type.Optional(Type.Integer()),
    maxLength: Type.Optional(Type.Integer()),
    pattern: Type.Optional(Type.String({ description: 'The pattern of the value without spaces and dashes.' })),
    options: Type.Optional(Type.Array(Type.Object({ value: Type.String(), label: Type.String() }))),
    example: Type.String(),
    description: Type.String(),
    checks: Type.Array(Type.String({ description: 'The check beyond the pattern.' })),
    rails: Type.Array(Rail),
  },
  { title: 'RequirementField' },
)

export const RecipientRequirements = Type.Object(
  {
    currency: CurrencyCode,
    country: CountryCode,
    type: Nullable(RecipientType),
    version: Type.String({ description: 'Changes when a rule changes.' }),
    rails: Type.Array(
      Type.Object(
        {
          rail: Rail,
          available: Type.Boolean(),
          reason: Type.Optional(Type.String()),
          fields: Type.Array(Type.String()),
          alternatives: Type.Array(Type.Array(Type.String()), {
            description: 'Groups of fields; any group is enough for the rail.',
          }),
          referenceRule: Type.Object({ maxLength: Type.Integer(), characters: Type.String(), pattern: Type.String() }),
          limit: Nullable(Money),
          cutOff: Nullable(Type.Object({ time: Type.String(), zone: Type.String() })),
          speed: Type.String(),
          chargeBearers: Type.Array(Type.Enum([...CHARGE_BEARERS])),
        },
        { title: 'RequirementRail' },
      ),
    ),
    fields: Type.Array(RequirementField),
    paymentFields: Type.Array(RequirementField),
    verification: Type.Object({
      scheme: Words('VerificationScheme', ['cop', 'vop', 'internal', 'none']),
      mandatory: Type.Boolean(),
    }),
  },
  { title: 'RecipientRequirements', description: 'A recipient must satisfy one of the rails.' },
)
export type RecipientRequirements = Static<typeof RecipientRequirements>

export const RequirementsQuery = Type.Object({
  currency: CurrencyCode,
  country: CountryCode,
  type: Type.Optional(
    Type.Enum([...RECIPIENT_TYPES], { description: 'Whether the account holder is a business or an individual.' }),
  ),
})

// ── Lists
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
