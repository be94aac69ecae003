/** Customers as records, and the moves that staff make with them. Pure. */
import { type Problem, transitionProblem } from '../base/problems.ts'
import type { CustomerStatus } from './status.ts'
import type { CustomerType } from './types.ts'

export const IDENTITY_TYPES = ['corporate', 'individual'] as const
export type IdentityType = (typeof IDENTITY_TYPES)[number]

export const RISK_RATINGS = ['low', 'medium', 'high', 'prohibited'] as const
export type RiskRating = (typeof RISK_RATINGS)[number]

export const ACCESS_STATUSES = ['not_invited', 'invited', 'active', 'locked'] as const
export type AccessStatus = (typeof ACCESS_STATUSES)[number]

/** The legal facts of a customer, which the operator alone changes. Dates are `YYYY-MM-DD`. */
export interface LegalFacts {
  readonly legalName: string
  readonly registrationNumber: string | null
  readonly incorporationCountry: string
  readonly incorporationDate: string | null
}

/** A customer. Times are epoch milliseconds. */
export interface CustomerRecord extends LegalFacts {
  readonly id: string
  readonly operatorId: string
  /** Eight digits, unique per operator. */
  readonly number: string
  readonly tradingName: string | null
  readonly identityType: IdentityType
  readonly customerType: CustomerType
  readonly status: CustomerStatus
  readonly risk: RiskRating | null
  readonly metadata: Readonly<Record<string, string>>
  readonly version: bigint
  readonly approvedAt: number | null
  readonly closedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

const identityOf = (type: CustomerType): IdentityType => (type === 'business' ? 'corporate' : 'individual')

/**
 * Completes the types of a new customer: a business by default, an individual where only that identity is given.
 *
 * @returns null when the two given types do not agree
 */
export function typesOf(given: {
  readonly customerType?: CustomerType | undefined
  readonly identityType?: IdentityType | undefined
}): { readonly customerType: CustomerType; readonly identityType: IdentityType } | null {
  const customerType = given.customerType ?? (given.identityType === 'individual' ? 'individual' : 'business')
  const identityType = identityOf(customerType)
  return given.identityType === undefined || given.identityType === identityType ? { customerType, identityType } : null
}

/** The measures of staff, with the statuses from which each leads to its own. */
const MEASURES = {
  restrict: { from: ['active', 'suspended'], to: 'restricted' },
  suspend: { from: ['active', 'restricted'], to: 'suspended' },
  lift: { from: ['restricted', 'suspended'], to: 'active' },
} as const satisfies Readonly<Record<string, { readonly from: readonly CustomerStatus[]; readonly to: CustomerStatus }>>
export type Measure = keyof typeof MEASURES

/** Decides a measure: the next status, or the problem that refuses it. */
export function takeMeasure(
  status: CustomerStatus,
  measure: Measure,
): { readonly status: CustomerStatus } | { readonly refused: Problem } {
  const { from, to } = MEASURES[measure]
  return (from as readonly CustomerStatus[]).includes(status)
    ? { status: to }
    : { refused: transitionProblem(`The customer is ${status}.`, status, from) }
}
