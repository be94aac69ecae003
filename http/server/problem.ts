/**
 * Turns errors into problem documents; no other file does.
 */
import type { Services } from '../route/services.ts'
import { TOO_MANY } from '../access/admission.ts'
import type { Context } from 'koa'
import { send } from '../route/answer.ts'
import { headersOf, loggedProblem } from '../route/failure.ts'
import type { AnswerBytes } from '../../lib/commands/answer.ts'
import type { Log } from '../../lib/base/log.ts'
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'

/** Makes the answer of an error, and logs an error that is not the client's. */
export function problemAnswer(
  error: unknown,
  { requestId, method, path }: { readonly requestId: string; readonly method: string; readonly path: string },
  { problemBase, log }: { readonly problemBase: string; readonly log: Log },
): AnswerBytes {
  const problem = loggedProblem({ requestId, method, path }, error, log)
  return {
    status: problemStatus(problem),
    body: problemBody(problem, {
      problemBase,
      instance: path,
      requestId,
      reading: method === 'GET' || method === 'HEAD',
    }),
    contentType: 'application/problem+json',
    headers: headersOf(problem),
  }
}

/** Answers a request with the problem of an error. */
export function sendProblem(
  context: Context,
  error: unknown,
  surroundings: { readonly problemBase: string; readonly log: Log },
  headers: readonly string[] = [],
): void {
  const { method, path } = context
  const requestId = context.state['requestId'] as string
  const answer = problemAnswer(error, { requestId, method, path }, surroundings)
  // The status line has been sent, so a document is no longer possible. Cutting the connection is the only honest
  // signal.
  if (context.res.headersSent) {
    context.res.destroy()
    return
  }
  send(context, requestId, { ...answer, headers: [...headers, ...(answer.headers ?? [])] })
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
