/**
 * Errors of requests: the problem that the client hears of, and what the log keeps.
 *
 * Only problems made for clients are shown. An operating error becomes 503 without its text. Any other error is a bug:
 * it becomes 500 without its text, and is logged in full.
 */
import type { Context } from 'koa'
import type { Log } from '../../lib/base/log.ts'
import { problemStatus, toProblem } from '../../lib/base/problem-document.ts'
import type { Problem } from '../../lib/base/problems.ts'

/** A segment of a path that is longer than any id is a token. Tokens are not logged. */
const SECRET_SEGMENT = /[A-Za-z0-9_-]{40,}/g

/** Returns the problem of an error, which is logged unless it was made for clients. */
export function problemOf(context: Context, error: unknown, log: Log): Problem {
  const { method, path } = context
  return loggedProblem({ requestId: context.state['requestId'] as string, method, path }, error, log)
}

/** Does the same for a request of which no more than this is known. */
export function loggedProblem(
  { requestId, method, path }: { readonly requestId: string; readonly method: string; readonly path: string },
  error: unknown,
  log: Log,
): Problem {
  const { problem, level } = toProblem(error)
  if (level !== 'none')
    log[level]({ err: error, requestId, method, path: path.replace(SECRET_SEGMENT, '***') }, 'request failed')
  return problem
}

/** The headers that the answer to a problem carries, name and value in turn. */
export function headersOf(problem: Problem): string[] {
  const headers: string[] = []
  if (problem.retryAfterSeconds !== undefined)
    headers.push('Retry-After', `${Math.max(1, Math.ceil(problem.retryAfterSeconds))}`)
  if (problemStatus(problem) === 401) headers.push('WWW-Authenticate', 'Bearer')
  // The connection is closed because the rest of the body would be read as the next request.
  if (problem.slug === 'request-timeout') headers.push('Connection', 'close')
  return headers
}
