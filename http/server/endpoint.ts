/**
 * Turns a route declaration into Koa middleware. The checks run in one fixed order, which clients may rely on:
 *
 *   failures of the client's address 429 → credential 401 → address 403 → tenant 400/403 → limits 429 → caller, scope
 *   or capability 403 → step-up 403 → path, query and header syntax 400 → Idempotency-Key 400, If-Match 428 → content
 *   type 415, slow body 408, JSON 400 → full node 503 → recorded answer of the key → resource in the path 404 →
 *   If-Match 412 → body 422 → the handler.
 *
 * A request is not a command under way until its body has arrived whole (http/access/admission.ts,
 * http/access/arrivals.ts).
 *
 * Routing (404, 405) has happened before. The domain itself finds the recorded answer of a key while it starts a
 * command. This file looks up the recorded answer only when the body is invalid, because the command then never starts.
 *
 * Everything that depends on the route alone is prepared once; a request allocates only its context and its answer.
 */
import type { Context, Middleware } from 'koa'
import type { Party } from '../../lib/security/fair-share.ts'
import { type FieldError, type Problem, ProblemError, refuse } from '../../lib/base/problems.ts'
import type { CommandPlaces } from '../access/admission.ts'
import { send } from '../route/answer.ts'
import type { Arrivals } from '../access/arrivals.ts'
import type { Authentication, KeyCaller } from '../access/authentication.ts'
import { createAuthorisation, type Entry } from '../access/authorisation.ts'
import type { Cursors } from '../../lib/contract/cursor.ts'
import { etagOf, matchesETag } from '../../lib/commands/etag.ts'
import { identityOfKey, identityOfPerson, type CallerIdentity } from '../access/caller-identity.ts'
import { patienceMs, type Forwarding } from '../access/forwarding.ts'
import { createGate } from '../access/gate.ts'
import { idempotencyOf, parseIdempotencyKey } from '../../lib/commands/idempotency.ts'
import { plainAddress } from '../../lib/security/ip-allowlist.ts'
import { createBodyReader, type JsonBody } from './json-body.ts'
import { compileList, compileQuery } from '../../lib/contract/query.ts'
import { addressBlock, type RateLimits } from '../access/rate-limits.ts'
import { problemBody } from '../../lib/base/problem-document.ts'
import { isRequestId } from '../access/request-id.ts'
import { pathParameters, type Route } from '../route/route.ts'
import type { Answer } from '../../lib/commands/answer.ts'
import { isMultipart, uploadReader } from './upload.ts'
import type { ReadUpload } from '../../actors/documents/uploads.ts'
import { compileBody } from '../../lib/contract/validation.ts'
import type { SessionIdentity } from '../../lib/identity/caller.ts'
import type { Source } from '../../lib/commands/caller.ts'
import type { Services } from '../route/services.ts'
import type { Idempotency, IdempotencyRecord } from '../../lib/commands/command.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** Form of a secret in a path. A longer or shorter text is not a secret of this service, so it is not looked up. */
const TOKEN = /^[A-Za-z0-9_-]{20,128}$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const IN_USE_RETRY_SECONDS = 1
/** Length of a browser's user agent; stored with sessions and shown to their owners. */
const USER_AGENT_MAX = 256

/** The parts that all endpoints share. */
export interface EndpointParts {
  readonly world: Services
  readonly authentication: Authentication
  readonly cursors: Cursors
  readonly rateLimits: RateLimits | null
  /** Null accepts any number of commands. */
  readonly admission: CommandPlaces | null
  readonly arrivals: Arrivals
  /** Null on a single node. */
  readonly forwarding: Forwarding | null
}

function refuseField(error: FieldError): never {
  refuse('malformed-request', error.message, { errors: [error] })
}

function checkAccept(context: Context, type: string): void {
  const { accept } = context.req.headers
  // An operation that answers `*/*` ignores Accept.
  if (accept === undefined || accept === '*/*' || accept === type || type === '*/*') return
  // Problems are sent whatever the client accepts; it must accept the operation's own type.
  if (context.accepts(type) === false) refuse('not-acceptable', `This operation produces ${type}.`)
}

/** The recorded answer of a key, for a body with which the command cannot start. */
function recordedAnswer(record: IdempotencyRecord, idempotency: Idempotency): Answer {
  if (record.fingerprint !== idempotency.fingerprint) {
    refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', {
      extra: { firstUsedAt: record.createdAt },
    })
  }
  if (record.answer === null) {
    refuse('idempotency-key-in-use', 'The first request with this key is still running.', {
      retryAfterSeconds: IN_USE_RETRY_SECONDS,
    })
  }
  return { ...record.answer, replayed: true }
}

/** Builds the middleware of one route. The route under `/v1` and its copy at the root are the same endpoint. */
export function endpoint(
  route: Route,
  { world, authentication, cursors, rateLimits, admission, arrivals, forwarding }: EndpointParts,
): Middleware {
  const { handle, ifMatch, current, words = {} } = route
  const authorisation = createAuthorisation(route, world)
  const beforeMfa = route.beforeMfa === true
  const gate = createGate(route, rateLimits)
  const names = pathParameters(route.path)
  const produced = route.success.contentType ?? 'application/json'
  const parseQuery = route.list === undefined ? compileQuery(route.query) : null
  const parseList = route.list === undefined ? null : compileList(route.list, cursors)
  const body = route.body === undefined ? null : compileBody(route.body, route.success.schema)
  const method = route.method.toUpperCase()
  const readBody = createBodyReader(route, arrivals)
  // A request without a tenant has no home. A new credential is answered by the node where the credential is used.
  const goesHome =
    route.method !== 'get' && route.callers !== 'public' && route.tenant !== 'none' && route.answersCredential !== true
  const noParams: Record<string, string> = Object.freeze({})

  /** Admits a key. Returns a promise only where a feature has to be looked up. */
  function admitKey(context: Context, caller: KeyCaller): Promise<void> | undefined {
    const { principal, tenant, allowlist } = caller
    if (allowlist !== null) authentication.checkAddress(allowlist, context.ip)
    try {
      authorisation.checkKeyTenant(tenant, context.req.headers['x-tenant-id'] as string | undefined)
    } catch (error) {
      gate.turnedAway(context, principal, tenant.id)
      throw error
    }
    gate.authenticated(context, principal, tenant.id)
    authorisation.checkScope(principal)
    return route.feature === undefined ? undefined : authorisation.checkFeature(tenant)
  }

  async function admitSession(context: Context, session: SessionIdentity): Promise<Entry> {
    const entry = await authorisation
      .enter(session, context.req.headers['x-tenant-id'] as string | undefined)
      .catch((error: unknown): never => {
        gate.turnedAway(context, { kind: 'session', id: session.userId }, null)
        throw error
      })
    gate.authenticated(context, entry.principal, entry.tenant?.id ?? null)
    authorisation.checkCapability(entry.principal, entry.tenant)
    await authorisation.checkFeature(entry.tenant)
    await authorisation.checkStepUp(session, entry.tenant, context['params'] as Record<string, string>)
    return entry
  }

  function readParams(context: Context): Record<string, string> {
    if (names.length === 0) return noParams
    const given = context['params'] as Record<string, string>
    const params: Record<string, string> = {}
    for (const name of names) {
      const value = given[name] as string
      if (name === 'token') {
        if (!TOKEN.test(value))
          refuseField({
            field: 'path.token',
            code: 'invalid_format',
            message: 'The path parameter token does not have the expected format.',
          })
        params[name] = value
        continue
      }
      const allowed = words[name]
      if (allowed !== undefined) {
        if (!allowed.includes(value))
          refuseField({
            field: `path.${name}`,
            code: 'invalid_value',
            message: `The path parameter ${name} must be one of ${allowed.join(', ')}.`,
          })
        params[name] = value
        continue
      }
      if (!UUID.test(value))
        refuseField({
          field: `path.${name}`,
          code: 'invalid_format',
          message: `The path parameter ${name} must be a UUID.`,
        })
      params[name] = value.toLowerCase()
    }
    return params
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

  function readIfMatch(context: Context): string | null {
    const sent = context.req.headers['if-match']
    if (sent !== undefined) return sent
    if (ifMatch === true)
      refuse('precondition-required', 'Send the ETag of what you change as If-Match, or * to change whatever is there.')
    return null
  }

  /** Compares the tag. Returns the version that the write must replace, or null when any version may be replaced. */
  async function compareTag(
    sent: string | null,
    tenant: Tenant | null,
    principal: Principal | null,
    params: Record<string, string>,
  ): Promise<number | bigint | null> {
    if (current === undefined) return null
    const found = await current({ tenant, principal, params }, world)
    if (found === null) refuse('not-found', 'No such resource exists in this tenant.')
    if (sent === null) return null
    const etag = etagOf(found)
    if (!matchesETag(sent, etag)) {
      refuse('precondition-failed', 'The resource has changed since it was read.', { extra: { currentEtag: etag } })
    }
    return sent.trim() === '*' ? null : found.version
  }

  /** Answers a request with an invalid body: the recorded answer of its key, a missing resource, or 422. */
  async function refuseBody(
    errors: readonly FieldError[],
    idempotency: Idempotency | null,
    tenant: Tenant,
    params: Record<string, string>,
  ): Promise<Answer> {
    if (idempotency !== null) {
      const record = await world.findIdempotencyRecord(idempotency.id)
      if (record !== null) return recordedAnswer(record, idempotency)
    }
    if (route.exists !== undefined && !(await route.exists(tenant, params, world))) {
      refuse('not-found', 'No such resource exists in this tenant.')
    }
    throw new ProblemError({ slug: 'validation-error', detail: 'Some fields of the body are not valid.', errors })
  }

  async function answerTo(context: Context, place: Place | null): Promise<void> {
    const { req } = context
    const { headers } = req
    let keyParty: Party | null = null
    let principal: Principal | null = null
    let tenant: Tenant | null = null
    let session: SessionIdentity | null = null
    let source: Source | null = null
    let identity: CallerIdentity | null = null
    const forwarded = forwarding === null || !goesHome ? null : forwarding.receive(context)
    if (forwarded !== null) {
      // The node that the request reached has checked credential, address, tenant, limits, feature and step-up. Scopes
      // and capabilities are checked again: that costs no time, and nodes of two versions may differ in them.
      ;({ principal, tenant, session } = forwarded)
      if (session === null) authorisation.checkScope(principal)
      else {
        source = sourceOf(context)
        authorisation.checkCapability(principal, tenant)
      }
    } else if (route.callers === 'public') {
      gate.anonymous(context)
      source = sourceOf(context)
    } else {
      const found = authentication.authenticate(context, beforeMfa)
      const caller = found instanceof Promise ? await found : found
      if (caller.kind === 'key') {
        const admitted = admitKey(context, caller)
        if (admitted !== undefined) await admitted
        // Only a key that was just looked up can have a use to record, so a cached key costs nothing here.
        if (found instanceof Promise) authentication.noteUse(caller, context.ip)
        principal = caller.principal
        tenant = caller.tenant
        keyParty = caller.party
        if (goesHome && forwarding !== null) identity = identityOfKey(principal, tenant)
      } else {
        session = caller.session
        source = sourceOf(context)
        const entry = await admitSession(context, session)
        principal = entry.principal
        tenant = entry.tenant
        if (goesHome && forwarding !== null && tenant !== null && entry.role !== null)
          identity = identityOfPerson(session, entry.role, tenant)
      }
    }

    checkRequestId(context)
    checkAccept(context, produced)
    const params = readParams(context)
    const requestId = context.state['requestId'] as string
    const instance = context.path
    const { querystring } = context
    const query = parseQuery === null ? {} : parseQuery(querystring)
    // A list without a tenant belongs to the person.
    const list =
      parseList === null
        ? null
        : parseList(
            querystring,
            tenant ?? { id: (principal as Principal).id, kind: 'customer' },
            `${route.operationId} ${instance}`,
          )
    const key =
      route.idempotency === 'none'
        ? null
        : parseIdempotencyKey(headers['idempotency-key'] as string | undefined, route.idempotency)
    const tag = ifMatch === undefined ? null : readIfMatch(context)

    const isForm = route.form !== undefined && (body === null || isMultipart(req))
    const party = keyParty ?? partyOf(context, principal, tenant)
    const json: JsonBody | null = body === null || isForm ? null : await readBody(context, party)
    // The body has arrived, except for a file, which the handler reads.
    if (isForm) place?.check(party)
    else place?.enter(party)
    const text = json === null ? null : (context.request.rawBody ?? null)
    if (forwarded !== null && !forwarded.isBody(text))
      refuse('unauthenticated', 'The body of the forwarded request is not the one that was signed.')
    if (identity !== null && !isForm && forwarding !== null) {
      const found = forwarding.homeOf(identity.tenant.id, context)
      const home = found instanceof Promise ? await found : found
      if (home !== null) {
        await forwarding.forward(context, home, identity, text)
        return
      }
    }
    const idempotency =
      key === null || principal === null
        ? null
        : {
            ...idempotencyOf(
              {
                principalId: principal.id,
                tenantId: tenant?.id ?? principal.id,
                method,
                path: instance,
                querystring,
                body: json === null ? null : json.value,
              },
              key,
            ),
            problemText: (problem: Problem) =>
              problemBody(problem, { problemBase: world.problemBase, instance, requestId }),
          }
    const expectedVersion = ifMatch === undefined ? null : await compareTag(tag, tenant, principal, params)

    let value: unknown = null
    if (body !== null && json !== null) {
      const checked = body.validate(json.value, json.needsNormalising)
      if (checked.errors.length > 0) {
        send(context, requestId, await refuseBody(checked.errors, idempotency, tenant as Tenant, params))
        return
      }
      value = checked.value
    }
    // The deadline starts when the body has arrived, so a slow connection costs the client no time.
    const deadline = world.clock.now() + patienceMs(context)
    const upload = isForm ? arrivingUpload(context, party, place) : null
    const answer = handle(
      {
        requestId,
        instance,
        principal,
        tenant,
        session,
        source,
        params,
        list,
        query,
        body: value,
        upload,
        idempotency,
        expectedVersion,
        deadline,
      },
      world,
    )
    send(context, requestId, answer instanceof Promise ? await answer : answer)
  }

  /** Wraps the upload so that the command is under way from the moment when its file has arrived. */
  function arrivingUpload(context: Context, party: Party, place: Place | null): ReadUpload {
    const read = uploadReader(context, party, arrivals)
    return async (terms, keep) => {
      const uploaded = await read(terms, keep)
      place?.enterAnyway(party)
      return uploaded
    }
  }

  if (admission === null || route.method === 'get') return (context) => answerTo(context, null)
  return async (context) => {
    const place = new Place(admission)
    try {
      await answerTo(context, place)
    } finally {
      place.leave()
    }
  }
}

/** The place of one command among those under way: taken at most once, and given back when the command is answered. */
class Place {
  readonly #places: CommandPlaces
  #party: Party | null = null

  constructor(places: CommandPlaces) {
    this.#places = places
  }

  /** @throws ProblemError `service-unavailable` */
  check(party: Party): void {
    this.#places.check(party)
  }

  /** @throws ProblemError `service-unavailable` */
  enter(party: Party): void {
    this.#places.enter(party)
    this.#party = party
  }

  enterAnyway(party: Party): void {
    this.#places.enterAnyway(party)
    this.#party = party
  }

  leave(): void {
    if (this.#party !== null) this.#places.leave(this.#party)
    this.#party = null
  }
}

/** The party whose share a request uses: a tenant, a person, or for callers who are not signed in their address. */
function partyOf(context: Context, principal: Principal | null, tenant: Tenant | null): Party {
  return principal === null
    ? { group: 'public', member: addressBlock(context.ip) }
    : { group: tenant?.id ?? principal.id, member: principal.id }
}

function sourceOf(context: Context): Source {
  const agent = context.req.headers['user-agent']
  return { address: plainAddress(context.ip), userAgent: agent === undefined ? null : agent.slice(0, USER_AGENT_MAX) }
}
