/**
 * The entrance of a route: finds the caller of a request and checks, in this order, its credential, address, tenant,
 * limits, scope or capability, and step-up proof. A command that another node has forwarded was checked there.
 */
import type { Context } from 'koa'
import type { Caller, SessionIdentity } from '../../lib/identity/caller.ts'
import type { KeyCaller } from '../access/api-key-callers.ts'
import type { Authentication } from '../access/authentication.ts'
import { Authorisation } from '../access/authorisation.ts'
import { callerOf, identityOfKey, identityOfPerson } from '../access/caller-identity.ts'
import { sourceFrom, sourceOf } from '../access/client-address.ts'
import { createGate, type Gate } from '../access/gate.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import type { Forwarding } from '../cluster/forwarding.ts'
import type { ForwardedCommand } from '../cluster/node-messages.ts'
import type { Route } from '../route/route.ts'
import type { ReadServices, Services } from '../route/services.ts'
import type { RequestContext } from './request-context.ts'

/** The parts that all entrances share. */
export interface EntranceParts {
  readonly services: Services
  readonly authentication: Authentication
  readonly rateLimits: RateLimits | null
  /** Null on a single node. */
  readonly forwarding: Forwarding | null
}

/** The entrance of one route. */
export class Entrance {
  readonly #route: Route
  readonly #services: Services
  readonly #authentication: Authentication
  readonly #authorisation: Authorisation
  readonly #gate: Gate
  /** Whether commands of the route are carried out by the home of their tenant. */
  readonly goesHome: boolean

  constructor(route: Route, { services, authentication, rateLimits, forwarding }: EntranceParts) {
    this.#route = route
    this.#services = services
    this.#authentication = authentication
    this.#authorisation = new Authorisation(route, services)
    this.#gate = createGate(route, rateLimits)
    // A request without a tenant has no home. A new credential is answered by the node where the credential is used.
    this.goesHome =
      forwarding !== null &&
      route.method !== 'get' &&
      route.callers !== 'public' &&
      route.tenant !== 'none' &&
      route.answersCredential !== true &&
      route.signedBody === undefined
  }

  /**
   * Enters the caller into the request. Returns a promise only where something has to be looked up: never for a key
   * that was seen within the last second.
   *
   * @throws ProblemError the refusals of the caller, with the statuses 400, 401, 403, 404 and 429
   */
  enter(context: Context, request: RequestContext): Promise<void> | undefined {
    if (this.#route.callers === 'public') {
      this.#gate.anonymous(context)
      request.source = sourceOf(context)
      return undefined
    }
    const found = this.#authentication.authenticate(context, this.#route.beforeMfa === true)
    if (found instanceof Promise)
      return found.then(async (caller) => {
        if (caller.kind === 'session') return await this.#enterPerson(context, request, caller.session)
        await this.#enterKey(context, request, caller)
        // Only a key that was just looked up can have a use to record, so a cached key costs nothing here.
        this.#authentication.noteUse(caller, context.ip)
      })
    return found.kind === 'key'
      ? this.#enterKey(context, request, found)
      : this.#enterPerson(context, request, found.session)
  }

  /** Checks the step-up proof that an amount decides on, when the body is known. @throws ProblemError 403 */
  async checkAmount(request: RequestContext, services: ReadServices): Promise<void> {
    await this.#authorisation.checkStepUpOfAmount(request, services)
  }

  /**
   * Enters the caller of a command that another node has forwarded. The node that the request reached has checked
   * credential, address, tenant, limits, feature and step-up. Scopes and capabilities are checked again: that costs no
   * time, and nodes of two versions may differ in them.
   *
   * @throws ProblemError 403
   */
  enterForwarded(request: RequestContext, { caller, address, userAgent }: ForwardedCommand): void {
    const { principal, tenant, session, owesProof } = callerOf(caller)
    request.principal = principal
    request.tenant = tenant
    request.session = session
    request.owesProof = owesProof
    if (session === null) this.#authorisation.checkScope(principal)
    else {
      request.source = sourceFrom(address, userAgent)
      this.#authorisation.checkCapability(principal, tenant)
    }
  }

  /** Returns a promise only where a feature has to be looked up. */
  #enterKey(
    context: Context,
    request: RequestContext,
    { principal, tenant, allowlist, party }: KeyCaller,
  ): Promise<void> | undefined {
    if (allowlist !== null) this.#authentication.checkAddress(allowlist, context.ip)
    try {
      this.#authorisation.checkKeyTenant(tenant, tenantHeader(context))
    } catch (error) {
      this.#gate.turnedAway(context, principal, tenant.id)
      throw error
    }
    this.#gate.authenticated(context, principal, tenant.id)
    this.#authorisation.checkScope(principal)
    request.principal = principal
    request.tenant = tenant
    request.keyParty = party
    if (this.goesHome) request.identity = identityOfKey(principal, tenant)
    return this.#route.feature === undefined ? undefined : this.#authorisation.checkFeature(tenant)
  }

  async #enterPerson(context: Context, request: RequestContext, session: SessionIdentity): Promise<void> {
    const { principal, tenant, role } = await this.#authorisation
      .enter(session, tenantHeader(context))
      .catch((error: unknown): never => {
        this.#gate.turnedAway(context, { kind: 'session', id: session.userId }, null)
        throw error
      })
    this.#gate.authenticated(context, principal, tenant?.id ?? null)
    this.#authorisation.checkCapability(principal, tenant)
    await this.#authorisation.checkFeature(tenant)
    const params = context['params'] as Record<string, string>
    request.owesProof = await this.#authorisation.checkStepUp(session, tenant, params)
    request.principal = principal
    request.tenant = tenant
    request.session = session
    request.source = sourceOf(context)
    if (session.impersonated !== null && this.#route.whileImpersonating !== true)
      await this.#services.impersonations.noteImpersonatedRead(request.caller as Caller<'person'>, {
        operationId: this.#route.operationId,
        path: context.path,
        query: context.querystring,
      })
    if (this.goesHome && tenant !== null && role !== null)
      request.identity = identityOfPerson(session, role, tenant, request.owesProof)
  }
}

const tenantHeader = (context: Context): string | undefined => context.req.headers['x-tenant-id'] as string | undefined
