/** The answer to a request that admission refuses. */
import { problemBody } from '../../lib/base/problem-document.ts'
import { TOO_MANY } from '../access/admission.ts'
import type { Services } from '../route/services.ts'

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
