/**
 * Every problem that the API can answer, and the value that carries a problem through the code.
 *
 * The catalogue is part of the contract: slugs and titles never change, new rows may be added. The domain names a
 * problem by its slug and describes the occurrence in `detail`; only the HTTP layer turns it into a document.
 */
/**
 * Whether the same request may be sent again unchanged. `reads` means: a read may be repeated; a request that could
 * have moved money may not, because the first attempt may have had its effect.
 */
export type Retryable = boolean | 'reads'

interface CatalogueEntry {
  readonly status: number
  readonly title: string
  readonly retryable: Retryable
}

/** The catalogue. `status` stands in this table only, so that no other file of the domain needs to know HTTP. */
export const PROBLEMS = {
  'malformed-request': { status: 400, title: 'The request could not be read', retryable: false },
  'invalid-cursor': { status: 400, title: 'The cursor does not fit this list', retryable: false },
  too_many_filter_values: { status: 400, title: 'Too many values in one filter', retryable: false },
  unauthenticated: { status: 401, title: 'Authentication is required', retryable: false },
  'session-expired': { status: 401, title: 'The session has ended', retryable: false },
  'invalid-api-key': { status: 401, title: 'The API key is not valid', retryable: false },
  'mfa-required': { status: 401, title: 'A second factor is required', retryable: false },
  'insufficient-scope': { status: 403, title: 'The credential lacks a scope or capability', retryable: false },
  'tenant-forbidden': { status: 403, title: 'The tenant is not available to this credential', retryable: false },
  'step-up-required': { status: 403, title: 'A fresh verification is required', retryable: false },
  'ip-not-allowed': { status: 403, title: 'The source address is not allowed', retryable: false },
  'impersonation-restricted': { status: 403, title: 'Not allowed while impersonating', retryable: false },
  'customer-restricted': { status: 403, title: 'The account cannot do this at present', retryable: false },
  'not-found': { status: 404, title: 'No such resource in this tenant', retryable: false },
  'feature-disabled': { status: 404, title: 'The feature is not available', retryable: false },
  'method-not-allowed': { status: 405, title: 'The method is not supported here', retryable: false },
  'not-acceptable': { status: 406, title: 'No acceptable representation', retryable: false },
  'request-timeout': { status: 408, title: 'The body arrived too slowly', retryable: true },
  'invalid-transition': { status: 409, title: 'The resource is not in a state that allows this', retryable: false },
  'duplicate-recipient': { status: 409, title: 'The recipient already exists', retryable: false },
  'duplicate-external-id': { status: 409, title: 'externalId is already used', retryable: false },
  'duplicate-file': { status: 409, title: 'The same file was uploaded recently', retryable: false },
  'quote-expired': { status: 409, title: 'The quote is no longer valid', retryable: false },
  'insufficient-funds': { status: 409, title: 'The balance does not cover the amount', retryable: false },
  'idempotency-key-in-use': { status: 409, title: 'A request with this key is running', retryable: true },
  'not-cancellable': { status: 409, title: 'It can no longer be cancelled', retryable: false },
  kyc_incomplete: { status: 409, title: 'Person verification is incomplete', retryable: false },
  'recipient-in-use': { status: 409, title: 'Scheduled or pending payments use the recipient', retryable: false },
  'limit-reached': { status: 409, title: 'The maximum number is reached', retryable: false },
  'approval-subject-changed': { status: 409, title: 'The subject differs from what was shown', retryable: false },
  'simulation-not-possible': { status: 409, title: 'The simulation does not fit the current state', retryable: false },
  'customer-not-active': { status: 409, title: 'The customer is not approved yet', retryable: false },
  'confirmation-not-available': { status: 409, title: 'No confirmation exists yet', retryable: false },
  'document-not-ready': { status: 409, title: 'The document is still being checked', retryable: true },
  'challenge-locked': { status: 409, title: 'Too many wrong codes', retryable: false },
  'link-expired': { status: 410, title: 'The link has expired', retryable: false },
  'precondition-failed': { status: 412, title: 'The resource has changed', retryable: false },
  'payload-too-large': { status: 413, title: 'The body is too large', retryable: false },
  'uri-too-long': { status: 414, title: 'The request target is too long', retryable: false },
  'unsupported-media-type': { status: 415, title: 'The content type is not supported', retryable: false },
  'validation-error': { status: 422, title: 'Some fields are not valid', retryable: false },
  'idempotency-key-reused': { status: 422, title: 'The key was used with other content', retryable: false },
  'limit-exceeded': { status: 422, title: 'A limit would be exceeded', retryable: false },
  'recipient-not-approved': { status: 422, title: 'The recipient is not approved', retryable: false },
  'verification-unavailable': { status: 422, title: 'Account name checks are not available here', retryable: false },
  'verification-mismatch': { status: 422, title: 'The account name check did not match', retryable: false },
  'rail-unavailable': { status: 422, title: 'No route is available for this payment', retryable: false },
  invitation_domains_required: { status: 422, title: 'No invitation domains are configured', retryable: false },
  domain_not_approved: { status: 422, title: 'The e-mail domain is not approved', retryable: false },
  'document-not-clean': { status: 422, title: 'The document failed or awaits its scan', retryable: false },
  tipping_off: { status: 422, title: 'The text may reveal a confidential review', retryable: false },
  'unsafe-url': { status: 422, title: 'The webhook address is not allowed', retryable: false },
  'precondition-required': { status: 428, title: 'If-Match is required', retryable: false },
  'rate-limited': { status: 429, title: 'Too many requests', retryable: true },
  'headers-too-large': { status: 431, title: 'The header block is too large', retryable: false },
  'internal-error': { status: 500, title: 'Something went wrong', retryable: 'reads' },
  'not-implemented': { status: 501, title: 'Not implemented', retryable: false },
  'provider-error': { status: 502, title: 'The banking partner refused or failed', retryable: 'reads' },
  'service-unavailable': { status: 503, title: 'Temporarily unavailable', retryable: true },
  'provider-timeout': { status: 504, title: 'The banking partner did not answer', retryable: 'reads' },
} as const satisfies Record<string, CatalogueEntry>

/** The name of a problem, which is also the last part of its `type` address. */
export type ProblemSlug = keyof typeof PROBLEMS

/** The validation codes that any body can produce; a resource may add codes of its own. */
export type FieldErrorCode =
  | 'required'
  | 'invalid_type'
  | 'invalid_format'
  | 'invalid_value'
  | 'invalid_checksum'
  | 'too_short'
  | 'too_long'
  | 'too_small'
  | 'too_large'
  | 'unknown_field'
  | 'read_only_field'
  | 'not_applicable'
  | 'currency_mismatch'
  | 'not_found'
  | 'inactive'
  | 'invalid_characters'
  | 'in_past'
  | 'not_business_day'
  | 'too_far_ahead'
  | 'quote_required'
  | 'amount_too_small'
  | 'currency_withdrawn'
  | 'account_not_eligible'
  | 'not_ours'

/** A single fault of a field. */
export interface FieldError {
  /** JSON Pointer into the body, or `header.<name>`, `path.<name>`, `query.<name>`. */
  readonly field: string
  readonly code: FieldErrorCode
  /** A sentence for the person who reads the error; the text may change at any time. */
  readonly message: string
  /** The limits that were exceeded, such as `{ max: 140 }`. */
  readonly params?: Readonly<Record<string, string | number>>
}

/** A problem as a value: the domain returns it and an idempotency record can store it. */
export interface Problem {
  readonly slug: ProblemSlug
  /** A sentence about this occurrence, safe to show to the caller. */
  readonly detail: string
  readonly errors?: readonly FieldError[]
  /** Extension members of the document, already JSON (bigint as text). */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Whole seconds; becomes `Retry-After` and the member of the same name. */
  readonly retryAfterSeconds?: number
}

/** A problem that is thrown. Clients never see the text of any other thrown error. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(`${problem.slug}: ${problem.detail}`)
    this.problem = problem
  }
}

/** Throws a problem. @throws ProblemError always */
export function refuse(slug: ProblemSlug, detail: string, rest: Omit<Problem, 'slug' | 'detail'> = {}): never {
  throw new ProblemError({ slug, detail, ...rest })
}

/**
 * Builds the problem of a request that the state of its resource does not permit.
 *
 * @param currentStatus the status of the resource
 * @param allowed the statuses in which the resource would permit this request. It may contain the current status, where
 *   something else stands in the way, which `detail` tells; empty when no status would do.
 */
export function transitionProblem(
  detail: string,
  currentStatus: string | null,
  allowed: readonly string[],
  more: Problem['extra'] = {},
): Problem {
  return { slug: 'invalid-transition', detail, extra: { currentStatus, allowed, ...more } }
}

/** Refuses a request that the state of its resource does not permit. @throws ProblemError `invalid-transition` */
export function refuseTransition(detail: string, currentStatus: string | null, allowed: readonly string[]): never {
  throw new ProblemError(transitionProblem(detail, currentStatus, allowed))
}

/** Refuses because the tenant has no such resource. @throws ProblemError `not-found` */
export function refuseNotFound(): never {
  refuse('not-found', 'No such resource exists in this tenant.')
}

/** Refuses one field of a body, with the message of that field. @throws ProblemError `validation-error` */
export function refuseField(
  field: string,
  code: FieldErrorCode,
  message: string,
  params?: FieldError['params'],
): never {
  refuse('validation-error', message, {
    errors: [params === undefined ? { field, code, message } : { field, code, message, params }],
  })
}
