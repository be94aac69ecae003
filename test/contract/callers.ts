/** Callers as the authorisation of a route sees them, for the question whether it lets them in. */
import { Authorisation } from '../../http/access/authorisation.ts'
import type { Route } from '../../http/route/route.ts'
import { ProblemError, type Problem } from '../../lib/base/problems.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'
import type { SessionIdentity } from '../../lib/identity/caller.ts'
import type { Role } from '../../lib/identity/capabilities.ts'

export const CUSTOMER: Tenant = { id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e51', kind: 'customer' }
export const OPERATOR: Tenant = { id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e52', kind: 'operator' }

const authorisationOf = (route: Route, isWorkspace = true): Authorisation =>
  new Authorisation(route, {
    sandbox: true,
    isWorkspace: () => isWorkspace,
    identity: { operatorOf: async () => OPERATOR.id, hasProof: async () => false },
    operators: { hasFeature: async () => true },
  } as unknown as ConstructorParameters<typeof Authorisation>[1])

/** Runs the checks and returns the problem of the refusal; null when the caller may call. */
async function refusalOf(check: () => void | Promise<void>): Promise<Problem | null> {
  try {
    await check()
    return null
  } catch (error) {
    if (error instanceof ProblemError) return error.problem
    throw error
  }
}

/** A key with one scope. */
export const key = (scope: string, live = false): Principal => ({
  kind: 'key',
  id: 'key',
  name: 'key',
  scopes: new Set([scope]),
  capabilities: new Set(),
  createdVia: 'api_key',
  ...(live ? { live } : {}),
})

/** Returns the refusal of a key that names its own tenant; null when it is let in. */
export const askKey = (route: Route, principal: Principal, tenant: Tenant): Promise<Problem | null> =>
  refusalOf(() => {
    const authorisation = authorisationOf(route)
    authorisation.checkKeyTenant(tenant, tenant.id)
    authorisation.checkScope(principal)
  })

function personOf(role: Role, level: 'customer' | 'operator'): SessionIdentity {
  const tenant = level === 'customer' ? CUSTOMER : OPERATOR
  return {
    userId: role,
    name: role,
    via: 'web',
    factors: 1,
    impersonated: null,
    memberships: [{ id: role, tenantId: tenant.id, tenantName: '', level, operatorId: OPERATOR.id, role }],
  } as unknown as SessionIdentity
}

/** Returns the refusal of a person with one role, who acts for a tenant; null when they are let in. */
export const askPerson = (
  route: Route,
  role: Role,
  level: 'customer' | 'operator',
  tenant: Tenant,
  isWorkspace = true,
): Promise<Problem | null> =>
  refusalOf(async () => {
    const authorisation = authorisationOf(route, isWorkspace)
    const entered = await authorisation.enter(personOf(role, level), tenant.id)
    authorisation.checkCapability(entered.principal, entered.tenant)
  })
