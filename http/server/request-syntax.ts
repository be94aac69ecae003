/** The syntax of a request: its path parameters, its query and its headers, as a route declares them. */
import { isUuid } from '../../lib/base/ids.ts'
import type { Context } from 'koa'
import { type FieldError, refuse } from '../../lib/base/problems.ts'
import type { Principal } from '../../lib/commands/caller.ts'
import { parseIdempotencyKey } from '../../lib/commands/idempotency.ts'
import type { Cursors } from '../../lib/contract/cursor.ts'
import { compileList, compileQuery, type ListParser } from '../../lib/contract/query.ts'
import { isRequestId } from '../access/request-id.ts'
import { LINK_TOKEN, pathParameters, type Route } from '../route/route.ts'
import type { RequestContext } from './request-context.ts'

/** Reads what the requests of one route hold beside their bodies. */
export class RequestSyntax {
  readonly #route: Route
  readonly #names: readonly string[]
  readonly #produced: string
  readonly #parseQuery: ((querystring: string) => Record<string, string | number>) | null
  readonly #parseList: ListParser | null

  constructor(route: Route, cursors: Cursors) {
    this.#route = route
    this.#names = pathParameters(route.path)
    this.#produced = route.success.contentType ?? 'application/json'
    this.#parseQuery = route.list === undefined ? compileQuery(route.query) : null
    this.#parseList = route.list === undefined ? null : compileList(route.list, cursors)
  }

  /** Reads the parameters of path and query into the request. @throws ProblemError 400 and 406 */
  read(context: Context, request: RequestContext): void {
    const { querystring } = context
    checkRequestId(context)
    checkAccept(context, this.#produced)
    if (this.#names.length > 0) request.params = this.#readParams(context['params'] as Record<string, string>)
    if (this.#parseQuery !== null) request.query = this.#parseQuery(querystring)
    if (this.#parseList === null) return
    // A list without a tenant belongs to the person.
    const owner = request.tenant ?? { id: (request.principal as Principal).id, kind: 'customer' as const }
    request.list = this.#parseList(querystring, owner, `${this.#route.operationId} ${request.instance}`)
  }

  /** Reads the Idempotency-Key; null when the client sent none. @throws ProblemError 400 */
  idempotencyKey({ req }: Context): string | null {
    const { idempotency } = this.#route
    return idempotency === 'none'
      ? null
      : parseIdempotencyKey(req.headers['idempotency-key'] as string | undefined, idempotency)
  }

  /** Reads If-Match; null where it has no meaning or the client sent none. @throws ProblemError 428 */
  ifMatch({ req }: Context): string | null {
    const { ifMatch } = this.#route
    if (ifMatch === undefined) return null
    const sent = req.headers['if-match']
    if (sent !== undefined) return sent
    if (ifMatch === true)
      refuse('precondition-required', 'Send the ETag of the resource as If-Match, or * to change any version.')
    return null
  }

  #readParams(given: Readonly<Record<string, string>>): Record<string, string> {
    const params: Record<string, string> = {}
    for (const name of this.#names) params[name] = readParam(name, given[name] as string, this.#route.words?.[name])
    return params
  }
}

/** Reads a path parameter: a token, one of the route's words, or an id, which is returned in lower case. */
function readParam(name: string, value: string, words: readonly string[] | undefined): string {
  const field = `path.${name}`
  if (name === 'token') {
    if (LINK_TOKEN.test(value)) return value
    refuseField({
      field,
      code: 'invalid_format',
      message: 'The path parameter token does not have the expected format.',
    })
  }
  if (words !== undefined) {
    if (words.includes(value)) return value
    refuseField({
      field,
      code: 'invalid_value',
      message: `The path parameter ${name} must be one of ${words.join(', ')}.`,
    })
  }
  if (isUuid(value)) return value.toLowerCase()
  refuseField({ field, code: 'invalid_format', message: `The path parameter ${name} must be a UUID.` })
}

function checkRequestId(context: Context): void {
  const sent = context.req.headers['x-request-id']
  if (sent !== undefined && sent !== context.state['requestId'] && !isRequestId(sent)) {
    refuseField({
      field: 'header.X-Request-Id',
      code: 'invalid_format',
      message: 'X-Request-Id must be 1 to 128 characters: letters, digits and . _ : - alone.',
    })
  }
}

function checkAccept(context: Context, type: string): void {
  const { accept } = context.req.headers
  // An operation that answers `*/*` ignores Accept.
  if (accept === undefined || accept === '*/*' || accept === type || type === '*/*') return
  // Problems are sent whatever the client accepts; it must accept the operation's own type.
  if (context.accepts(type) === false) refuse('not-acceptable', `This operation produces ${type}.`)
}

function refuseField(error: FieldError): never {
  refuse('malformed-request', error.message, { errors: [error] })
}
