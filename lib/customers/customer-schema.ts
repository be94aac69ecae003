/** Customers as the API shows them, and as operators make, change, list and steer them. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CountryCode,
  Email,
  Metadata,
  MetadataPatch,
  Nullable,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { ACCESS_STATUSES, IDENTITY_TYPES, RISK_RATINGS } from './customer.ts'
import { CUSTOMER_MEASURES, CUSTOMER_STATUSES } from './status.ts'
import { CUSTOMER_TYPES } from './types.ts'

const NAME_MAX = 140
const REGISTRATION_NUMBER_MAX = 40
const REASON_MAX = 500

const IdentityType = Words('IdentityType', IDENTITY_TYPES)
export const CustomerType = Words('CustomerType', CUSTOMER_TYPES)
const RiskRating = Words('RiskRating', RISK_RATINGS)

const LegalName = Text(1, NAME_MAX, {
  description: 'The registered name; of sole traders and individuals the full name of the person.',
  examples: ['Molen Handel BV'],
})
const TradingName = Nullable(Text(1, NAME_MAX))
const RegistrationNumber = Nullable(
  Text(1, REGISTRATION_NUMBER_MAX, { description: 'The number in the register of companies.' }),
)
const IncorporationDate = Nullable(CalendarDate)

export const Customer = Type.Object(
  {
    id: Uuid,
    operatorId: Uuid,
    number: Type.String({ description: 'Eight digits, unique per operator.', examples: ['40218837'] }),
    legalName: LegalName,
    tradingName: TradingName,
    identityType: IdentityType,
    registrationNumber: RegistrationNumber,
    incorporationCountry: CountryCode,
    incorporationDate: IncorporationDate,
    status: Words(
      'CustomerStatus',
      CUSTOMER_STATUSES,
      'A `restricted` customer receives, exchanges and moves money between its balances, and pays nothing; a ' +
        '`suspended` one has no access to its money. Both read everything, and money that comes in is credited. ' +
        'A customer that is `closing` is shown so under a measure too.',
    ),
    risk: Nullable(RiskRating, { description: 'For staff and keys of the operator alone; null for others.' }),
    approvedAt: Nullable(Timestamp),
    closedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    customerType: CustomerType,
    metadata: Metadata,
    accessStatus: Words(
      'AccessStatus',
      ACCESS_STATUSES,
      '`active`: at least one owner can sign in. `locked`: there are members, and no such owner.',
    ),
    measure: Nullable(Words('CustomerMeasureTaken', CUSTOMER_MEASURES), {
      description:
        'The measure of staff, or of a requirement that is past due. It holds beside the status until it ends; null: none.',
    }),
  },
  { title: 'Customer' },
)
export type Customer = Static<typeof Customer>

export const PrimaryOwner = Type.Object(
  { email: Email, firstName: Text(1, 70), lastName: Text(1, 70) },
  { title: 'PrimaryOwner', additionalProperties: false, description: 'The person who is invited as the first owner.' },
)
export type PrimaryOwner = Static<typeof PrimaryOwner>

export const CustomerCreate = Type.Object(
  {
    legalName: LegalName,
    tradingName: Type.Optional(TradingName),
    identityType: Type.Optional(IdentityType),
    registrationNumber: Type.Optional(RegistrationNumber),
    incorporationCountry: CountryCode,
    primaryOwner: Type.Optional(PrimaryOwner),
    pricingTemplateId: Type.Optional(
      Nullable(Uuid, { description: "The price list of the customer; null: the operator's default." }),
    ),
    customerType: Type.Optional(CustomerType),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'CustomerCreate',
    additionalProperties: false,
    examples: [
      {
        legalName: 'Molen Handel BV',
        incorporationCountry: 'NL',
        registrationNumber: '12345678',
        primaryOwner: { email: 'noor@example.com', firstName: 'Noor', lastName: 'de Wit' },
      },
    ],
  },
)
export type CustomerCreate = Static<typeof CustomerCreate>

export const CustomerUpdate = Type.Object(
  {
    legalName: Type.Optional(LegalName),
    tradingName: Type.Optional(TradingName),
    registrationNumber: Type.Optional(RegistrationNumber),
    incorporationCountry: Type.Optional(CountryCode),
    incorporationDate: Type.Optional(IncorporationDate),
    metadata: Type.Optional(MetadataPatch),
  },
  { title: 'CustomerUpdate', additionalProperties: false, examples: [{ tradingName: 'De Molen' }] },
)
export type CustomerUpdate = Static<typeof CustomerUpdate>

const Reason = Text(1, REASON_MAX, { description: 'Kept in the audit trail of the operator; customers never see it.' })

export const CustomerMeasure = Type.Object(
  { reason: Reason },
  { title: 'CustomerMeasure', additionalProperties: false, examples: [{ reason: 'Order 4711.' }] },
)
export type CustomerMeasure = Static<typeof CustomerMeasure>

export const CustomerRisk = Type.Object(
  { risk: RiskRating, reason: Reason },
  { title: 'CustomerRisk', additionalProperties: false, examples: [{ risk: 'high', reason: 'New line of business.' }] },
)
export type CustomerRisk = Static<typeof CustomerRisk>

export const OwnerInvitation = Type.Object(
  {
    primaryOwner: Type.Optional(PrimaryOwner),
    reason: Type.Optional(Reason),
  },
  {
    title: 'OwnerInvitation',
    additionalProperties: false,
    description: 'With `primaryOwner` this person is invited in place of an owner who has not accepted.',
  },
)
export type OwnerInvitation = Static<typeof OwnerInvitation>

export const customerList = list({
  filters: {
    status: { kind: 'words', values: CUSTOMER_STATUSES },
    measure: { kind: 'words', values: CUSTOMER_MEASURES },
    customerType: { kind: 'words', values: CUSTOMER_TYPES },
    identityType: { kind: 'words', values: IDENTITY_TYPES },
    accessStatus: { kind: 'words', values: ACCESS_STATUSES },
    risk: { kind: 'words', values: RISK_RATINGS },
    country: { kind: 'text', max: 2 },
    number: { kind: 'text', max: 20 },
    approvedFrom: { kind: 'timeFrom' },
    approvedTo: { kind: 'timeTo' },
    id: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  metadata: true,
  sorts: ['-createdAt', 'legalName'],
  q: true,
})
