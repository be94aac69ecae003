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
import { readSignedBody } from '../access/signed-body.ts'
import type { Forwarding } from '../cluster/forwarding.ts'
import type { ForwardedCommand, NodeAnswer } from '../cluster/node-messages.ts'
import { commandHeaders, send } from '../route/answer.ts'
import type { Route } from '../route/route.ts'
import type { Services } from '../route/services.ts'
import { Entrance, type EntranceParts } from './entrance.ts'
import { createBodyReader, type JsonBody, NO_MEMBERS, type ReadBody } from './json-body.ts'
import { problemAnswer } from './problem.ts'
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

/** The parts of a command that an endpoint needs beside its caller, parameters and query. */
interface Given {
  readonly querystring: string
  /** The Idempotency-Key; null without one. */
  readonly key: string | null
  /** If-Match; null without one. */
  readonly tag: string | null
  readonly json: JsonBody | null
}

/** One route with everything that depends on the route alone. */
export class Endpoint {
  readonly #route: Route
  readonly #services: Services
  readonly #entrance: Entrance
  readonly #syntax: RequestSyntax
  readonly #body: BodyValidator | null
  readonly #readBody: ReadBody
  readonly #arrivals: Arrivals
  readonly #forwarding: Forwarding | null
  readonly #admission: CommandPlaces | null
  readonly #method: string

  constructor(route: Route, parts: EndpointParts) {
    const { services, cursors, arrivals, forwarding, admission } = parts
    this.#route = route
    this.#services = services
    this.#entrance = new Entrance(route, parts)
    this.#syntax = new RequestSyntax(route, cursors)
    this.#body = route.body === undefined ? null : compileBody(route.body, route.success.schema)
    this.#readBody = createBodyReader(route, arrivals)
    this.#arrivals = arrivals
    this.#forwarding = forwarding
    this.#admission = admission
    this.#method = route.method.toUpperCase()
  }

  /** The middleware of the route. The route under `/v1` and its copy at the root are the same endpoint. */
  readonly middleware: Middleware = (context) =>
    this.#admission === null || this.#route.method === 'get'
      ? this.#answer(context, null)
      : this.#inPlace(this.#admission, (place) => this.#answer(context, place))

  /** Whether commands of the route are carried out by the home of their tenant. */
  get goesHome(): boolean {
    return this.#entrance.goesHome
  }

  /** Carries out a command that another node has forwarded. Every error becomes the answer of its problem. */
  async carryOut(command: ForwardedCommand): Promise<NodeAnswer> {
    const { requestId, instance } = command
    const request = new RequestContext(requestId, instance)
    const answer = await this.#inPlace(this.#admission, (place) => this.#carryOutForwarded(request, command, place))
      .catch((error: unknown) => this.#refused(error, request))
      .catch((error: unknown) =>
        problemAnswer(error, { requestId, method: this.#method, path: instance }, this.#services),
      )
    return { status: answer.status, headers: commandHeaders(requestId, answer), body: answer.body }
  }

  async #carryOutForwarded(
    request: RequestContext,
    command: ForwardedCommand,
    place: Place | null,
  ): Promise<AnswerBytes> {
    const { body, needsNormalising, querystring, idempotencyKey, ifMatch } = command
    this.#entrance.enterForwarded(request, command)
    request.params = command.params
    request.query = command.query
    request.patienceMs = Math.min(command.patienceMs, request.patienceMs)
    place?.enterForwarded(request.partyAt(command.address))
    const json =
      body !== null ? { value: JSON.parse(body) as unknown, needsNormalising } : this.#body !== null ? NO_MEMBERS : null
    return await this.#carryOut(request, { querystring, key: idempotencyKey, tag: ifMatch, json })
  }

  async #inPlace<Result>(
    admission: CommandPlaces | null,
    work: (place: Place | null) => Promise<Result>,
  ): Promise<Result> {
    if (admission === null) return await work(null)
    const place = new Place(admission)
    try {
      return await work(place)
    } finally {
      place.leave()
    }
  }

  /** Checks a request, handles it and sends its answer. @throws ProblemError every refusal */
  #answer(context: Context, place: Place | null): Promise<void> {
    const request = new RequestContext(context.state['requestId'] as string, context.path)
    return this.#handle(context, request, place).catch((error: unknown) => this.#refused(error, request))
  }

  /** Says more of a refusal. @throws every error */
  async #refused(error: unknown, request: RequestContext): Promise<never> {
    throw error instanceof ProblemError ? await this.#withKinds(error, request) : error
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
    const given: Given = { querystring: context.querystring, key, tag, json }
    if (request.identity !== null && !isForm && (await this.#sendHome(context, request, given))) return
    if (isForm) request.upload = this.#arrivingUpload(context, party, place)
    send(context, request.requestId, await this.#carryOut(request, given))
  }

  /** Carries out what has arrived whole and is checked as far as its form. @throws ProblemError every refusal */
  async #carryOut(request: RequestContext, given: Given): Promise<AnswerBytes> {
    const { key, tag, json } = given
    if (key !== null) request.idempotency = this.#idempotencyOf(request, key, given)
    if (this.#route.ifMatch !== undefined) {
      try {
        request.expectedVersion = await this.#compareTag(tag, request)
      } catch (error) {
        const recorded = await this.#recordedAnswer(request)
        if (recorded === null) throw error
        return recorded
      }
    }
    if (this.#body !== null && json !== null) {
      const { errors, value } = this.#body.validate(json.value, json.needsNormalising)
      if (errors.length > 0) return await this.#refuseBody(errors, request)
      request.body = value
    }
    if (request.owesProof) await this.#entrance.checkAmount(request, this.#services)
    if (this.#route.money !== undefined) {
      const barred = await this.#services.customers.moneyProblem((request.tenant as Tenant).id, this.#route.money)
      if (barred !== null) return await this.#refuseMoney(barred, request)
    }
    // The deadline starts when the body has arrived, so a slow connection costs the client no time.
    request.deadline = this.#services.clock.now() + request.patienceMs
    return await this.#route.handle(request, this.#services)
  }

  /** Forwards a command to its home. Returns false when this node is its home. @throws HomeUnavailable */
  async #sendHome(context: Context, request: RequestContext, given: Given): Promise<boolean> {
    const { identity } = request
    if (identity === null || this.#forwarding === null) return false
    const home = await this.#forwarding.homeOf(identity.tenant.id, request)
    if (home === null) return false
    const body = given.json === null ? null : (context.request.rawBody ?? null)
    const {
      status,
      headers,
      body: bytes,
    } = await this.#forwarding.forward(
      home,
      {
        operationId: this.#route.operationId,
        requestId: request.requestId,
        instance: request.instance,
        querystring: given.querystring,
        params: request.params,
        query: request.query,
        idempotencyKey: given.key,
        ifMatch: given.tag,
        caller: identity,
        address: context.ip,
        userAgent: context.req.headers['user-agent'] ?? null,
        patienceMs: Math.round(request.patienceMs),
        needsNormalising: given.json?.needsNormalising === true,
        hasBody: body !== null,
        body,
      },
      context.res,
    )
    context.respond = false
    const common = context.state['headers'] as readonly string[] | undefined
    context.res.writeHead(status, common === undefined ? [...headers] : [...headers, ...common]).end(bytes)
    return true
  }

  #idempotencyOf(
    { principal, tenant, instance, requestId }: RequestContext,
    key: string,
    { querystring, json }: Given,
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
