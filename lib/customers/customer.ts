/** Customers as records, and the moves that staff make with them. Pure. */
import { type Problem, transitionProblem } from '../base/problems.ts'
import type { CustomerStanding, CustomerStatus, LifeStatus, MeasureTaken } from './status.ts'
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
  readonly status: LifeStatus
  readonly measure: MeasureTaken | null
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

/** The moves of staff, with the standings from which each leads to its own: the measure, or the status without one. */
const MEASURES = {
  restrict: { from: ['active', 'suspended', 'closing'], to: 'restricted' },
  suspend: { from: ['active', 'restricted', 'closing'], to: 'suspended' },
  lift: { from: ['restricted', 'suspended'], to: null },
} as const satisfies Readonly<
  Record<string, { readonly from: readonly CustomerStatus[]; readonly to: MeasureTaken | null }>
>
export type Measure = keyof typeof MEASURES

/**
 * Decides a move of staff: the measure that holds from now on, or the problem that refuses the move. The status stays as
 * it is, so that the end of the measure gives it back.
 */
export function takeMeasure(
  { customerStatus, customerMeasure }: CustomerStanding,
  measure: Measure,
): { readonly measure: MeasureTaken | null } | { readonly refused: Problem } {
  const { from, to } = MEASURES[measure]
  const standing = customerMeasure ?? customerStatus
  return (from as readonly CustomerStatus[]).includes(standing)
    ? { measure: to }
    : { refused: transitionProblem(`The customer is ${standing}.`, standing, from) }
}
