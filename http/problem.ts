/**
 * The one place that turns an error into a problem document.
 *
 * Only problems made for clients are shown. An operating error becomes 503 without its text; anything else is a bug,
 * becomes 500 without its text, and is logged with all of it.
 */
import type { Context } from 'koa'
import { OperatingError } from '../lib/errors.ts'
import { type Problem, ProblemError, PROBLEMS } from '../lib/problems.ts'
import { send } from './answer.ts'
import type { Log } from './world.ts'

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

function extraHeaders(problem: Problem): string[] {
  const headers: string[] = []
  if (problem.retryAfterSeconds !== undefined) headers.push('Retry-After', `${Math.max(1, Math.ceil(problem.retryAfterSeconds))}`)
  if (problemStatus(problem) === 401) headers.push('WWW-Authenticate', 'Bearer')
  // The rest of the body would be taken for the next request.
  if (problem.slug === 'request-timeout') headers.push('Connection', 'close')
  return headers
}

/** A part of a path that is longer than any id is a token, and tokens are not logged. */
const SECRET_SEGMENT = /[A-Za-z0-9_-]{40,}/g

/** Answers a request with the problem of an error. */
export function sendProblem(
  context: Context,
  error: unknown,
  surroundings: { readonly problemBase: string; readonly log: Log },
  headers: readonly string[] = [],
): void {
  const { problem, level } = toProblem(error)
  const requestId = context.state['requestId'] as string
  if (level !== 'none') {
    surroundings.log[level]({ err: error, requestId, method: context.method, path: context.path.replace(SECRET_SEGMENT, '***') }, 'request failed')
  }
  // Too late for a document: the status line is gone. Cutting the connection is the only honest signal left.
  if (context.res.headersSent) {
    context.res.destroy()
    return
  }
  send(context, requestId, {
    status: problemStatus(problem),
    body: problemBody(problem, {
      problemBase: surroundings.problemBase,
      instance: context.path,
      requestId,
      reading: context.method === 'GET' || context.method === 'HEAD',
    }),
    contentType: 'application/problem+json',
    headers: [...headers, ...extraHeaders(problem)],
  })
}
