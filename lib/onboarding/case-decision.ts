/** A decision of staff on a KYB case. */

/** A person of the staff, and the time of what they did in epoch milliseconds. */
export interface Acted {
  readonly by: string
  readonly byName: string
  readonly at: number
}

/** The first of two approvals. */
export interface FirstApproval extends Acted {
  readonly note: string | null
}

export const CASE_DECISIONS = ['approved', 'rejected'] as const

/** The last decision on a case. `reason` is for staff, `reasonForCustomer` is what the customer was told. */
export interface CaseDecision extends Acted {
  readonly decision: (typeof CASE_DECISIONS)[number]
  readonly reason: string | null
  readonly reasonForCustomer: string | null
  /** The first of two people; null where one decided. */
  readonly first: FirstApproval | null
}
