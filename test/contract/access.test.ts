/**
 * Who may call what: each operation against each scope of keys and each role of people, through the authorisation that
 * every request passes. live.test.ts asks a service the same.
 */
import t from 'tap'
import { routes } from '../../http/server/routes.ts'
import type { Problem } from '../../lib/base/problems.ts'
import { CUSTOMER_SCOPES, OPERATOR_SCOPES } from '../../lib/identity/api-key.ts'
import { grantOfRole, MEMBER_ROLES, STAFF_ROLES } from '../../lib/identity/capabilities.ts'
import { askKey, askPerson, CUSTOMER, key, OPERATOR } from './callers.ts'
import { ADDED_OPERATIONS } from './data/added-operations.ts'
import { CAPABILITY_OF_SCOPE, CONTRACT_MEMBERS, CONTRACT_SCOPES, CONTRACT_STAFF } from './data/roles.ts'
import { onlyKnown } from './known.ts'
import { CONTRACT } from './operations.ts'

/** What the contract says of the callers of an operation. */
interface Access {
  readonly name: string
  readonly callers: 'key' | 'session' | 'staff'
  /** A scope of `key`; else capabilities, any of which is enough; none: every person. */
  readonly permissions: readonly string[]
  readonly tenant: 'customer' | 'operator' | 'any'
}

const ACCESS: readonly (Access & { readonly method: string; readonly path: string })[] = [
  ...CONTRACT.flatMap(({ id, method, path, callers, scope, tenant }) =>
    callers === 'public' || tenant === undefined
      ? []
      : [
          {
            name: id,
            method,
            path,
            callers: callers === 'session' ? ('session' as const) : ('key' as const),
            // Making, replacing and revoking keys are the only operations of this table for people alone.
            permissions: callers === 'session' ? ['api_keys.manage'] : scope === undefined ? [] : [scope],
            tenant,
          },
        ],
  ),
  ...ADDED_OPERATIONS.flatMap(({ name, method, path, callers, permissions, tenant }) =>
    callers === 'public' || tenant === 'none' ? [] : [{ name, method, path, callers, permissions, tenant }],
  ),
]

const placeOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`
const declared = new Map(routes.map((route) => [placeOf(route), route]))

// ── The roles themselves
// ────────────────────────────────────────────────────────────────────────────────────────────

t.test('each role has the capabilities of the contract, and no others', (t) => {
  const tables = [
    { roles: MEMBER_ROLES, contract: CONTRACT_MEMBERS },
    { roles: STAFF_ROLES, contract: CONTRACT_STAFF },
  ]
  for (const { roles, contract } of tables) {
    t.strictSame([...roles].sort(), [...contract.keys()].sort())
    for (const role of roles)
      t.strictSame([...grantOfRole(role).capabilities].sort(), [...(contract.get(role) ?? [])].sort(), role)
  }
  t.strictSame(grantOfRole('nobody').capabilities.size, 0, 'an unknown role may do nothing')
  t.end()
})

t.test('keys have the scopes of the contract', (t) => {
  t.strictSame([...CUSTOMER_SCOPES].sort(), [...CONTRACT_SCOPES.customer].sort())
  const shared = OPERATOR_SCOPES.filter((scope) => (CUSTOMER_SCOPES as readonly string[]).includes(scope))
  t.strictSame(
    OPERATOR_SCOPES.filter((scope) => !(shared as readonly string[]).includes(scope)).sort(),
    [...CONTRACT_SCOPES.operatorOnly].sort(),
  )
  t.end()
})

// ── Each operation and each caller
// ──────────────────────────────────────────────────────────────────────────────────

/** The tenants whose data an operation reads or changes. */
const takes = ({ tenant }: Access, level: 'customer' | 'operator'): boolean => tenant === 'any' || tenant === level

/** Whether the contract lets a person with these capabilities call an operation for a tenant. */
function mayCall(
  { callers, permissions }: Access,
  capabilities: ReadonlySet<string>,
  level: 'customer' | 'operator',
): boolean {
  const needed =
    callers === 'key' ? permissions.map((scope) => CAPABILITY_OF_SCOPE.get(scope)?.[level] ?? scope) : permissions
  return needed.length === 0 || needed.some((capability) => capabilities.has(capability))
}

t.test('each operation lets in the callers of the contract, and no others', async (t) => {
  const wrong = new Map<string, string[]>()
  const slugs = new Set<string>()
  let cells = 0
  const cell = (name: string, who: string, allowed: boolean, refusal: Problem | null) => {
    cells += 1
    if (refusal !== null) slugs.add(refusal.slug)
    if (allowed === (refusal === null)) return
    const label = `${name} ${allowed ? 'refuses' : 'lets in'}`
    wrong.set(label, [...(wrong.get(label) ?? []), who])
  }
  for (const access of ACCESS) {
    const route = declared.get(placeOf(access))
    if (route === undefined) continue
    const { name, callers, permissions } = access
    for (const [scopes, tenant] of [
      [CUSTOMER_SCOPES, CUSTOMER],
      [OPERATOR_SCOPES, OPERATOR],
    ] as const) {
      for (const scope of scopes) {
        const allowed = callers === 'key' && permissions.includes(scope) && takes(access, tenant.kind)
        cell(name, `a key of the ${tenant.kind} with ${scope}`, allowed, await askKey(route, key(scope), tenant))
      }
    }
    for (const role of MEMBER_ROLES) {
      const allowed =
        callers !== 'staff' &&
        takes(access, 'customer') &&
        mayCall(access, CONTRACT_MEMBERS.get(role) ?? new Set(), 'customer')
      cell(name, role, allowed, await askPerson(route, role, 'customer', CUSTOMER))
    }
    for (const role of STAFF_ROLES) {
      const has = CONTRACT_STAFF.get(role) ?? new Set()
      cell(
        name,
        role,
        takes(access, 'operator') && mayCall(access, has, 'operator'),
        await askPerson(route, role, 'operator', OPERATOR),
      )
      cell(
        name,
        `${role} for a customer`,
        access.tenant === 'any' && mayCall(access, has, 'customer'),
        await askPerson(route, role, 'operator', CUSTOMER),
      )
    }
  }
  t.comment(`${cells} cells`)
  t.strictSame([...slugs].sort(), ['insufficient-scope', 'tenant-forbidden'])
  onlyKnown(
    t,
    'access',
    [...wrong].map(([label, callers]) => `${label}: ${callers.join(', ')}`),
  )
  t.end()
})

t.test('simulations are for test keys and people of workspaces', async (t) => {
  for (const { sandboxOnly, callers, id } of CONTRACT) {
    const route = routes.find(({ operationId }) => operationId === id)
    if (route === undefined) continue
    t.equal(route.sandbox !== undefined, sandboxOnly === true, `${id} exists only where there is a sandbox`)
    t.equal(route.sandbox === 'simulation', callers === 'simulation', id)
    if (callers !== 'simulation') continue
    t.match(
      await askKey(route, key(route.scope as string, true), CUSTOMER),
      { slug: 'insufficient-scope' },
      `${id}: live`,
    )
    t.match(await askPerson(route, 'owner', 'customer', CUSTOMER, false), { slug: 'insufficient-scope' }, id)
  }
})
