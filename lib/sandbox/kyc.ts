/** The reviews of the sandbox's KYC provider, chosen by a token in the name of the company or person. */
import { MINUTE_MS } from '../base/clock.ts'
import type { KycReview } from '../kyc/messages.ts'
import { sandboxTokens, type CatalogueRule } from './triggers.ts'

/** The time that a review takes. */
export const SANDBOX_KYC_MS = 5_000
const SLOW_MS = MINUTE_MS
const SLOW = 'SLOW'

/** A review with the time that it takes. */
export interface ReviewPlan {
  readonly afterMs: number
  readonly review: KycReview
}

type Outcome = (name: string) => Partial<KycReview>

const green: KycReview = {
  answer: 'green',
  rejectType: null,
  rejectLabels: [],
  moderationComment: null,
  screening: [],
}
const red =
  (rejectType: 'final' | 'retry', label: string, moderationComment: string | null): Outcome =>
  () => ({ answer: 'red', rejectType, rejectLabels: [label], moderationComment })

interface KycRow {
  readonly token: string
  readonly outcome: Outcome
  readonly rule: string
}

/** Of several tokens the first row counts. */
const ROWS: readonly KycRow[] = [
  { token: 'RED', outcome: red('final', 'FORGERY', null), rule: 'reviewed red final after 5 s (FORGERY)' },
  {
    token: 'RETRY',
    outcome: red('retry', 'UNSATISFACTORY_PHOTOS', 'The photo of the document cannot be read.'),
    rule: 'reviewed red retry after 5 s (UNSATISFACTORY_PHOTOS)',
  },
  {
    token: 'DOC-EXPIRED',
    outcome: red('retry', 'EXPIRATION_DATE', 'The document has expired.'),
    rule: 'reviewed red retry after 5 s (EXPIRATION_DATE)',
  },
  {
    token: 'UBO-MISSING',
    outcome: red('retry', 'COMPANY_NOT_DEFINED_BENEFICIARIES', 'Not all owners of the company are named.'),
    rule: 'reviewed red retry after 5 s (COMPANY_NOT_DEFINED_BENEFICIARIES)',
  },
  {
    token: 'HIT',
    outcome: (name) => ({ screening: [{ list: 'sanctions', name, score: 87, status: 'potential_match' }] }),
    rule: 'reviewed green after 5 s, with one hit of the screening, which staff see',
  },
  { token: 'GREEN', outcome: () => ({}), rule: 'reviewed green after 5 s' },
]

/** Plans the review of an applicant by its name. */
export function planKycReview(name: string): ReviewPlan {
  const tokens = sandboxTokens(name)
  const row = ROWS.find(({ token }) => tokens.includes(token))
  return {
    afterMs: tokens.includes(SLOW) ? SLOW_MS : SANDBOX_KYC_MS,
    review: { ...green, ...row?.outcome(name) },
  }
}

/** Describes these rules, for the catalogue that integrators read. */
export function kycRules(): readonly CatalogueRule[] {
  return [
    ...ROWS.map(({ token, rule }) => `SBX:${token} in the legal name or a person’s last name: ${rule}`),
    `SBX:${SLOW}: after 60 s in place of 5`,
    'no token: reviewed green after 5 s',
  ].map((rule) => ({ topic: 'onboarding', rule }))
}
