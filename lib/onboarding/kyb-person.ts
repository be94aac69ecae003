/** The people and companies of a KYB case: who leads the customer, and who owns it. Records and words; pure. */
import type { Static } from 'typebox'
import type { Address } from '../contract/address.ts'

export const KYB_PERSON_KINDS = ['person', 'company'] as const
export type KybPersonKind = (typeof KYB_PERSON_KINDS)[number]

export const KYB_PERSON_ROLES = ['director', 'ubo', 'controller', 'authorised_signatory', 'owner'] as const
export type KybPersonRole = (typeof KYB_PERSON_ROLES)[number]

/** `pending`: at the provider. `green`, `red`, `retry`: the provider's answer. */
export const KYB_PERSON_STATUSES = ['draft', 'pending', 'green', 'red', 'retry'] as const
export type KybPersonStatus = (typeof KYB_PERSON_STATUSES)[number]

/** Persons of one case. A chart of more owners than this is a document. */
export const KYB_PERSONS_MAX = 200
/** Owners of one company. */
export const KYB_OWNERS_MAX = 50

/** One owner of a company, by its id in the case; the share is a decimal of percent with up to four digits. */
export interface KybOwner {
  readonly ownerId: string
  readonly sharePercent: string
}

/** The facts of a person or company; the fields of the other kind are null. Dates are `YYYY-MM-DD`. */
export interface KybPersonDetails {
  readonly firstName: string | null
  readonly lastName: string | null
  readonly dateOfBirth: string | null
  readonly nationality: string | null
  readonly email: string | null
  readonly address: Static<typeof Address> | null
  readonly legalName: string | null
  readonly registrationNumber: string | null
  readonly incorporationCountry: string | null
}

export const NO_DETAILS: KybPersonDetails = {
  firstName: null,
  lastName: null,
  dateOfBirth: null,
  nationality: null,
  email: null,
  address: null,
  legalName: null,
  registrationNumber: null,
  incorporationCountry: null,
}

/** A person or company of a case. Times are epoch milliseconds. */
export interface KybPersonRecord {
  readonly id: string
  readonly customerId: string
  readonly kind: KybPersonKind
  readonly roles: readonly KybPersonRole[]
  readonly details: KybPersonDetails
  /** The share of the customer that is owned directly, as text of percent; null: none. */
  readonly ownershipPercent: string | null
  /** The owners of a company; null for people, and for companies whose owners are not told. */
  readonly ownedBy: readonly KybOwner[] | null
  /** Whether the shares are held on behalf of another person. */
  readonly nominee: boolean
  readonly status: KybPersonStatus
  /** The id at the provider. */
  readonly applicantId: string | null
  readonly rejectLabels: readonly string[]
  readonly version: bigint
  readonly createdAt: number
  readonly updatedAt: number
}
