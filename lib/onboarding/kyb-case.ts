/** The KYB case of a customer: what is declared about it, and how far its review has come. Records and words; pure. */
import type { CustomerType } from '../customers/types.ts'
import type { RiskRating } from '../customers/customer.ts'
import type { LifeStatus, MeasureTaken } from '../customers/status.ts'
import {
  type ATTESTATIONS,
  DEFAULT_CAPABILITIES,
  type CustomerCapability,
  type KybCaseStatus,
  type KycProviderId,
  type OnboardingMode,
  type RejectType,
  type ReviewAnswer,
} from './case-words.ts'
import type { CaseDecision, FirstApproval } from './case-decision.ts'
import type { ExpectedActivity, KybCompany, KybPersonal } from './kyb-case-schema.ts'

/** A question of a reviewer to the customer. Times are epoch milliseconds. */
export interface InfoRequest {
  readonly code: string
  /** The JSON pointer of the requirement in the case; null for a question about the case as a whole. */
  readonly field: string | null
  readonly message: string
  readonly requestedAt: number
  readonly resolvedAt: number | null
}

/** A hit of a screening list, which the customer never sees. */
export interface KybScreeningHit {
  readonly list: string
  readonly name: string
  readonly score: number
  readonly status: string
}

/** The result of the provider for the customer itself. `rejectType` is set for a red answer alone. */
export interface ReviewResult {
  readonly reviewAnswer: ReviewAnswer
  readonly rejectType: RejectType | null
  readonly rejectLabels: readonly string[]
  readonly screening: readonly KybScreeningHit[]
  readonly moderationComment: string | null
}

/** A statement of the customer: the time at which it was made, epoch milliseconds, and the person who made it. */
export interface Attestation {
  readonly at: number
  readonly by: string
}
/** The statements that all directors, and all owners, are named. Absent: not made. */
export type Attestations = { readonly [name in (typeof ATTESTATIONS)[number]]?: Attestation }

/** The acceptance of terms. `address` is the network address of the person who accepted. */
export interface KybTerms extends Attestation {
  readonly version: string
  readonly address: string | null
}

/** The facts of a case that the wizard fills in. */
export interface KybCaseFacts {
  readonly company: KybCompany
  readonly personal: KybPersonal | null
  readonly expectedActivity: ExpectedActivity | null
  readonly attestations: Attestations
  readonly terms: KybTerms | null
  /** The requested capabilities. */
  readonly capabilities: readonly CustomerCapability[]
}

/** A case. Times are epoch milliseconds. */
export interface KybCaseRecord extends KybCaseFacts {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly status: KybCaseStatus
  readonly mode: OnboardingMode
  readonly provider: KycProviderId
  /** The id of the customer at the provider. */
  readonly applicantId: string | null
  readonly infoRequested: readonly InfoRequest[]
  readonly result: ReviewResult | null
  /** The person of the operator's staff who reviews the case. */
  readonly assigneeId: string | null
  /** The first of two approvals; null: none is waiting. */
  readonly firstApproval: FirstApproval | null
  /** The last decision of staff. */
  readonly decision: CaseDecision | null
  readonly nextReviewAt: number | null
  /** The time at which the case is looked at next, because its requirements may have changed; null: never. */
  readonly checkDueAt: number | null
  /** The time since when the customer cannot pay because something is past due; null: nothing is. */
  readonly lapsedAt: number | null
  readonly submittedAt: number | null
  /** The time of the last decision of staff. */
  readonly reviewedAt: number | null
  readonly version: bigint
  readonly createdAt: number
  readonly updatedAt: number
}

/** The facts of the customer on which its case depends; the customer's row has them. */
export interface CaseCustomer {
  readonly customerType: CustomerType
  readonly status: LifeStatus
  readonly measure: MeasureTaken | null
  readonly risk: RiskRating | null
}

/** A company of which nothing is told. */
export const NO_COMPANY: KybCompany = {
  legalName: null,
  tradingName: null,
  registrationNumber: null,
  incorporationCountry: null,
  incorporationDate: null,
  legalForm: null,
  website: null,
  industryCode: null,
  taxId: null,
}

export const NO_PERSON: KybPersonal = {
  firstName: null,
  lastName: null,
  dateOfBirth: null,
  nationality: null,
  countryOfResidence: null,
  address: null,
  email: null,
  phone: null,
  taxId: null,
  taxCountry: null,
  occupation: null,
  pepDeclared: null,
}

export const NO_ACTIVITY: ExpectedActivity = {
  monthlyVolume: null,
  monthlyTransactions: null,
  currencies: null,
  countries: null,
  purpose: null,
  sourceOfFunds: null,
}

/** Makes the draft case of a new customer, which declares what its operator knows of it. */
export function draftCase({
  id,
  customerId,
  operatorId,
  provider,
  known,
  now,
}: Pick<KybCaseRecord, 'id' | 'customerId' | 'operatorId' | 'provider'> & {
  readonly known: Partial<KybCompany>
  readonly now: number
}): KybCaseRecord {
  return {
    id,
    customerId,
    operatorId,
    status: 'draft',
    mode: 'wizard',
    provider,
    applicantId: null,
    company: { ...NO_COMPANY, ...known },
    personal: null,
    expectedActivity: null,
    attestations: {},
    terms: null,
    capabilities: DEFAULT_CAPABILITIES,
    infoRequested: [],
    result: null,
    assigneeId: null,
    firstApproval: null,
    decision: null,
    nextReviewAt: null,
    checkDueAt: null,
    lapsedAt: null,
    submittedAt: null,
    reviewedAt: null,
    version: 1n,
    createdAt: now,
    updatedAt: now,
  }
}
