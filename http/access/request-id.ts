/** Request ids: the client's own when it sent a valid one, else a new UUIDv7. Every answer carries one. */
import type { Middleware } from 'koa'

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** Whether a header may be echoed and logged as it is. */
export function isRequestId(header: string | string[]): boolean {
  return typeof header === 'string' && REQUEST_ID.test(header)
}

/** Gives each request its id. An invalid header is refused later, in its turn; until then the request has a new id. */
export function requestId(ids: { next(): string }): Middleware {
  return (context, next) => {
    const sent = context.req.headers['x-request-id']
    context.state['requestId'] = sent !== undefined && isRequestId(sent) ? sent : ids.next()
    return next()
  }
}
