/**
 * A declaration as Koa middleware. The checks run in one fixed order, which clients may rely on:
 *
 *   credential 401 → address 403 → tenant 400/403 → scope 403 → path, query and header syntax 400 → Idempotency-Key
 *   400 → content type 415, JSON 400 → recorded answer of the key → resource in the path 404 → body 422 → the handler.
 *
 * Routing (404, 405) has happened before. The recorded answer of a key is found by the domain on its own way into the
 * command; only when the body is not valid, and the command therefore never starts, is it looked up here.
 *
 * Everything that depends on the route alone is prepared once; a request allocates its context and its answer.
 */
import type { Context, Middleware } from 'koa'
import { type FieldError, ProblemError, refuse } from '../lib/problems.ts'
import { send } from './answer.ts'
import type { Authentication, Caller } from './authentication.ts'
import type { Cursors } from './cursor.ts'
import { idempotencyOf, parseIdempotencyKey } from './idempotency.ts'
import { type JsonBody, readJson } from './json-body.ts'
import { compileList, compileQuery } from './query.ts'
import { isRequestId } from './request-id.ts'
import { pathParameters, type Answer, type Route } from './route.ts'
import { compileBody } from './validation.ts'
import type { Idempotency, IdempotencyRecord, Principal, Tenant, World } from './world.ts'

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const IN_USE_RETRY_SECONDS = 1

/** What endpoints share. */
export interface EndpointParts {
  readonly world: World
  readonly authentication: Authentication
  readonly cursors: Cursors
}

function refuseField(error: FieldError): never {
  refuse('malformed-request', error.message, { errors: [error] })
}

function checkTenant(header: string | undefined, principal: Principal, allowed: Route['tenant']): void {
  if (header !== principal.tenantId) {
    if (header === undefined) refuseField({ field: 'header.X-Tenant-Id', code: 'required', message: 'This operation needs an X-Tenant-Id header.' })
    if (!UUID.test(header)) refuseField({ field: 'header.X-Tenant-Id', code: 'invalid_format', message: 'X-Tenant-Id must be a UUID.' })
    if (header.toLowerCase() !== principal.tenantId) refuse('tenant-forbidden', 'The API key belongs to another tenant.')
  }
  if (allowed !== 'any' && allowed !== principal.level) {
    refuse('tenant-forbidden', `This operation is for ${allowed} tenants.`)
  }
}

function checkAccept(context: Context, type: string): void {
  const { accept } = context.req.headers
  if (accept === undefined || accept === '*/*' || accept === type) return
  // Problems are produced whatever the client accepts; an operation's own type is what it has to accept.
  if (context.accepts(type) === false) refuse('not-acceptable', `This operation produces ${type}.`)
}

/** The answer that a key already has, for a body that no longer gets as far as the domain. */
function recordedAnswer(record: IdempotencyRecord, idempotency: Idempotency): Answer {
  if (record.fingerprint !== idempotency.fingerprint) {
    refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', { extra: { firstUsedAt: record.createdAt } })
  }
  if (record.answer === null) {
    refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: IN_USE_RETRY_SECONDS })
  }
  return { ...record.answer, replayed: true }
}

/** Builds the middleware of one route. `/v1` routes and their twins at the root are the same endpoint. */
export function endpoint(route: Route, { world, authentication, cursors }: EndpointParts): Middleware {
  const { scope, handle } = route
  const names = pathParameters(route.path)
  const produced = route.success.contentType ?? 'application/json'
  const parseQuery = route.list === undefined ? compileQuery(route.query) : null
  const parseList = route.list === undefined ? null : compileList(route.list, cursors)
  const body = route.body === undefined ? null : compileBody(route.body, route.success.schema)
  const method = route.method.toUpperCase()
  const noParams: Record<string, string> = Object.freeze({})

  function authorise(context: Context, caller: Caller): void {
    const { principal } = caller
    if (caller.allowlist !== null) authentication.checkAddress(caller, context.ip)
    if (route.tenant !== 'none') checkTenant(context.req.headers['x-tenant-id'] as string | undefined, principal, route.tenant)
    if (scope !== null && !principal.scopes.has(scope)) {
      refuse('insufficient-scope', `The API key lacks the scope ${scope}.`, { extra: { requiredScope: scope } })
    }
  }

  function readParams(context: Context): Record<string, string> {
    if (names.length === 0) return noParams
    const given = context['params'] as Record<string, string>
    const params: Record<string, string> = {}
    for (const name of names) {
      const value = given[name] as string
      if (!UUID.test(value)) refuseField({ field: `path.${name}`, code: 'invalid_format', message: `The path parameter ${name} must be a UUID.` })
      params[name] = value.toLowerCase()
    }
    return params
  }

  function checkRequestId(context: Context): void {
    const sent = context.req.headers['x-request-id']
    if (sent !== undefined && sent !== context.state['requestId'] && !isRequestId(sent)) {
      refuseField({ field: 'header.X-Request-Id', code: 'invalid_format', message: 'X-Request-Id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -' })
    }
  }

  /** The way out for a body that is not valid: an answer the key already has, a missing resource, or 422. */
  async function refuseBody(errors: readonly FieldError[], idempotency: Idempotency | null, tenant: Tenant, params: Record<string, string>): Promise<Answer> {
    if (idempotency !== null) {
      const record = await world.findIdempotencyRecord(idempotency.id)
      if (record !== null) return recordedAnswer(record, idempotency)
    }
    if (route.exists !== undefined && !(await route.exists(tenant, params, world))) {
      refuse('not-found', 'No such resource exists in this tenant.')
    }
    throw new ProblemError({ slug: 'validation-error', detail: 'Some fields of the body are not valid.', errors })
  }

  return async (context) => {
    const { headers } = context.req
    let principal: Principal | null = null
    let tenant: Tenant | null = null
    if (route.callers === 'key') {
      const found = authentication.authenticate(headers.authorization)
      const caller = found instanceof Promise ? await found : found
      authorise(context, caller)
      principal = caller.principal
      tenant = caller.tenant
    }

    checkRequestId(context)
    checkAccept(context, produced)
    const params = readParams(context)
    const requestId = context.state['requestId'] as string
    const instance = context.path
    const { querystring } = context
    const query = parseQuery === null ? {} : parseQuery(querystring)
    const list = parseList === null ? null : parseList(querystring, tenant as Tenant, `${route.operationId} ${instance}`)
    const key = route.idempotency === 'none' ? null : parseIdempotencyKey(headers['idempotency-key'] as string | undefined, route.idempotency)

    const json: JsonBody | null = body === null ? null : await readJson(context)
    const idempotency = key === null || principal === null ? null : idempotencyOf(
      { principalId: principal.apiKeyId, tenantId: principal.tenantId, method, path: instance, querystring, body: json === null ? null : json.value },
      key,
    )

    let value: unknown = null
    if (body !== null && json !== null) {
      const checked = body.validate(json.value, json.needsNormalising)
      if (checked.errors.length > 0) {
        send(context, requestId, await refuseBody(checked.errors, idempotency, tenant as Tenant, params))
        return
      }
      value = checked.value
    }
    send(context, requestId, await handle({ requestId, instance, principal, tenant, params, list, query, body: value, idempotency }, world))
  }
}
