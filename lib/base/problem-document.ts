/** Problem documents (RFC 9457): the text that a client reads, the same bytes for the same problem and request. */
import { OperatingError } from './errors.ts'
import { type Problem, ProblemError, PROBLEMS } from './problems.ts'

/** What a problem document says about the request it answers. */
export interface ProblemRequest {
  readonly problemBase: string
  /** Path of the request. */
  readonly instance: string
  readonly requestId: string
  /** Reads may be repeated after failures that leave the fate of a write open. */
  readonly reading?: boolean
}

/** Status of a problem. */
export function problemStatus(problem: Problem): number {
  return PROBLEMS[problem.slug].status
}

/** The document as text. The same problem and request always give the same bytes, so a stored one can be replayed. */
export function problemBody(problem: Problem, request: ProblemRequest): string {
  const { status, title, retryable } = PROBLEMS[problem.slug]
  return JSON.stringify({
    type: `${request.problemBase}/${problem.slug}`,
    title,
    status,
    detail: problem.detail,
    instance: request.instance,
    code: problem.slug,
    requestId: request.requestId,
    retryable: retryable === 'reads' ? request.reading === true : retryable,
    errors: problem.errors,
    retryAfterSeconds: problem.retryAfterSeconds,
    ...problem.extra,
    // No member of one problem may hide what every problem has.
    ...(problem.extra !== undefined && 'status' in problem.extra ? { status } : {}),
  })
}

/** The problem a client sees for whatever was thrown, and how loudly the rest is logged. */
export function toProblem(error: unknown): { readonly problem: Problem; readonly level: 'none' | 'warn' | 'error' } {
  if (error instanceof ProblemError) return { problem: error.problem, level: 'none' }
  if (error instanceof OperatingError) {
    return {
      problem: { slug: 'service-unavailable', detail: 'The service cannot answer at the moment. Send the same request again.', retryAfterSeconds: error.retryAfterSeconds },
      level: 'warn',
    }
  }
  return {
    problem: { slug: 'internal-error', detail: 'The request failed for a reason on our side. The request id finds it in our logs.' },
    level: 'error',
  }
}
