/** Problem documents (RFC 9457): the text that a client reads, the same bytes for the same problem and request. */
import { OperatingError } from './errors.ts'
import { type Problem, ProblemError, PROBLEMS } from './problems.ts'

/** The properties of the request that its problem document repeats. */
export interface ProblemRequest {
  readonly problemBase: string
  /** Path of the request. */
  readonly instance: string
  readonly requestId: string
  /**
   * True for a read, and for a job that moves no money. Both may be repeated even after failures that leave the outcome
   * of a write unknown.
   */
  readonly reading?: boolean
}

/** Returns the HTTP status of a problem. */
export function problemStatus(problem: Problem): number {
  return PROBLEMS[problem.slug].status
}

/**
 * Writes the document as text. The same problem and request always give the same bytes, so a stored one can be
 * replayed.
 */
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
    // Extension members must not hide the members that every problem has.
    ...(problem.extra !== undefined && 'status' in problem.extra ? { status } : {}),
  })
}

/** Maps a thrown value to the problem that the client sees and to the level at which the error itself is logged. */
export function toProblem(error: unknown): { readonly problem: Problem; readonly level: 'none' | 'warn' | 'error' } {
  if (error instanceof ProblemError) return { problem: error.problem, level: 'none' }
  if (error instanceof OperatingError) {
    return {
      problem: {
        slug: 'service-unavailable',
        detail: 'The service cannot answer at the moment. Send the same request again.',
        retryAfterSeconds: error.retryAfterSeconds,
      },
      level: 'warn',
    }
  }
  return {
    problem: {
      slug: 'internal-error',
      detail: 'The request failed for a reason on our side. The request id finds it in our logs.',
    },
    level: 'error',
  }
}
