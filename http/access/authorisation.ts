/**
 * Authorisation: the checks of a caller for one route: the tenant, the scope or capability, and the step-up proof.
 *
 * A key is bound to one tenant and carries its scopes, so its checks need memory only. A person has a role in each of
 * their tenants. Staff may also act for the customers of their operator, in operations that declare it.
 */
import { isUuid } from '../../lib/base/ids.ts'
import { type ActingRole, capabilityForScope, grantOfRole, IMPERSONATOR } from '../../lib/identity/capabilities.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Impersonated, Membership, SessionIdentity } from '../../lib/identity/caller.ts'
import { readsCustomer, type Route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** The caller, and the tenant whose data the request works on; the tenant is null where the operation has none. */
export interface Entry {
  readonly principal: Principal
  readonly tenant: Tenant | null
  /** The role in which the person acts; null where the operation has no tenant. */
  readonly role: ActingRole | null
}

/** A request of which the body is known. */
interface AmountRequest {
  readonly session: SessionIdentity | null
  readonly tenant: Tenant | null
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
}

function refuseTenant(code: 'required' | 'invalid_format', message: string): never {
  refuse('malformed-request', message, { errors: [{ field: 'header.X-Tenant-Id', code, message }] })
}

/** Reads the tenant from its header, in lower case. */
function readTenant(header: string | undefined): string {
  if (header === undefined) refuseTenant('required', 'This operation needs an X-Tenant-Id header.')
  if (!isUuid(header)) refuseTenant('invalid_format', 'X-Tenant-Id must be a UUID.')
  return header.toLowerCase()
}

/** Makes the principal of a person who acts in these roles. */
export function principalOfPerson(session: SessionIdentity, roles: readonly ActingRole[]): Principal {
  const grants = roles.map((role) => grantOfRole(role))
  const [only] = grants
  return {
    kind: 'session',
    id: session.userId,
    name: session.name,
    scopes:
      grants.length === 1 && only !== undefined ? only.scopes : new Set(grants.flatMap(({ scopes }) => [...scopes])),
    capabilities:
      grants.length === 1 && only !== undefined
        ? only.capabilities
        : new Set(grants.flatMap(({ capabilities }) => [...capabilities])),
    createdVia: session.via,
  }
}

function refuseCapability(capability: string): never {
  refuse('insufficient-scope', `Your role lacks the capability ${capability}.`, {
    extra: { requiredCapability: capability },
  })
}

/** The checks of a caller for one route. */
export class Authorisation {
  readonly #route: Route
  readonly #services: Pick<ReadServices, 'identity' | 'sandbox' | 'isWorkspace' | 'operators'>
  /** Any of these allows a person the route; without any, every person may call it. */
  readonly #capabilities: readonly string[]
  readonly #level: Route['tenant']

  constructor(route: Route, services: Pick<ReadServices, 'identity' | 'sandbox' | 'isWorkspace' | 'operators'>) {
    const { capability } = route
    this.#route = route
    this.#services = services
    this.#capabilities = capability === undefined ? [] : typeof capability === 'string' ? [capability] : capability
    this.#level = route.callers === 'staff' ? 'operator' : route.tenant
  }

  /** @throws ProblemError 400 and 403 for an `X-Tenant-Id` that is not the key's */
  checkKeyTenant(tenant: Tenant, header: string | undefined): void {
    if (this.#route.tenant === 'none') return
    if (header !== tenant.id && readTenant(header) !== tenant.id)
      refuse('tenant-forbidden', 'The API key belongs to another tenant.')
    this.#checkLevel(tenant)
  }

  /** @throws ProblemError 404 when the operator has switched the route's feature off */
  async checkFeature(tenant: Tenant | null): Promise<void> {
    const { feature } = this.#route
    if (feature === undefined || tenant === null || (await this.#services.operators.hasFeature(tenant.id, feature)))
      return
    refuse('feature-disabled', `The operator has switched ${feature} off.`, { extra: { feature } })
  }

  /** @throws ProblemError 403 when a key may not call the route */
  checkScope(principal: Principal): void {
    const { scope, callers } = this.#route
    this.#checkSandbox()
    if (this.#route.sandbox === 'simulation' && principal.live === true) {
      refuse('insufficient-scope', 'Simulations need a test key.', { extra: { requiredScope: scope } })
    }
    if (callers === 'key') {
      if (scope === null || principal.scopes.has(scope)) return
      refuse('insufficient-scope', `The API key lacks the scope ${scope}.`, { extra: { requiredScope: scope } })
    }
    refuse('insufficient-scope', 'API keys cannot call this operation; it is for people who are signed in.', {
      extra: { requiredCapability: this.#capabilities[0] ?? 'self' },
    })
  }

  /**
   * Makes the person a member of the tenant that the request names. Staff need a second factor for all that concerns a
   * tenant; a person without one can sign in and add it.
   *
   * @throws ProblemError 400, 401 `mfa-required` and 403
   */
  async enter(session: SessionIdentity, header: string | undefined): Promise<Entry> {
    if (session.impersonated !== null && this.#route.whileImpersonating !== true)
      return this.#enterImpersonating(session, session.impersonated, header)
    if (this.#route.tenant === 'none')
      return {
        principal: principalOfPerson(
          session,
          session.memberships.map(({ role }) => role),
        ),
        tenant: null,
        role: null,
      }
    const tenantId = readTenant(header)
    const own = session.memberships.find((membership) => membership.tenantId === tenantId)
    if (own !== undefined) {
      const tenant: Tenant = { id: tenantId, kind: own.level }
      this.#checkLevel(tenant)
      checkFactor(session, own)
      return { principal: principalOfPerson(session, [own.role]), tenant, role: own.role }
    }
    const { tenant: level, readByStaff } = this.#route
    const staff = level === 'any' || readByStaff === true ? await this.#staffOf(session, tenantId) : null
    if (staff === null) refuse('tenant-forbidden', 'You are not a member of this tenant.')
    checkFactor(session, staff)
    return {
      principal: principalOfPerson(session, [staff.role]),
      tenant: { id: tenantId, kind: 'customer' },
      role: staff.role,
    }
  }

  /** @throws ProblemError 403 when the person's role does not allow the route */
  checkCapability(principal: Principal, tenant: Tenant | null): void {
    const { scope, callers } = this.#route
    this.#checkSandbox()
    if (this.#route.sandbox === 'simulation' && (tenant === null || !this.#services.isWorkspace(tenant.id))) {
      refuse('insufficient-scope', "Only people of a developer's workspace may simulate.", {
        extra: { requiredCapability: 'developer' },
      })
    }
    if (callers === 'key') {
      if (scope === null) return
      // The capability that stands for a scope depends on the tenant's kind: staff manage the endpoints of their operator,
      // and not those of its customers.
      const needed = capabilityForScope(scope, tenant?.kind ?? 'customer')
      if ([needed, ...this.#capabilities].some((capability) => principal.capabilities.has(capability))) return
      refuseCapability(this.#capabilities[0] ?? needed)
    }
    if (
      this.#capabilities.length > 0 &&
      !this.#capabilities.some((capability) => principal.capabilities.has(capability))
    )
      refuseCapability(this.#capabilities[0] as string)
  }

  /**
   * Checks the proof that the route needs.
   *
   * @returns true when an amount decides on it, which the body tells: `checkStepUpOfAmount` is still to be called
   * @throws ProblemError 403 when the person needs a step-up proof first
   */
  async checkStepUp(
    session: SessionIdentity,
    tenant: Tenant | null,
    params: Readonly<Record<string, string>> | undefined,
  ): Promise<boolean> {
    const { stepUp } = this.#route
    if (stepUp === undefined || stepUp.byBody === true || (stepUp.unlessNoFactor === true && session.factors === 0))
      return false
    if (stepUp.amount !== undefined && tenant !== null) {
      const { amount } = await this.#services.operators.stepUpThreshold(tenant.id)
      if (amount > 0n) return true
    }
    await this.#requireProof(stepUp, session, tenant, params)
    return false
  }

  /**
   * Checks the proof that `checkStepUp` left open, when the body is known.
   *
   * @throws ProblemError 403 when the person needs a step-up proof first
   */
  async checkStepUpOfAmount({ session, tenant, params, body }: AmountRequest, services: ReadServices): Promise<void> {
    const { stepUp } = this.#route
    if (stepUp?.amount === undefined || session === null || tenant === null) return
    const amount = await stepUp.amount({ tenant, params, body }, services)
    if (amount !== null && !(await services.payments.needsProof(tenant, amount))) return
    await this.#requireProof(stepUp, session, tenant, params)
  }

  async #requireProof(
    stepUp: NonNullable<Route['stepUp']>,
    session: SessionIdentity,
    tenant: Tenant | null,
    params: Readonly<Record<string, string>> | undefined,
  ): Promise<void> {
    const { action, subject } = stepUp
    const subjectId = subject === undefined ? null : (params?.[subject]?.toLowerCase() ?? null)
    const proven = await this.#services.identity.hasProof({
      sessionId: session.id,
      tenantId: tenant?.id ?? null,
      action,
      subjectId: subjectId !== null && isUuid(subjectId) ? subjectId : null,
      bound: stepUp.bound === true,
    })
    if (!proven) {
      refuse('step-up-required', 'Prove yourself for this action first, then send the same request again.', {
        extra: { action, challengeUrl: '/v1/step-up/challenges' },
      })
    }
  }

  #checkLevel(tenant: Tenant): void {
    if (this.#level !== 'any' && this.#level !== tenant.kind)
      refuse('tenant-forbidden', `This operation is for ${this.#level} tenants.`)
  }

  #checkSandbox(): void {
    if (this.#route.sandbox !== undefined && !this.#services.sandbox)
      refuse('feature-disabled', 'This environment has no sandbox.', { extra: { feature: 'sandbox' } })
  }

  /** Lets an impersonating session read the data of its customer, for as long as the person may impersonate. */
  #enterImpersonating(
    session: SessionIdentity,
    { customerId, operatorId }: Impersonated,
    header: string | undefined,
  ): Entry {
    if (!readsCustomer(this.#route))
      refuse('impersonation-restricted', "This session reads a customer's data, and does nothing else.")
    if (readTenant(header) !== customerId)
      refuse('tenant-forbidden', 'This session reads the data of another customer.')
    const staff = session.memberships.find(
      (membership) => membership.level === 'operator' && membership.operatorId === operatorId,
    )
    if (staff === undefined || !grantOfRole(staff.role).capabilities.has('support.impersonate'))
      refuse('session-expired', 'The session has ended.', { extra: { reason: 'revoked' } })
    checkFactor(session, staff)
    return {
      principal: principalOfPerson(session, [IMPERSONATOR]),
      tenant: { id: customerId, kind: 'customer' },
      role: IMPERSONATOR,
    }
  }

  /** Finds the operator membership through which staff act for a customer; staff have no membership of the customer. */
  async #staffOf(session: SessionIdentity, customerId: string): Promise<Membership | null> {
    const staff = session.memberships.filter((membership) => membership.level === 'operator')
    if (staff.length === 0) return null
    const operatorId = await this.#services.identity.operatorOf(customerId)
    return staff.find((membership) => membership.operatorId === operatorId) ?? null
  }
}

/** @throws ProblemError `mfa-required` for staff who have no second factor yet */
function checkFactor({ factors }: SessionIdentity, { level }: Membership): void {
  if (level === 'operator' && factors === 0)
    refuse('mfa-required', 'Add a second factor first: POST /v1/users/me/mfa-factors.', {
      extra: { challengeId: null, methods: [], publicKey: null },
    })
}
