/**
 * The contract, operation by operation: what it says, what the declaration says, and what a live service answers. One
 * line per operation says what was found; operations that do not exist yet are in missing.ts by name.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { routes } from '../../http/server/routes.ts'
import type { Route } from '../../http/route/route.ts'
import { CUSTOMER_SCOPES, generateApiKey, OPERATOR_SCOPES } from '../../lib/identity/api-key.ts'
import type { Reply } from '../support/client.ts'
import { Person } from '../support/person.ts'
import { createWorld, paymentBody, type World } from '../support/world.ts'
import { MISSING } from './missing.ts'
import { CONTRACT, type ContractOperation } from './operations.ts'

const declared = new Map(routes.map((route) => [route.operationId, route]))

t.test('every operation exists or is known to be missing', async (t) => {
  for (const { id, method, path } of CONTRACT) {
    const exists = declared.has(id)
    if (exists) t.notOk(MISSING.has(id), `${id} exists; take it off the list of missing ones`)
    else t.ok(MISSING.has(id), `${id} (${method.toUpperCase()} ${path}) is missing`)
  }
  const known = new Set(CONTRACT.map(({ id }) => id))
  t.strictSame(
    [...MISSING].filter((id) => !known.has(id)),
    [],
    'only operations of the contract are on the list',
  )
  t.comment(`${CONTRACT.length - MISSING.size} of ${CONTRACT.length} operations exist`)
  for (const id of MISSING) t.comment(`missing: ${id}`)
})

/** The facts of a declaration in the words of the contract; what does not apply is left out. */
function factsOf(route: Route): Partial<ContractOperation> {
  const { list, success } = route
  const facts: Record<string, unknown> = {
    id: route.operationId,
    method: route.method,
    path: route.path,
    tag: route.tag,
    callers: route.callers,
    success: success.status,
    scope: route.scope ?? undefined,
    tenant: route.tenant === 'none' ? undefined : route.tenant,
    idempotency: route.idempotency === 'none' ? undefined : route.idempotency,
    ifMatch: route.ifMatch === true ? true : undefined,
    conditional: route.method === 'get' && success.etag === true && list === undefined ? true : undefined,
    list: list === undefined ? undefined : true,
    withTotal: list === undefined ? undefined : true,
    q: list?.q === true ? true : undefined,
    idAndMetadata: list?.metadata === true && 'id' in list.filters ? true : undefined,
    stepUp: route.stepUp?.action,
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

/** Members that the contract leaves open, and of which a declaration may have more. */
const MAY_ADD: readonly (keyof ContractOperation)[] = ['conditional']

t.test('declarations say what the contract says', async (t) => {
  for (const operation of CONTRACT) {
    const route = declared.get(operation.id)
    if (route === undefined) continue
    const facts: Record<string, unknown> = { ...factsOf(route) }
    const { feature: _feature, sandboxOnly: _sandboxOnly, contentType, ...wanted } = operation
    for (const name of MAY_ADD) if (!(name in wanted)) delete facts[name]
    if ('conditional' in wanted && operation.list === true) facts['conditional'] = route.success.etag
    if (facts['callers'] === 'key' && wanted.callers === 'simulation') facts['callers'] = 'simulation'
    // A wider circle of tenants than asked for is more, not other: operators may read what their customers may.
    if (facts['tenant'] === 'any' && wanted.tenant === 'customer') facts['tenant'] = 'customer'
    t.strictSame(facts, wanted, operation.id)
    t.equal(
      route.success.contentType ?? 'application/json',
      contentType ??
        (operation.success === 204 ? (route.success.contentType ?? 'application/json') : 'application/json'),
      `${operation.id}: media type`,
    )
  }
})

// ── The same of a live service
// ──────────────────────────────────────────────────────────────────────────────────────────

interface Known {
  readonly world: World
  readonly person: Person
  /** Actions that the person has proven themselves for; the proof holds for operations that come later. */
  readonly proven: Set<string>
  /** A key of this tenant with these scopes and no others. */
  key(level: 'customer' | 'operator', scopes: readonly string[]): Promise<string>
  tenantId(level: 'customer' | 'operator'): string
  /** The path with ids of things that exist; null when nothing of the kind does. */
  path(operation: ContractOperation): string | null
  body(id: string): unknown
}

async function know(world: World): Promise<Known> {
  const { seeded, operator } = world
  const payment = (await seeded.client.createPayment(paymentBody(seeded.balances.EUR, seeded.recipients.EUR, 100))).body
  const [keyRow] = await world.query<{ id: string }>(`select id from api_key where tenant_id = $1`, [
    seeded.client.tenantId,
  ])
  const webhook = (
    await seeded.client.post<{ id: string }>('/integrator-webhooks', {
      url: 'https://hooks.example.com/',
      events: ['payment.created'],
    })
  ).body
  const bulk = (
    await seeded.client.post<{ id: string }>(
      '/bulk-payments',
      { rows: [{ recipientId: seeded.recipients.EUR, currency: 'EUR', amount: '1', reference: 'Bill' }] },
      randomUUID(),
    )
  ).body
  const [attachment] = await world.query<{ id: string; transaction_id: string }>(
    'select id, transaction_id from document where transaction_id is not null limit 1',
  )
  const ids: Readonly<Record<string, string | undefined>> = {
    balanceId: seeded.balances.EUR,
    recipientId: seeded.recipients.EUR,
    paymentId: payment.id,
    customerId: seeded.client.tenantId,
    apiKeyId: keyRow?.id,
    webhookId: webhook.id,
    attachmentId: attachment?.id,
    transactionId: attachment?.transaction_id,
    bulkPaymentId: bulk.id,
  }
  const [login] = Object.values(world.service.sandbox!.customer.members)
  const person = new Person({ url: () => world.url, login: login!, tenantId: seeded.client.tenantId, now: world.now })
  await person.signIn()
  const tenantId = (level: 'customer' | 'operator') => (level === 'customer' ? seeded.client : operator).tenantId
  const keys = new Map<string, string>()
  return {
    world,
    person,
    tenantId,
    proven: new Set(),
    async key(level, scopes) {
      // A tenant has only so many keys, and operations of one scope can share theirs.
      const known = keys.get(`${level} ${scopes.join(' ')}`)
      if (known !== undefined) return known
      const { secret, prefix, sha256 } = generateApiKey('test', randomBytes)
      await world.query(
        `insert into api_key (id, level, tenant_id, operator_id, name, environment, prefix, sha256, scopes, status, created_by, created_at)
         values ($1, $2, $3, $4, 'contract', 'test', $5, decode($6, 'hex'), $7, 'active', $3, now())`,
        [randomUUID(), level, tenantId(level), operator.tenantId, prefix, sha256, scopes],
      )
      keys.set(`${level} ${scopes.join(' ')}`, secret)
      return secret
    },
    path({ path }) {
      let known = true
      const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
        const id = ids[name]
        if (id === undefined) known = false
        return id ?? randomUUID()
      })
      return known ? filled : null
    },
    body: (id) => BODIES[id]?.(world) ?? {},
  }
}

/** Bodies that succeed. */
const BODIES: Readonly<Record<string, (world: World) => unknown>> = {
  createApiKey: () => ({ name: `contract ${randomUUID()}`, environment: 'test', scopes: ['payments:read'] }),
  rotateApiKey: () => ({}),
}

/** Parameters without which an operation answers nothing. */
const QUERIES: Readonly<Record<string, string>> = { getRecipientRequirements: '?currency=GBP&country=GB' }

const HEADERS_OF_LIMITS = ['ratelimit', 'ratelimit-policy']

t.test('a live service answers what the contract says', async (t) => {
  await using world = await createWorld({ settings: { RATE_LIMITS: 'on' } })
  const known = await know(world)
  for (const operation of CONTRACT) {
    const route = declared.get(operation.id)
    if (route === undefined) continue
    await t.test(operation.id, async (t) => {
      const checked = await ask(t, operation, known)
      t.comment(`${operation.method.toUpperCase()} ${operation.path}: ${checked.join(', ')}`)
    })
  }
})

async function ask(t: Test, operation: ContractOperation, known: Known): Promise<string[]> {
  const checked: string[] = []
  const { world } = known
  const level =
    operation.tenant === 'operator' ||
    (operation.tenant === 'any' &&
      operation.scope !== undefined &&
      !(CUSTOMER_SCOPES as readonly string[]).includes(operation.scope))
      ? 'operator'
      : 'customer'
  const filled = known.path(operation)
  const path = filled ?? operation.path.replaceAll(/\{[^}]+\}/g, () => randomUUID())
  const method = operation.method.toUpperCase()
  const writes = operation.method !== 'get'
  const withBody = operation.method === 'post' || operation.method === 'patch'
  const send = async (
    query: string,
    key: string | null,
    headers: Record<string, string | undefined> = {},
    tenant = known.tenantId(level),
  ): Promise<Reply<unknown>> =>
    await world.operator.send(`/v1${path}${query}`, {
      method,
      headers: {
        authorization: key === null ? undefined : `Bearer ${key}`,
        'x-tenant-id': tenant,
        ...(withBody ? { 'content-type': 'application/json' } : {}),
        ...(writes && operation.idempotency !== undefined ? { 'idempotency-key': randomUUID() } : {}),
        ...headers,
      },
      ...(withBody ? { body: '{}' } : {}),
    })
  const problem = (reply: Reply<unknown>, status: number, code: string, what: string, field?: string) => {
    t.equal(reply.status, status, `${what}: ${status}`)
    if (reply.status >= 400)
      t.match(reply.problem, { code, ...(field === undefined ? {} : { errors: [{ field }] }) }, what)
    checked.push(what)
  }

  if (operation.callers === 'public') {
    const reply = await send('', null, { 'x-tenant-id': undefined })
    t.equal(reply.status, operation.success)
    t.notOk(reply.headers.has('ratelimit'), 'public operations show no limits of a caller')
    checked.push(`${operation.success}`)
    if (operation.conditional === true) {
      t.equal((await send('', null, { 'if-none-match': reply.headers.get('etag') as string })).status, 304)
      checked.push('304')
    }
    return checked
  }

  problem(await send('', null), 401, 'unauthenticated', 'needs a credential')

  if (operation.callers === 'session') {
    const key = await known.key('customer', [...CUSTOMER_SCOPES])
    problem(await send('', key), 403, 'insufficient-scope', 'refuses keys')
    if (operation.stepUp !== undefined && !known.proven.has(operation.stepUp)) {
      const refused = await known.person.send(method, path, withBody ? known.body(operation.id) : undefined)
      problem(refused, 403, 'step-up-required', 'needs a step-up')
      t.equal(refused.problem['action'], operation.stepUp, 'the action is named')
      await known.person.stepUp(operation.stepUp)
      known.proven.add(operation.stepUp)
    }
    if (filled !== null) {
      const done = await known.person.send(method, path, withBody ? known.body(operation.id) : undefined)
      t.equal(done.status, operation.success, `answers ${operation.success}: ${done.text.slice(0, 200)}`)
      checked.push(`${operation.success} for a person`)
    }
    return checked
  }

  const { scope } = operation
  const all = level === 'customer' ? CUSTOMER_SCOPES : OPERATOR_SCOPES
  const without = await known.key(
    level,
    all.filter((other) => other !== scope),
  )
  const only = await known.key(level, [scope as string])
  const refused = await send('', without)
  problem(refused, 403, 'insufficient-scope', `needs ${scope}`)
  t.equal(refused.problem['requiredScope'], scope)
  for (const name of HEADERS_OF_LIMITS) t.ok(refused.headers.has(name), `a refusal carries ${name}`)
  problem(
    await send('', only, { 'x-tenant-id': undefined }),
    400,
    'malformed-request',
    'needs a tenant',
    'header.X-Tenant-Id',
  )
  problem(await send('', only, {}, randomUUID()), 403, 'tenant-forbidden', 'is closed to other tenants')
  const route = declared.get(operation.id) as Route
  if (route.tenant === operation.tenant && operation.tenant !== 'any') {
    const other = operation.tenant === 'customer' ? 'operator' : 'customer'
    problem(
      await send('', await known.key(other, [scope as string]), {}, known.tenantId(other)),
      403,
      'tenant-forbidden',
      `is closed to the ${other}`,
    )
  }
  problem(await send('?nonsense=1', only), 400, 'malformed-request', 'knows its parameters', 'query.nonsense')

  if (operation.idempotency === 'required')
    problem(
      await send('', only, { 'idempotency-key': undefined }),
      400,
      'malformed-request',
      'needs an Idempotency-Key',
      'header.Idempotency-Key',
    )
  if (operation.idempotency !== undefined)
    problem(
      await send('', only, { 'idempotency-key': 'two words' }),
      400,
      'malformed-request',
      'reads the Idempotency-Key',
      'header.Idempotency-Key',
    )
  if (operation.ifMatch === true)
    problem(await send('', only, { 'if-match': undefined }), 428, 'precondition-required', 'needs If-Match')
  if (operation.list === true) await askList(t, operation, (query) => send(query, only), problem)

  if (operation.method === 'get' && filled !== null) {
    const reply = await send(QUERIES[operation.id] ?? '', only)
    t.equal(reply.status, operation.success, reply.text.slice(0, 200))
    checked.push(`${operation.success}`)
    for (const name of HEADERS_OF_LIMITS) t.ok(reply.headers.has(name), `the answer carries ${name}`)
    if (operation.conditional === true || operation.list === true) {
      const etag = reply.headers.get('etag')
      t.match(etag, /^W\/"[^"]+"$/, 'the answer has a weak tag')
      const again = await send('', only, { 'if-none-match': etag as string })
      t.equal(again.status, 304)
      t.equal(again.text, '')
      checked.push('304')
    }
  }
  return checked
}

async function askList(
  t: Test,
  operation: ContractOperation,
  send: (query: string) => Promise<Reply<unknown>>,
  problem: (reply: Reply<unknown>, status: number, code: string, what: string, field?: string) => void,
): Promise<void> {
  problem(await send('?cursor=nonsense'), 400, 'invalid-cursor', 'reads cursors')
  problem(await send('?limit=0'), 400, 'malformed-request', 'limits pages', 'query.limit')
  problem(await send('?limit=101'), 400, 'malformed-request', 'limits pages to 100', 'query.limit')
  problem(await send('?sort=nonsense'), 400, 'malformed-request', 'knows its sorts', 'query.sort')
  problem(await send('?filter[nonsense]=1'), 400, 'malformed-request', 'knows its filters', 'query.filter[nonsense]')
  problem(
    await send('?q=a'),
    400,
    'malformed-request',
    operation.q === true ? 'searches from two characters' : 'does not search',
    'query.q',
  )
  const search = await send('?q=xyzzy')
  t.equal(search.status, operation.q === true ? 200 : 400)
  const counted = await send('?limit=1&withTotal=true')
  t.equal(counted.status, 200, counted.text.slice(0, 200))
  t.type((counted.body as { page: { total?: unknown } }).page.total, 'number', 'counts')
  t.notOk('total' in ((await send('?limit=1')).body as { page: object }).page, 'counts only when asked')
  const byId = await send(`?filter[id]=${randomUUID()}&filter[metadata.none]=x`)
  t.equal(byId.status, operation.idAndMetadata === true ? 200 : 400, 'filters by id and metadata')
  if (operation.idAndMetadata === true) {
    problem(
      await send(`?filter[id]=${Array.from({ length: 101 }, () => randomUUID()).join(',')}`),
      400,
      'too_many_filter_values',
      'takes a hundred ids',
    )
    problem(
      await send(`?${Array.from({ length: 6 }, (_, index) => `filter[metadata.k${index}]=x`).join('&')}`),
      400,
      'too_many_filter_values',
      'takes five metadata filters',
    )
  }
}
