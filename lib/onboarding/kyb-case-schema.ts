/** The KYB case as the API shows it, and as customers and staff change it. */
import Type, { type Static } from 'typebox'
import { Address, AddressInput } from '../contract/address.ts'
import {
  CalendarDate,
  CountryCode,
  CurrencyCode,
  Email,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { CustomerAddress } from '../customers/customer-address-schema.ts'
import { CustomerType } from '../customers/customer-schema.ts'
import {
  CAPABILITY_PROBLEMS,
  CUSTOMER_CAPABILITIES,
  KYB_CASE_STATUSES,
  KYC_PROVIDERS,
  ONBOARDING_MODES,
  REJECT_TYPES,
  REVIEW_ANSWERS,
} from './case-words.ts'
import { DocumentsByType, DocumentType } from './kyb-document-schema.ts'
import { KybPerson } from './kyb-person-schema.ts'
import { AWAITED, REQUIREMENT_ERRORS, REQUIREMENT_KINDS, REQUIREMENT_REASONS } from './requirement.ts'

const NAME_MAX = 140
const LINES_MAX = 500

const Line = (max: number, description?: string) =>
  Nullable(Text(1, max, description === undefined ? {} : { description }))

const company = {
  legalName: Line(NAME_MAX),
  tradingName: Line(NAME_MAX),
  registrationNumber: Line(40, 'The number in the register of companies.'),
  incorporationCountry: Nullable(CountryCode),
  incorporationDate: Nullable(CalendarDate),
  legalForm: Line(80, 'As the register names it, such as BV or Limited.'),
  website: Nullable(Type.String({ format: 'uri', pattern: '^https?://', maxLength: 200 })),
  industryCode: Line(12, 'SIC or NACE.'),
  taxId: Line(40),
}
export const KybCompany = Type.Object(company, { title: 'KybCompany' })
export type KybCompany = Static<typeof KybCompany>

const personal = {
  firstName: Line(100),
  lastName: Line(100),
  dateOfBirth: Nullable(CalendarDate),
  nationality: Nullable(CountryCode),
  countryOfResidence: Nullable(CountryCode),
  email: Nullable(Email),
  phone: Nullable(Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$', description: 'E.164.', examples: ['+31201234567'] })),
  taxId: Line(40),
  taxCountry: Nullable(CountryCode),
  occupation: Line(100),
  pepDeclared: Nullable(Type.Boolean({ description: 'Whether the person is politically exposed.' })),
}
export const KybPersonal = Type.Object({ ...personal, address: Nullable(Address) }, { title: 'KybPersonal' })
export type KybPersonal = Static<typeof KybPersonal>

const activity = {
  monthlyTransactions: Nullable(Type.Integer({ minimum: 0, maximum: 100_000_000 })),
  currencies: Nullable(Type.Array(CurrencyCode, { maxItems: 100, uniqueItems: true })),
  countries: Nullable(Type.Array(CountryCode, { maxItems: 250, uniqueItems: true })),
  purpose: Line(LINES_MAX, 'What the account is for.'),
  sourceOfFunds: Line(LINES_MAX),
}
export const ExpectedActivity = Type.Object(
  { monthlyVolume: Nullable(Money), ...activity },
  { title: 'ExpectedActivity' },
)
export type ExpectedActivity = Static<typeof ExpectedActivity>

export const Capability = Words('CustomerCapability', CUSTOMER_CAPABILITIES)

const CapabilityState = Type.Object(
  {
    capability: Capability,
    requested: Type.Boolean(),
    allowed: Type.Boolean(),
    problems: Type.Array(Words('CapabilityProblem', CAPABILITY_PROBLEMS)),
  },
  { title: 'CapabilityState', description: 'Whether the customer may use it now, and what stands in the way.' },
)

const Requirement = Type.Object(
  {
    pointer: Type.String({ description: 'JSON pointer into the case; empty: the case as a whole.' }),
    kind: Words('RequirementKind', REQUIREMENT_KINDS),
    personId: Nullable(Uuid),
    documentType: Nullable(DocumentType),
    reason: Words('RequirementReason', REQUIREMENT_REASONS),
  },
  { title: 'KybRequirement' },
)
const Requirements = Type.Object(
  {
    currentlyDue: Type.Array(Requirement),
    eventuallyDue: Type.Array(Requirement, { description: 'Not due yet: documents that expire, the next review.' }),
    pastDue: Type.Array(Requirement),
    pendingVerification: Type.Array(Requirement, { description: 'Given, and being checked.' }),
    errors: Type.Array(
      Type.Object(
        { requirement: Type.String(), code: Words('RequirementErrorCode', REQUIREMENT_ERRORS), message: Type.String() },
        { title: 'KybRequirementError' },
      ),
    ),
    deadline: Nullable(Timestamp, { description: 'When the first of those that are due becomes past due.' }),
    awaitingActionFrom: Nullable(Words('AwaitedParty', AWAITED)),
  },
  { title: 'KybRequirements' },
)

const Steps = Type.Object(
  {
    company: Type.Boolean(),
    addresses: Type.Boolean(),
    ownership: Type.Boolean(),
    activity: Type.Boolean(),
    documents: Type.Boolean(),
    personal: Type.Boolean(),
  },
  { title: 'KybSteps', description: 'The requirements in summary: a step is true when nothing of it is missing.' },
)
export type KybSteps = Static<typeof Steps>

const Result = Type.Object(
  {
    reviewAnswer: Words('ReviewAnswer', REVIEW_ANSWERS),
    screeningHits: Type.Integer({ minimum: 0 }),
    details: Nullable(
      Type.Object(
        {
          rejectLabels: Type.Array(Type.String()),
          rejectType: Nullable(Words('RejectType', REJECT_TYPES)),
          screening: Type.Array(
            Type.Object(
              { list: Type.String(), name: Type.String(), score: Type.Number(), status: Type.String() },
              { title: 'KybScreeningHit' },
            ),
          ),
          moderationComment: Nullable(Type.String()),
        },
        { title: 'KybResultDetails' },
      ),
      { description: 'For reviewers of the operator alone; null for others.' },
    ),
  },
  { title: 'KybResult' },
)

export const KybCase = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    status: Words('KybCaseStatus', KYB_CASE_STATUSES),
    mode: Words('OnboardingMode', ONBOARDING_MODES),
    provider: Words('KycProviderId', KYC_PROVIDERS),
    applicantId: Nullable(Type.String()),
    customerType: CustomerType,
    company: KybCompany,
    personal: Nullable(KybPersonal),
    expectedActivity: Nullable(ExpectedActivity),
    attestations: Type.Object(
      { allDirectors: Nullable(Timestamp), allOwners: Nullable(Timestamp) },
      { title: 'KybAttestations', description: 'When the customer has stated that all of them are named.' },
    ),
    terms: Nullable(
      Type.Object(
        { version: Type.String(), acceptedAt: Timestamp, acceptedBy: Uuid, address: Nullable(Type.String()) },
        { title: 'KybTerms', description: '`address` is the network address of the person who accepted.' },
      ),
    ),
    capabilities: Type.Array(CapabilityState),
    addresses: Type.Array(CustomerAddress, {
      description: 'The addresses of the customer, as its settings have them.',
    }),
    persons: Type.Record(Type.String(), KybPerson, {
      description: 'By their ids, as pointers of requirements name them.',
    }),
    documents: DocumentsByType,
    steps: Steps,
    requirements: Requirements,
    infoRequested: Type.Array(
      Type.Object(
        {
          code: Type.String(),
          field: Nullable(Type.String()),
          message: Type.String(),
          requestedAt: Timestamp,
          resolvedAt: Nullable(Timestamp),
        },
        { title: 'KybInfoRequest' },
      ),
    ),
    result: Nullable(Result),
    nextReviewAt: Nullable(Timestamp),
    submittedAt: Nullable(Timestamp),
    reviewedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'KybCase' },
)
export type KybCase = Static<typeof KybCase>

/** All members of an object, each optional. */
const optional = <Members extends Readonly<Record<string, Type.TSchema>>>(members: Members) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [name in keyof Members]: Type.TOptional<Members[name]>
  }

export const KybCaseUpdate = Type.Object(
  {
    customerType: Type.Optional(CustomerType),
    company: Type.Optional(Type.Object(optional(company), { title: 'KybCompanyUpdate', additionalProperties: false })),
    personal: Type.Optional(
      Type.Object(
        { ...optional(personal), address: Type.Optional(Nullable(AddressInput)) },
        { title: 'KybPersonalUpdate', additionalProperties: false },
      ),
    ),
    expectedActivity: Type.Optional(
      Type.Object(
        { ...optional(activity), monthlyVolume: Type.Optional(Nullable(PositiveMoney)) },
        { title: 'ExpectedActivityUpdate', additionalProperties: false },
      ),
    ),
    attestations: Type.Optional(
      Type.Object(
        { allDirectors: Type.Optional(Type.Boolean()), allOwners: Type.Optional(Type.Boolean()) },
        { title: 'KybAttestationsUpdate', additionalProperties: false },
      ),
    ),
    terms: Type.Optional(
      Type.Object({ version: Text(1, 40) }, { title: 'TermsAcceptance', additionalProperties: false }),
    ),
    capabilities: Type.Optional(
      Type.Array(Capability, { minItems: 1, maxItems: CUSTOMER_CAPABILITIES.length, uniqueItems: true }),
    ),
  },
  {
    title: 'KybCaseUpdate',
    additionalProperties: false,
    description: 'Members that are absent stay; null clears a field.',
    examples: [{ company: { legalForm: 'BV', industryCode: '46.90' }, attestations: { allDirectors: true } }],
  },
)
export type KybCaseUpdate = Static<typeof KybCaseUpdate>
