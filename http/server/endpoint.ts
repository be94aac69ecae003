/**
 * Turns a route declaration into Koa middleware. The checks run in one fixed order, which clients may rely on:
 *
 *   failures of the client's address 429 → credential 401 → address 403 → tenant 400/403 → limits 429 → caller, scope
 *   or capability 403 → step-up 403 → path, query and header syntax 400 → Idempotency-Key 400, If-Match 428 → content
 *   type 415, slow body 408, JSON 400 → full node 503 → recorded answer of the key → resource in the path 404 →
 *   If-Match 412 → body 422 → status of the customer 403, 409 → the handler.
 *
 * A request is not a command under way until its body has arrived whole (http/access/admission.ts,
 * http/access/arrivals.ts).
 *
 * Routing (404, 405) has happened before. The domain itself finds the recorded answer of a key while it starts a
 * command. This file looks up the recorded answer only when the tag of If-Match is not the present one, as it is after
 * the first request, or when the body is invalid: the command then never starts.
 *
 * Everything that depends on the route alone is prepared once; a request allocates only its context and its answer.
 */
import type { Context, Middleware } from 'koa'
import type { ReadUpload } from '../../actors/documents/uploads.ts'
import { type FieldError, type Problem, ProblemError, refuse, refuseNotFound } from '../../lib/base/problems.ts'
import type { AnswerBytes } from '../../lib/commands/answer.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Idempotency, IdempotencyRecord } from '../../lib/commands/command.ts'
import { etagOf, matchesETag, matchesVersion, refuseChanged } from '../../lib/commands/etag.ts'
import { idempotencyOf } from '../../lib/commands/idempotency.ts'
import type { Cursors } from '../../lib/contract/cursor.ts'
import { type BodyValidator, compileBody } from '../../lib/contract/validation.ts'
import { idsOf, problemWithKinds } from '../../lib/integration/id-kinds.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import { type CommandPlaces, Place } from '../access/admission.ts'
import type { Arrivals } from '../access/arrivals.ts'
import { type Forwarding, patienceMs } from '../access/forwarding.ts'
import { readSignedBody } from '../access/signed-body.ts'
import { send } from '../route/answer.ts'
import type { Route } from '../route/route.ts'
import type { Services } from '../route/services.ts'
import { Entrance, type EntranceParts } from './entrance.ts'
import { createBodyReader, type JsonBody, type ReadBody } from './json-body.ts'
import { RequestContext } from './request-context.ts'
import { RequestSyntax } from './request-syntax.ts'

import { isMultipart, uploadReader } from './upload.ts'

const IN_USE_RETRY_SECONDS = 1

/** The parts that all endpoints share. */
export interface EndpointParts extends EntranceParts {
  readonly cursors: Cursors
  /** Null accepts any number of commands. */
  readonly admission: CommandPlaces | null
  readonly arrivals: Arrivals
}

/** Builds the middleware of one route. The route under `/v1` and its copy at the root are the same endpoint. */
export function endpoint(route: Route, parts: EndpointParts): Middleware {
  const { admission } = parts
  const made = new Endpoint(route, parts)
  if (admission === null || route.method === 'get') return (context) => made.answer(context, null)
  return async (context) => {
    const place = new Place(admission)
    try {
      await made.answer(context, place)
    } finally {
      place.leave()
    }
  }
}

/** One route with everything that depends on the route alone. */
class Endpoint {
  readonly #route: Route
  readonly #services: Services
  readonly #entrance: Entrance
  readonly #syntax: RequestSyntax
  readonly #body: BodyValidator | null
  readonly #readBody: ReadBody
  readonly #arrivals: Arrivals
  readonly #forwarding: Forwarding | null
  readonly #method: string

  constructor(route: Route, parts: EndpointParts) {
    const { services, cursors, arrivals, forwarding } = parts
    this.#route = route
    this.#services = services
    this.#entrance = new Entrance(route, parts)
    this.#syntax = new RequestSyntax(route, cursors)
    this.#body = route.body === undefined ? null : compileBody(route.body, route.success.schema)
    this.#readBody = createBodyReader(route, arrivals)
    this.#arrivals = arrivals
    this.#forwarding = forwarding
    this.#method = route.method.toUpperCase()
  }

  /** Checks a request, handles it and sends its answer. @throws ProblemError every refusal */
  answer(context: Context, place: Place | null): Promise<void> {
    const request = new RequestContext(context)
    return this.#handle(context, request, place).catch(async (error: unknown) => {
      throw error instanceof ProblemError ? await this.#withKinds(error, request) : error
    })
  }

  async #handle(context: Context, request: RequestContext, place: Place | null): Promise<void> {
    const entering = this.#entrance.enter(context, request)
    if (entering !== undefined) await entering
    this.#syntax.read(context, request)
    const key = this.#syntax.idempotencyKey(context)
    const tag = this.#syntax.ifMatch(context)

    const isForm = this.#route.form !== undefined && (this.#body === null || isMultipart(context.req))
    const party = request.partyAt(context.ip)
    const json: JsonBody | null = this.#body === null || isForm ? null : await this.#readBody(context, party)
    const { signedBody } = this.#route
    if (signedBody !== undefined)
      request.signed = await readSignedBody(context.req, party, { arrivals: this.#arrivals, ...signedBody })
    // The body has arrived, except for a file, which the handler reads.
    if (isForm) place?.check(party)
    else place?.enter(party)
    const text = json === null ? null : (context.request.rawBody ?? null)
    if (request.forwarded !== null && !request.forwarded.isBody(text))
      refuse('unauthenticated', 'The body of the forwarded request is not the one that was signed.')
    if (request.identity !== null && !isForm && (await this.#sendHome(context, request, text))) return

    if (key !== null) request.idempotency = this.#idempotencyOf(context, request, key, json)
    if (this.#route.ifMatch !== undefined) {
      try {
        request.expectedVersion = await this.#compareTag(tag, request)
      } catch (error) {
        const recorded = await this.#recordedAnswer(request)
        if (recorded === null) throw error
        send(context, request.requestId, recorded)
        return
      }
    }
    if (this.#body !== null && json !== null) {
      const { errors, value } = this.#body.validate(json.value, json.needsNormalising)
      if (errors.length > 0) {
        send(context, request.requestId, await this.#refuseBody(errors, request))
        return
      }
      request.body = value
    }
    if (request.owesProof) await this.#entrance.checkAmount(request, this.#services)
    if (this.#route.money !== undefined) {
      const barred = await this.#services.customers.moneyProblem((request.tenant as Tenant).id, this.#route.money)
      if (barred !== null) {
        send(context, request.requestId, await this.#refuseMoney(barred, request))
        return
      }
    }
    // The deadline starts when the body has arrived, so a slow connection costs the client no time.
    request.deadline = this.#services.clock.now() + patienceMs(context)
    if (isForm) request.upload = this.#arrivingUpload(context, party, place)
    const answer = this.#route.handle(request, this.#services)
    send(context, request.requestId, answer instanceof Promise ? await answer : answer)
  }

  /** Forwards a command to its home. Returns false when this node is its home. @throws HomeUnavailable */
  async #sendHome(context: Context, { identity }: RequestContext, text: string | null): Promise<boolean> {
    if (identity === null || this.#forwarding === null) return false
    const home = await this.#forwarding.homeOf(identity.tenant.id, context)
    if (home === null) return false
    await this.#forwarding.forward(context, home, identity, text)
    return true
  }

  #idempotencyOf(
    { querystring }: Context,
    { principal, tenant, instance, requestId }: RequestContext,
    key: string,
    json: JsonBody | null,
  ): Idempotency | null {
    if (principal === null) return null
    const command = {
      principalId: principal.id,
      tenantId: tenant?.id ?? principal.id,
      method: this.#method,
      path: instance,
      querystring,
      body: json === null ? null : json.value,
    }
    return {
      ...idempotencyOf(command, key),
      problemRequest: { problemBase: this.#services.problemBase, instance, requestId },
    }
  }

  /** Compares the tag. Returns the version that the write must replace, or null when any version may be replaced. */
  async #compareTag(
    sent: string | null,
    { tenant, principal, params }: RequestContext,
  ): Promise<number | bigint | null> {
    const { current } = this.#route
    if (current === undefined) return null
    const found = await current({ tenant, principal, params }, this.#services)
    if (found === null) refuseNotFound()
    if (sent === null) return null
    const etag = etagOf(found)
    const matches =
      this.#route.ifMatchesVersion === true ? matchesVersion(sent, found.version) : matchesETag(sent, etag)
    if (!matches) refuseChanged(etag)
    return sent.trim() === '*' ? null : found.version
  }

  /** Answers a request with an invalid body: the recorded answer of its key, a missing resource, or 422. */
  async #refuseBody(errors: readonly FieldError[], request: RequestContext): Promise<AnswerBytes> {
    const { exists } = this.#route
    const { tenant, params } = request
    const recorded = await this.#recordedAnswer(request)
    if (recorded !== null) return recorded
    if (exists !== undefined && !(await exists(tenant as Tenant, params, this.#services))) {
      refuseNotFound()
    }
    throw new ProblemError({ slug: 'validation-error', detail: 'Some fields of the body are not valid.', errors })
  }

  /** Answers a request that the customer's status refuses: what was done before under its key stays done. */
  async #refuseMoney(problem: Problem, request: RequestContext): Promise<AnswerBytes> {
    const recorded = await this.#recordedAnswer(request)
    if (recorded === null) throw new ProblemError(problem)
    return recorded
  }

  /** Finds the recorded answer of the request's key; null for a request without a key, and a key without an answer. */
  async #recordedAnswer({ idempotency }: RequestContext): Promise<AnswerBytes | null> {
    if (idempotency === null) return null
    const record = await this.#services.findIdempotencyRecord(idempotency.id)
    return record === null ? null : recordedAnswer(record, idempotency)
  }

  /** Says of the ids that a problem refuses what they are, where they belong to the caller's tenant. */
  async #withKinds(error: ProblemError, request: RequestContext): Promise<ProblemError> {
    const { problem } = error
    const ids = request.tenant === null ? [] : idsOf(problem, request)
    if (request.tenant === null || ids.length === 0) return error
    try {
      const kinds = await this.#services.integration.kindsOfIds(request.tenant.id, ids)
      return kinds.size === 0 ? error : new ProblemError(problemWithKinds(problem, request, kinds))
    } catch (failure) {
      // The refusal is right without the words, so a database that is away does not make a 503 of it.
      this.#services.log.warn({ err: failure, requestId: request.requestId }, 'the kinds of refused ids are not known')
      return error
    }
  }

  /** Wraps the upload so that the command is under way from the moment when its file has arrived. */
  #arrivingUpload(context: Context, party: Party, place: Place | null): ReadUpload {
    const read = uploadReader(context, party, this.#arrivals)
    return async (terms, keep) => {
      const uploaded = await read(terms, keep)
      place?.enterAnyway(party)
      return uploaded
    }
  }
}

/** The recorded answer of a key, for a request with which the command cannot start. */
function recordedAnswer(record: IdempotencyRecord, idempotency: Idempotency): AnswerBytes {
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
