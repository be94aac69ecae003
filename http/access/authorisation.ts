/**
 * Authorisation: the checks of a caller for one route: the tenant, the scope or capability, and the step-up proof.
 *
 * A key is bound to one tenant and carries its scopes, so its checks need memory only. A person has a role in each of
 * their tenants. Staff may also act for the customers of their operator, in operations that declare it.
 */
import { isUuid } from '../../lib/base/ids.ts'
import { capabilityForScope, grantOfRole, type Role } from '../../lib/identity/capabilities.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Membership, SessionIdentity } from '../../lib/identity/caller.ts'
import type { Route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** The caller, and the tenant whose data the request works on; the tenant is null where the operation has none. */
export interface Entry {
  readonly principal: Principal
  readonly tenant: Tenant | null
  /** The role in which the person acts; null where the operation has no tenant. */
  readonly role: Role | null
}

/** The checks of a caller for one route. */
export interface Authorisation {
  /** @throws ProblemError 400 and 403 for an `X-Tenant-Id` that is not the key's */
  checkKeyTenant(tenant: Tenant, header: string | undefined): void
  /** @throws ProblemError 404 when the operator has switched the route's feature off */
  checkFeature(tenant: Tenant | null): Promise<void>
  /** @throws ProblemError 403 when a key may not call the route */
  checkScope(principal: Principal): void
  /** Makes the person a member of the tenant that the request names. @throws ProblemError 400 and 403 */
  enter(session: SessionIdentity, header: string | undefined): Promise<Entry>
  /** @throws ProblemError 403 when the person's role does not allow the route */
  checkCapability(principal: Principal, tenant: Tenant | null): void
  /** @throws ProblemError 403 when the person needs a step-up proof first */
  checkStepUp(
    session: SessionIdentity,
    tenant: Tenant | null,
    params: Readonly<Record<string, string>> | undefined,
  ): Promise<void>
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
export function principalOfPerson(session: SessionIdentity, roles: readonly Role[]): Principal {
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

/** Prepares the checks of a route. */
export function createAuthorisation(
  route: Route,
  world: Pick<ReadServices, 'identity' | 'sandbox' | 'isWorkspace' | 'operators'>,
): Authorisation {
  const { scope, stepUp, callers } = route
  const capabilities: readonly string[] =
    route.capability === undefined ? [] : typeof route.capability === 'string' ? [route.capability] : route.capability
  const level = callers === 'staff' ? 'operator' : route.tenant

  function checkLevel(tenant: Tenant): void {
    if (level !== 'any' && level !== tenant.kind) refuse('tenant-forbidden', `This operation is for ${level} tenants.`)
  }

  function checkSandbox(): void {
    if (route.sandbox !== undefined && !world.sandbox)
      refuse('feature-disabled', 'This environment has no sandbox.', { extra: { feature: 'sandbox' } })
  }

  /** Finds the operator membership through which staff act for a customer; staff have no membership of the customer. */
  async function staffOf(session: SessionIdentity, customerId: string): Promise<Membership | null> {
    const staff = session.memberships.filter((membership) => membership.level === 'operator')
    if (staff.length === 0) return null
    const operatorId = await world.identity.operatorOf(customerId)
    return staff.find((membership) => membership.operatorId === operatorId) ?? null
  }

  function lacks(capability: string): never {
    refuse('insufficient-scope', `Your role lacks the capability ${capability}.`, {
      extra: { requiredCapability: capability },
    })
  }

  return {
    checkKeyTenant(tenant, header) {
      if (route.tenant === 'none') return
      if (header !== tenant.id && readTenant(header) !== tenant.id)
        refuse('tenant-forbidden', 'The API key belongs to another tenant.')
      checkLevel(tenant)
    },

    async checkFeature(tenant) {
      const { feature } = route
      if (feature === undefined || tenant === null || (await world.operators.hasFeature(tenant.id, feature))) return
      refuse('feature-disabled', `The operator has switched ${feature} off.`, { extra: { feature } })
    },

    checkScope(principal) {
      checkSandbox()
      if (route.sandbox === 'simulation' && principal.live === true) {
        refuse('insufficient-scope', 'Simulations need a test key.', { extra: { requiredScope: scope } })
      }
      if (callers === 'key') {
        if (scope === null || principal.scopes.has(scope)) return
        refuse('insufficient-scope', `The API key lacks the scope ${scope}.`, { extra: { requiredScope: scope } })
      }
      refuse('insufficient-scope', 'API keys cannot call this operation; it is for people who are signed in.', {
        extra: { requiredCapability: capabilities[0] ?? 'self' },
      })
    },

    async enter(session, header) {
      if (route.tenant === 'none')
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
        checkLevel(tenant)
        return { principal: principalOfPerson(session, [own.role]), tenant, role: own.role }
      }
      const staff = route.tenant === 'any' ? await staffOf(session, tenantId) : null
      if (staff === null) refuse('tenant-forbidden', 'You are not a member of this tenant.')
      return {
        principal: principalOfPerson(session, [staff.role]),
        tenant: { id: tenantId, kind: 'customer' },
        role: staff.role,
      }
    },

    checkCapability(principal, tenant) {
      checkSandbox()
      if (route.sandbox === 'simulation' && (tenant === null || !world.isWorkspace(tenant.id))) {
        refuse('insufficient-scope', "Only people of a developer's workspace may simulate.", {
          extra: { requiredCapability: 'developer' },
        })
      }
      if (callers === 'key') {
        // A key names one scope; the capability that stands for it depends on the tenant's kind.
        if (scope === null || principal.scopes.has(scope)) return
        lacks(capabilityForScope(scope, tenant?.kind ?? 'customer'))
      }
      if (capabilities.length > 0 && !capabilities.some((capability) => principal.capabilities.has(capability)))
        lacks(capabilities[0] as string)
    },

    async checkStepUp(session, tenant, params) {
      if (stepUp === undefined || stepUp.byBody === true || (stepUp.unlessNoFactor === true && session.factors === 0))
        return
      const { action, subject } = stepUp
      const subjectId = subject === undefined ? null : (params?.[subject]?.toLowerCase() ?? null)
      const proven = await world.identity.hasProof({
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
    },
  }
}
