/** The people and companies of a KYB case as the API shows and takes them. */
import Type, { type Static } from 'typebox'
import { Address, AddressInput } from '../contract/address.ts'
import { CalendarDate, CountryCode, Email, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { DocumentsByType } from './kyb-document-schema.ts'
import { KYB_OWNERS_MAX, KYB_PERSON_KINDS, KYB_PERSON_ROLES, KYB_PERSON_STATUSES } from './kyb-person.ts'
import { SHARE_PATTERN } from './ownership.ts'

const NAME_MAX = 100

const Role = Words('KybPersonRole', KYB_PERSON_ROLES)
const Kind = Words('KybPersonKind', KYB_PERSON_KINDS)
const Share = Type.String({
  pattern: SHARE_PATTERN,
  description: 'Percent as a decimal of up to four digits.',
  examples: ['33.3333'],
})
const Owners = Nullable(
  Type.Array(Type.Object({ ownerId: Uuid, sharePercent: Share }, { title: 'KybOwner', additionalProperties: false }), {
    maxItems: KYB_OWNERS_MAX,
  }),
  { description: 'The owners of a company, by their ids in the case; null where they are not told.' },
)
const Roles = Type.Array(Role, { maxItems: KYB_PERSON_ROLES.length, uniqueItems: true })
const OwnershipPercent = Nullable(Share, { description: 'The share of the customer itself that is owned directly.' })
const Nominee = Type.Boolean({ description: 'Whether the shares are held on behalf of another person.' })

const details = {
  firstName: Nullable(Text(1, NAME_MAX)),
  lastName: Nullable(Text(1, NAME_MAX)),
  dateOfBirth: Nullable(CalendarDate),
  nationality: Nullable(CountryCode),
  email: Nullable(Email),
  legalName: Nullable(Text(1, 140)),
  registrationNumber: Nullable(Text(1, 40)),
  incorporationCountry: Nullable(CountryCode),
}

export const KybPerson = Type.Object(
  {
    id: Uuid,
    kind: Kind,
    roles: Roles,
    ...details,
    address: Nullable(Address),
    ownershipPercent: OwnershipPercent,
    ownedBy: Owners,
    effectivePercent: Type.String({
      description: 'The share of the customer, directly and through companies, rounded down to four digits.',
      examples: ['16.6666'],
    }),
    beneficialOwner: Type.Boolean({ description: 'A person with the role `ubo`, or with 25 % or more.' }),
    nominee: Nominee,
    status: Words('KybPersonStatus', KYB_PERSON_STATUSES),
    applicantId: Nullable(Type.String()),
    rejectLabels: Nullable(Type.Array(Type.String()), {
      description: 'For reviewers of the operator alone; null for others.',
    }),
    documents: DocumentsByType,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'KybPerson' },
)
export type KybPerson = Static<typeof KybPerson>

const written = {
  roles: Type.Optional(Roles),
  firstName: Type.Optional(details.firstName),
  lastName: Type.Optional(details.lastName),
  dateOfBirth: Type.Optional(details.dateOfBirth),
  nationality: Type.Optional(details.nationality),
  email: Type.Optional(details.email),
  legalName: Type.Optional(details.legalName),
  registrationNumber: Type.Optional(details.registrationNumber),
  incorporationCountry: Type.Optional(details.incorporationCountry),
  address: Type.Optional(Nullable(AddressInput)),
  ownershipPercent: Type.Optional(OwnershipPercent),
  ownedBy: Type.Optional(Owners),
  nominee: Type.Optional(Nominee),
}

export const KybPersonCreate = Type.Object(
  { kind: Type.Optional(Kind), ...written },
  {
    title: 'KybPersonCreate',
    additionalProperties: false,
    description: '`kind` is `person` by default.',
    examples: [{ firstName: 'Noor', lastName: 'de Wit', roles: ['director'], ownershipPercent: '33.3333' }],
  },
)
export type KybPersonCreate = Static<typeof KybPersonCreate>

export const KybPersonUpdate = Type.Object(written, {
  title: 'KybPersonUpdate',
  additionalProperties: false,
  description: 'Members that are absent stay; null clears a field.',
  examples: [{ ownershipPercent: '25' }],
})
export type KybPersonUpdate = Static<typeof KybPersonUpdate>
