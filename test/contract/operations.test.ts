/** The operations of the contract against the routes, in both directions. */
import t from 'tap'
import type { Route } from '../../http/route/route.ts'
import { routes } from '../../http/server/routes.ts'
import type { StepUpAction } from '../../lib/identity/step-up.ts'
import { ADDED_OPERATIONS, type AddedOperation } from './data/added-operations.ts'
import { CONTRACT_ENUMERATIONS } from './data/enumerations.ts'
import { CONTRACT_MEMBERS } from './data/roles.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'
import { CONTRACT } from './operations.ts'

/** Method and path without the names of its parameters: the contract does not name all of them. */
const placeOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`

const declared = new Map(routes.map((route) => [placeOf(route), route]))

const MEMBER_CAPABILITIES = new Set([...CONTRACT_MEMBERS.values()].flatMap((capabilities) => [...capabilities]))

/** The differences between a declaration and the contract, in words. */
function differencesOf(operation: AddedOperation, route: Route): string[] {
  const found: string[] = []
  const compare = (what: string, has: unknown, wanted: unknown) => {
    if (has !== wanted) found.push(`${operation.name}: ${what} ${String(has)}, not ${String(wanted)}`)
  }
  if (operation.id !== null) compare('operationId', route.operationId, operation.id)
  const capabilities = [route.capability ?? []].flat()
  // A session that needs a capability of staff is one of staff.
  const ofStaff = capabilities.length > 0 && capabilities.every((capability) => !MEMBER_CAPABILITIES.has(capability))
  compare('callers', route.callers === 'session' && ofStaff ? 'staff' : route.callers, operation.callers)
  const permissions = route.callers === 'key' ? [route.scope] : capabilities
  compare('permission', permissions.join(' or '), operation.permissions.join(' or '))
  // An operation that more tenants may call than the contract asks for is more, not other.
  if (!(route.tenant === 'any' && operation.tenant !== 'none')) compare('tenant', route.tenant, operation.tenant)
  if (operation.success !== null) compare('status', route.success.status, operation.success)
  // A key that is honoured where the contract asks for none is more, not other.
  if (operation.idempotency !== null || route.idempotency === 'required')
    compare('Idempotency-Key', route.idempotency, operation.idempotency ?? 'none')
  if (route.ifMatch !== 'when sent') compare('If-Match', route.ifMatch ?? false, operation.ifMatch)
  compare('step-up', route.stepUp?.action ?? null, operation.stepUp)
  if (operation.feature !== null) compare('feature', route.feature ?? null, operation.feature)
  compare('list', route.list !== undefined, operation.list)
  if (operation.conditional) compare('ETag', route.success.etag ?? false, true)
  return found
}

t.test('each added operation is declared as the contract says, or is known to be missing', (t) => {
  const found: string[] = []
  let walked = 0
  for (const operation of ADDED_OPERATIONS) {
    const route = declared.get(placeOf(operation))
    if (route === undefined) found.push(operation.name)
    else found.push(...differencesOf(operation, route))
    if (route !== undefined) walked += 1
  }
  for (const operation of CONTRACT) {
    const route = declared.get(placeOf(operation))
    if (route === undefined) found.push(operation.id)
    else walked += 1
  }
  const asked = new Set(routes.map(({ stepUp }) => stepUp?.action))
  for (const action of CONTRACT_ENUMERATIONS.get('StepUpAction') ?? [])
    if (!asked.has(action as StepUpAction)) found.push(`nothing asks for a proof of ${action}`)
  t.comment(`${walked} of ${ADDED_OPERATIONS.length + CONTRACT.length} operations`)
  onlyKnown(t, 'operations', found)
  t.end()
})

t.test('an operation is in one of the two tables, once', (t) => {
  const places = [...CONTRACT, ...ADDED_OPERATIONS].map(placeOf)
  t.strictSame(places, [...new Set(places)])
  t.end()
})

t.test('each route is an operation of the contract, or is known to be more', (t) => {
  const known = new Set([...CONTRACT, ...ADDED_OPERATIONS].map(placeOf))
  onlyKnownBeyond(
    t,
    'operations',
    routes.filter((route) => !known.has(placeOf(route))).map(({ operationId }) => operationId),
  )
  t.end()
})
