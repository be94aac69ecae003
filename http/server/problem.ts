/**
 * Turns errors into problem documents; no other file does.
 *
 * Only problems made for clients are shown. An operating error becomes 503 without its text. Any other error is a bug:
 * it becomes 500 without its text, and is logged in full.
 */
import type { Services } from '../route/services.ts'
import { TOO_MANY } from '../access/admission.ts'
import type { Context } from 'koa'
import type { Problem } from '../../lib/base/problems.ts'
import { send } from '../route/answer.ts'
import type { Log } from '../../lib/base/log.ts'
import { problemBody, problemStatus, toProblem } from '../../lib/base/problem-document.ts'

function extraHeaders(problem: Problem): string[] {
  const headers: string[] = []
  if (problem.retryAfterSeconds !== undefined)
    headers.push('Retry-After', `${Math.max(1, Math.ceil(problem.retryAfterSeconds))}`)
  if (problemStatus(problem) === 401) headers.push('WWW-Authenticate', 'Bearer')
  // The connection is closed because the rest of the body would be read as the next request.
  if (problem.slug === 'request-timeout') headers.push('Connection', 'close')
  return headers
}

/** A segment of a path that is longer than any id is a token. Tokens are not logged. */
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
    surroundings.log[level](
      { err: error, requestId, method: context.method, path: context.path.replace(SECRET_SEGMENT, '***') },
      'request failed',
    )
  }
  // The status line has been sent, so a document is no longer possible. Cutting the connection is the only honest
  // signal.
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

/** Builds the body of the 503 with which admission refuses a request. */
export function overloaded(
  { ids, problemBase }: Pick<Services, 'ids' | 'problemBase'>,
  path: string,
): { readonly body: string; readonly requestId: string } {
  const requestId = ids.next()
  const instance = path.split('?', 1)[0] as string
  return {
    requestId,
    body: problemBody(
      { slug: 'service-unavailable', detail: TOO_MANY, retryAfterSeconds: 1 },
      { problemBase, instance, requestId },
    ),
  }
}
