/** The statuses of a customer, from its first draft to its closure, and the measures of staff beside them. Pure. */

/** The statuses as the API shows them. */
export const CUSTOMER_STATUSES = [
  'draft',
  'onboarding',
  'in_review',
  'info_required',
  'active',
  'restricted',
  'suspended',
  'rejected',
  'closing',
  'closed',
] as const
export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number]

/** The measures that are taken against a customer. They are kept beside the status, because both hold at once. */
export const CUSTOMER_MEASURES = ['restricted', 'suspended'] as const satisfies readonly CustomerStatus[]
export type MeasureTaken = (typeof CUSTOMER_MEASURES)[number]

/** The origin of a measure: a person of the staff, or the service while a requirement is past due. */
export type MeasureTaker = 'staff' | 'service'

/** The statuses that a customer passes through: those without the measures. */
export type LifeStatus = Exclude<CustomerStatus, MeasureTaken>
export const LIFE_STATUSES = CUSTOMER_STATUSES.filter(
  (status): status is LifeStatus => status !== 'restricted' && status !== 'suspended',
)

/** The facts that decide what a customer may do with its money. */
export interface CustomerStanding {
  readonly customerStatus: LifeStatus
  /** Null: none. */
  readonly customerMeasure: MeasureTaken | null
}

/** Returns the status that the API shows: the measure in place of `active`; a customer that is closing is shown so. */
export const shownStatus = ({ customerStatus, customerMeasure }: CustomerStanding): CustomerStatus =>
  customerStatus === 'active' ? (customerMeasure ?? customerStatus) : customerStatus
