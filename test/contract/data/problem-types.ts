/** The problem types of the contract. */
import { table, words } from './table.ts'

export interface ContractProblem {
  readonly slug: string
  readonly status: number
  readonly title: string
  /** Whether the same request may be sent again unchanged; `reads`: a read only. */
  readonly retryable: boolean | 'reads'
  /** The members that its documents have beside those of every problem. */
  readonly members: readonly string[]
}

const PROBLEM_TYPES = table(
  ['status', 'slug', 'title', 'retryable', 'members'],
  `
  400 | malformed-request | The request could not be read | no | errors
  400 | invalid-cursor | The cursor does not fit this list | no
  400 | too_many_filter_values | Too many values in one filter | no | filter max
  401 | unauthenticated | Authentication is required | no
  401 | session-expired | The session has ended | no | reason
  401 | invalid-api-key | The API key is not valid | no
  401 | mfa-required | A second factor is required | no | challengeId methods
  403 | insufficient-scope | The credential lacks a scope or capability | no | requiredScope requiredCapability
  403 | tenant-forbidden | The tenant is not available to this credential | no
  403 | step-up-required | A fresh verification is required | no | action challengeUrl
  403 | ip-not-allowed | The source address is not allowed | no
  403 | impersonation-restricted | Not allowed while impersonating | no
  403 | customer-restricted | The account cannot do this at present | no
  404 | not-found | No such resource in this tenant | no
  404 | feature-disabled | The feature is not available | no | feature
  405 | method-not-allowed | The method is not supported here | no
  406 | not-acceptable | No acceptable representation | no
  409 | invalid-transition | The resource is not in a state that allows this | no | currentStatus allowed
  409 | duplicate-recipient | The recipient already exists | no | existingId
  409 | duplicate-external-id | externalId is already used | no | existingId
  409 | duplicate-file | The same file was uploaded recently | no | existingId
  409 | quote-expired | The quote is no longer valid | no | quoteId expiredAt
  409 | insufficient-funds | The balance does not cover the amount | no | available required
  409 | idempotency-key-in-use | A request with this key is running | yes
  409 | not-cancellable | It can no longer be cancelled | no | currentStatus
  409 | kyc_incomplete | Person verification is incomplete | no | persons
  409 | recipient-in-use | Scheduled or pending payments use the recipient | no | paymentIds
  409 | limit-reached | The maximum number is reached | no | limit resource
  409 | approval-subject-changed | The subject differs from what was shown | no | currentMaskedIdentifier
  409 | simulation-not-possible | The simulation does not fit the current state | no | currentStatus connectionProvider
  409 | customer-not-active | The customer is not approved yet | no | status
  409 | confirmation-not-available | No confirmation exists yet | no
  409 | document-not-ready | The document is still being checked | yes
  409 | challenge-locked | Too many wrong codes | no
  412 | precondition-failed | The resource has changed | no | currentEtag
  413 | payload-too-large | The body is too large | no | maxBytes
  414 | uri-too-long | The request target is too long | no | maxBytes
  415 | unsupported-media-type | The content type is not supported | no | supported
  422 | validation-error | Some fields are not valid | no | errors
  422 | idempotency-key-reused | The key was used with other content | no | firstUsedAt
  422 | limit-exceeded | A limit would be exceeded | no | limit
  422 | recipient-not-approved | The recipient is not approved | no | recipientStatus
  422 | verification-unavailable | Account name checks are not available here | no | scheme
  422 | verification-mismatch | The account name check did not match | no | verification
  422 | rail-unavailable | No route is available for this payment | no | rails
  422 | invitation_domains_required | No invitation domains are configured | no
  422 | domain_not_approved | The e-mail domain is not approved | no | domain
  422 | document-not-clean | The document failed or awaits its scan | no | documentIds
  422 | tipping_off | The text may reveal a confidential review | no | field
  422 | unsafe-url | The webhook address is not allowed | no | ruleViolated
  428 | precondition-required | If-Match is required | no
  429 | rate-limited | Too many requests | yes | violatedPolicies retryAfterSeconds
  431 | headers-too-large | The header block is too large | no
  500 | internal-error | Something went wrong | reads
  501 | not-implemented | Not implemented | no
  502 | provider-error | The banking partner refused or failed | reads
  503 | service-unavailable | Temporarily unavailable | yes
  504 | provider-timeout | The banking partner did not answer | reads | resourceId
`,
)

const RETRYABLE: Readonly<Record<string, ContractProblem['retryable']>> = { yes: true, no: false, reads: 'reads' }

export const CONTRACT_PROBLEMS: readonly ContractProblem[] = PROBLEM_TYPES.map((row) => ({
  slug: row.slug,
  status: Number(row.status),
  title: row.title,
  retryable: RETRYABLE[row.retryable]!,
  members: words(row.members),
}))
