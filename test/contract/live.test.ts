/** What a live service shows of the contract's tables: that it asks the authorisation, and its defaults. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Route } from '../../http/route/route.ts'
import { routes } from '../../http/server/routes.ts'
import { MEMBER_ROLES } from '../../lib/identity/capabilities.ts'
import { createWorld, type World } from '../support/world.ts'
import { askPerson, CUSTOMER, OPERATOR } from './callers.ts'
import { SETTING_DEFAULTS } from './data/limits.ts'
import { words } from './data/table.ts'
import { onlyKnown } from './known.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())

/** Operations of each kind of caller; none of them changes anything when it is let in with nothing to work on. */
const SAMPLE = words(`
  listPayments createPayment listStatements listIntegratorWebhooks listAuditEvents decideApproval openBalance
  listApiKeys listComplianceHolds listExceptions getOperatorSettings listJobs getCustomerPreferences createAnnotation
`)

t.test('a live service asks the same authorisation', async (t) => {
  const tenants = { customer: world.seeded.client.tenantId, operator: world.operator.tenantId }
  const staff = world.service.sandbox!.operator.staff.map((person) => person.role as Parameters<World['person']>[0])
  const roles = [...(['owner', 'approver', 'preparer'] as const), ...staff]
  t.ok(roles.length >= 5, roles.join(', '))
  for (const role of roles) {
    const person = world.person(role)
    await person.signIn()
    const level = (MEMBER_ROLES as readonly string[]).includes(role) ? 'customer' : 'operator'
    // Staff also act for the customers of their operator.
    for (const kind of level === 'customer' ? (['customer'] as const) : (['operator', 'customer'] as const)) {
      for (const operationId of SAMPLE) {
        const route = routes.find((each) => each.operationId === operationId) as Route
        const refusal = await askPerson(route, role, level, kind === 'operator' ? OPERATOR : CUSTOMER)
        const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
          name === 'customerId' ? tenants.customer : randomUUID(),
        )
        const body = route.method === 'get' ? undefined : {}
        const reply = await person.send(route.method.toUpperCase(), path, body, { 'x-tenant-id': tenants[kind] })
        const refused =
          reply.status === 403 && /^(?:insufficient-scope|tenant-forbidden)$/.test(`${reply.problem['code']}`)
        t.equal(refused, refusal !== null, `${role} for the ${kind}, ${operationId}: ${reply.status}`)
        if (refused) t.equal(reply.problem['code'], refusal?.slug, `${role} for the ${kind}, ${operationId}`)
      }
    }
  }
})

/** The contract names an amount without its currency. */
const amountOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'amountMinor' in value ? Number(value.amountMinor) : value

t.test('an operator that has set nothing has the settings of the contract', async (t) => {
  const admin = await world.person('operator_admin').signIn()
  const settings = (await admin.get<Readonly<Record<string, Readonly<Record<string, unknown>>>>>('/operator/settings'))
    .body
  const missing: string[] = []
  for (const { name, value } of SETTING_DEFAULTS) {
    const [group = '', member] = name.split('.')
    const has = member === undefined ? settings[group] : settings[group]?.[member]
    if (has === undefined) missing.push(name)
    else t.equal(typeof has === 'string' ? has : JSON.stringify(amountOf(has)), value, name)
  }
  onlyKnown(t, 'settings', missing)
})
