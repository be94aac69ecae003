/** The closed lists of words of KYB cases. */
export const KYB_CASE_STATUSES = [
  'draft',
  'submitted',
  'in_review',
  'info_requested',
  'approved',
  'rejected',
  'withdrawn',
] as const
export type KybCaseStatus = (typeof KYB_CASE_STATUSES)[number]

export const ONBOARDING_MODES = ['wizard', 'provider_sdk', 'operator'] as const
export type OnboardingMode = (typeof ONBOARDING_MODES)[number]

export const KYC_PROVIDERS = ['sumsub', 'manual', 'sandbox'] as const
export type KycProviderId = (typeof KYC_PROVIDERS)[number]

export const REVIEW_ANSWERS = ['green', 'red', 'pending'] as const
export type ReviewAnswer = (typeof REVIEW_ANSWERS)[number]
export const REJECT_TYPES = ['final', 'retry'] as const
export type RejectType = (typeof REJECT_TYPES)[number]

/** The capabilities that a customer may use once it is approved. */
export const CUSTOMER_CAPABILITIES = ['receive', 'send', 'exchange', 'directDebits', 'cards'] as const
export type CustomerCapability = (typeof CUSTOMER_CAPABILITIES)[number]
/** The capabilities that every new case requests. */
export const DEFAULT_CAPABILITIES: readonly CustomerCapability[] = ['receive', 'send', 'exchange']

/** The reasons that keep a customer from a capability that it has requested. */
export const CAPABILITY_PROBLEMS = [
  'not_approved',
  'customer_restricted',
  'customer_suspended',
  'requirements_past_due',
] as const
export type CapabilityProblem = (typeof CAPABILITY_PROBLEMS)[number]

export const ATTESTATIONS = ['allDirectors', 'allOwners'] as const
