import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import t from 'tap'
import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'

import { problemsOf } from '../../../http/openapi/openapi-problems.ts'
import { routes } from '../../../http/server/routes.ts'
import type { Route } from '../../../http/route/route.ts'
import { CUSTOMER_SCOPES } from '../../../lib/identity/api-key.ts'
import { grantOfRole } from '../../../lib/identity/capabilities.ts'
import { ProblemSchema } from '../../../lib/contract/problem.ts'
import { PROBLEMS } from '../../../lib/base/problems.ts'
import { startEmbeddedPostgres } from '../../../storage/embedded/embedded.ts'
import { Client, type RawRequest, type Reply } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'
import { removeDirectory } from '../../support/remove-directory.ts'

interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> }>>
    >
  >
}

const problemValidator = Compile(ProblemSchema)

/** Whether an owner may do what a route for people asks. */
function ofOwner({ capability }: Route): boolean {
  const { capabilities } = grantOfRole('owner')
  return capability === undefined || [capability].flat().some((one) => capabilities.has(one))
}

/** Whether a route is called for the operator: by its keys, where keys of customers have no such scope. */
const ofOperator = ({ tenant, scope }: Pick<Route, 'tenant' | 'scope'>): boolean =>
  tenant === 'operator' || (scope !== null && !(CUSTOMER_SCOPES as readonly string[]).includes(scope))

interface Node {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: unknown
  readonly required?: readonly string[]
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}

/** Members of a value that its schema does not name, by their paths. */
function undocumented(schema: Node, value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object') return []
  const node = schema.anyOf?.find((branch) => branch.type !== 'null') ?? schema
  if (Array.isArray(value))
    return value.flatMap((item, index) => undocumented(node.items ?? {}, item, `${path}/${index}`))
  if (node.properties === undefined) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const property = node.properties?.[name]
    return property === undefined ? [`${path}/${name}`] : undocumented(property, member, `${path}/${name}`)
  })
}

t.test(
  'health, readiness and the document answer without a key, at the root and under /v1 where they should',
  async (t) => {
    await using world = await createWorld()
    const anonymous = { authorization: undefined, 'x-tenant-id': undefined }
    for (const path of ['/health', '/v1/health']) {
      const reply = await world.operator.send<{ status: string }>(path, { headers: anonymous })
      t.match(reply.body, { status: 'ok', version: /^\d+\.\d+\.\d+/, commit: String, time: /Z$/ }, path)
      t.equal(reply.headers.get('cache-control'), 'no-store')
      t.ok(reply.headers.get('x-request-id'))
    }
    for (const path of ['/ready', '/v1/ready']) {
      const reply = await world.operator.send(path, { headers: anonymous })
      t.equal(reply.status, 200)
      t.match(reply.body, { status: 'ready', checks: [{ name: 'postgres', ok: true, latencyMs: Number }] }, path)
    }
    const document = await world.operator.send<Document>('/v1/openapi.json', { headers: anonymous })
    t.equal(document.status, 200)
    const etag = document.headers.get('etag')!
    t.match(etag, /^"[0-9a-f]+"$/, 'a strong tag')
    t.match(document.headers.get('cache-control'), /max-age=[1-9]/)
    t.equal(document.headers.get('x-contract-version'), '1.0.0-draft.14')
    t.equal(document.body.info.version, '1.0.0-draft.14')
    t.match(document.body.openapi, /^3\.1\./)
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const unchanged = await world.operator.send('/v1/openapi.json', {
        headers: { ...anonymous, 'if-none-match': known },
      })
      t.equal(unchanged.status, 304, known)
      t.equal(unchanged.text, '')
      t.equal(unchanged.headers.get('etag'), etag)
      t.match(unchanged.headers.get('cache-control'), /max-age=[1-9]/)
      t.equal(unchanged.headers.get('x-contract-version'), '1.0.0-draft.14')
    }
    t.equal(
      (await world.operator.send('/v1/openapi.json', { headers: { ...anonymous, 'if-none-match': '"other"' } })).status,
      200,
    )
    t.equal((await world.operator.send('/openapi.json', { headers: anonymous })).problem.code, 'not-found')
    t.strictSame(
      Object.values(document.body.paths)
        .flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
        .sort(),
      routes.map(({ operationId }) => operationId).sort(),
      'the document has every route of the table',
    )
  },
)

t.test('while its database is gone the service says so, and takes no payment', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'vostro-contract-'))
  t.teardown(() => removeDirectory(directory))
  await chmod(directory, 0o711)
  const options = { dataDir: join(directory, 'data'), log: () => undefined, settings: { shared_buffers: '32MB' } }
  const server = await startEmbeddedPostgres(options)
  t.teardown(() => server.stop())
  await using world = await createWorld({ databaseUrl: server.url })
  const { client, balances, recipients } = world.seeded
  t.equal((await client.send('/ready')).status, 200)
  await server.stop()
  const gone = await client.send<{ status: string }>('/ready')
  t.equal(gone.status, 503)
  t.match(JSON.parse(gone.text), { status: 'not_ready', checks: [{ name: 'postgres', ok: false }] })
  t.equal((await client.send('/health')).status, 200, 'the process lives')
  const key = randomUUID()
  const body = paymentBody(balances.EUR, recipients.EUR, 1000)
  const refused = await client.createPayment(body, key)
  t.equal(refused.status, 503, refused.text)
  t.match(refused.problem, { code: 'service-unavailable', retryable: true, retryAfterSeconds: Number })
  t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/)
  t.notMatch(refused.text, /ECONNREFUSED|postgres|127\.0\.0\.1/i, 'nothing of the inside is shown')
  const read = await client.get(`/balances/${balances.EUR}`)
  t.equal(read.status, 503, read.text)
  t.equal(read.problem.code, 'service-unavailable')
  t.ok(read.headers.get('retry-after'))

  const back = await startEmbeddedPostgres(options)
  t.teardown(() => back.stop())
  t.equal(back.url, server.url)
  await until('the service is ready again by itself', async () => (await client.send('/ready')).status === 200)
  const created = await client.createPayment(body, key)
  t.equal(created.status, 201, 'the same key goes through now')
  t.notOk(created.headers.has('idempotency-replayed'), 'for the first time')
  await client.paymentReaching(created.body.id, 'completed')
  await world.audit()
})

t.test('every operation answers junk with what it declares, and never with an error of ours', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const document = (await client.get<Document>('/openapi.json')).body
  const declared = (route: Route) => new Set(problemsOf(route) as string[])

  const expectDeclared = (route: Route, what: string, reply: Reply<unknown>) => {
    const name = `${route.operationId}: ${what}: ${reply.status} ${reply.text.slice(0, 300)}`
    const { responses } = document.paths[route.path]![route.method]!
    t.ok(String(reply.status) in responses, `${name}: is a declared status`)
    if (reply.status < 400) return
    const problem = reply.problem
    t.ok(problemValidator.Check(problem), `${name}: is a problem`)
    t.ok(declared(route).has(problem.code), `${name}: is a declared problem`)
    t.equal(PROBLEMS[problem.code as keyof typeof PROBLEMS].status, reply.status, name)
    t.equal(PROBLEMS[problem.code as keyof typeof PROBLEMS].title, problem.title, name)
    t.ok(reply.status < 500 || reply.status === 501, name)
  }
  const junkId = randomUUID()
  const call = (
    route: Route,
    caller: Client,
    request: RawRequest & { readonly query?: string; readonly id?: string } = {},
  ) =>
    caller.send(`/v1${route.path.replaceAll(/\{[^}]+\}/g, request.id ?? junkId)}${request.query ?? ''}`, {
      method: route.method.toUpperCase(),
      ...request,
    })
  const posted = (body: string, headers: RawRequest['headers'] = {}): RawRequest => ({
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...headers },
  })

  const signedIn = new Map<string, Person>()
  /** Keys where keys may call, people where they must: signed in, and proven for what the operation asks. */
  const callerOf = async (route: Route): Promise<Client> => {
    if (route.callers !== 'session' && route.callers !== 'staff') return ofOperator(route) ? world.operator : client
    const forStaff = route.callers === 'staff' || route.tenant === 'operator' || !ofOwner(route)
    const role = forStaff ? 'operator_admin' : 'owner'
    let person = signedIn.get(role)
    // An earlier call may have ended their session.
    if (person === undefined || (await person.get('/sessions/current')).status !== 200) {
      person = await world.person(role).signIn()
      signedIn.set(role, person)
    }
    if (route.stepUp !== undefined)
      await person.stepUp(
        route.stepUp.action,
        route.stepUp.bound === true ? { type: 'subject', id: junkId } : undefined,
      )
    return new Client({ url: () => world.url, apiKey: person.token, tenantId: person.tenantId })
  }

  for (const route of routes) {
    const junk = route.method === 'get' ? {} : posted('{}')
    const caller = await callerOf(route)
    const nonsense = await call(route, caller, { ...junk, query: '?nonsense=1' })
    t.equal(nonsense.status, 400, `${route.operationId} refuses parameters it does not know`)
    expectDeclared(route, 'an unknown parameter', nonsense)
    expectDeclared(
      route,
      'a media type nobody makes',
      await call(route, caller, { ...junk, headers: { ...junk.headers, accept: 'image/png' } }),
    )
    expectDeclared(
      route,
      'a bad request id',
      await call(route, caller, { ...junk, headers: { ...junk.headers, 'x-request-id': 'a b' } }),
    )
    if (route.path.includes('{'))
      expectDeclared(route, 'an id that is none', await call(route, caller, { ...junk, id: 'nonsense' }))
    if (route.callers !== 'public') {
      const without = await call(route, caller, { ...junk, headers: { ...junk.headers, authorization: undefined } })
      t.equal(without.status, 401, `${route.operationId} needs a credential`)
      expectDeclared(route, 'no credential', without)
    }
    if (route.callers === 'session' || route.callers === 'staff') {
      const key = route.callers === 'staff' || route.tenant === 'operator' ? world.operator : client
      const refused = await call(route, key, junk)
      t.equal(refused.problem.code, 'insufficient-scope', `${route.operationId} is not for keys`)
      expectDeclared(route, 'a key', refused)
    }
    if (route.callers !== 'public' && route.tenant !== 'none') {
      expectDeclared(
        route,
        'no tenant',
        await call(route, caller, { ...junk, headers: { ...junk.headers, 'x-tenant-id': undefined } }),
      )
      const other = await call(route, caller, { ...junk, headers: { ...junk.headers, 'x-tenant-id': junkId } })
      t.equal(other.problem.code, 'tenant-forbidden', `${route.operationId} is for the tenants of its caller`)
      expectDeclared(route, 'another tenant', other)
      expectDeclared(
        route,
        'a key of the other kind',
        await call(route, route.tenant === 'operator' ? client : world.operator, junk),
      )
    }
    if (route.body !== undefined) {
      for (const body of [
        '',
        '{',
        '[]',
        'null',
        '"x"',
        '{"a":1,"a":1}',
        JSON.stringify({ deep: JSON.parse('['.repeat(30) + ']'.repeat(30)) }),
      ]) {
        expectDeclared(route, body, await call(route, caller, posted(body)))
      }
      expectDeclared(
        route,
        'a form',
        await call(route, caller, posted('a=b', { 'content-type': 'application/x-www-form-urlencoded' })),
      )
      expectDeclared(
        route,
        'no idempotency key',
        await call(route, caller, posted('{}', { 'idempotency-key': undefined })),
      )
      expectDeclared(
        route,
        'a large body',
        await call(route, caller, posted(JSON.stringify({ a: 'x'.repeat(300_000) }))),
      )
    }
    // Last: it may be all that some operations need, and then their callers are signed out.
    expectDeclared(route, 'junk', await call(route, caller, junk))
    for (const method of ['PATCH', 'DELETE']) {
      if (routes.some((other) => other.path === route.path && other.method.toUpperCase() === method)) continue
      const wrong = await call(route, caller, { method })
      t.equal(wrong.status, 405, `${method} ${route.path}`)
      t.ok(
        wrong.headers.get('allow')?.includes(route.method.toUpperCase()),
        `${method} ${route.path}: ${wrong.headers.get('allow')}`,
      )
    }
  }
  const nothing = await client.get('/nothing-here')
  t.equal(nothing.status, 404)
  t.equal(nothing.problem.code, 'not-found')
  t.equal((await client.send('/v1/payments/')).status, 404, 'paths are taken as they are')
  t.equal((await client.get(`/payments?q=${'x'.repeat(9000)}`)).problem.code, 'uri-too-long')
})

t.test('what is read is what its schema says, to the last member', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const [other] = (
    await world.customer({
      balances: [
        { currency: 'EUR', amount: 1n },
        { currency: 'EUR', amount: 0n },
      ],
    })
  ).balanceIds
  t.ok(other)
  const payments = await Promise.all(
    [1000, 1301, 1501, 4711].map(
      async (amount) =>
        (
          await client.createPayment({
            ...paymentBody(balances.EUR, recipients.EUR, amount),
            externalId: `E-${amount}`,
            purpose: 'rent',
            purposeCode: 'RENT',
            endToEndId: 'E2E-1',
            metadata: { a: '1' },
          })
        ).body.id,
    ),
  )
  const dollars = (
    await client.createPayment({ ...paymentBody(balances.USD, recipients.USD, 1000, 'USD'), requestedRail: 'fedwire' })
  ).body.id
  await client.paymentReaching(payments[1]!, 'failed')
  await client.paymentReaching(payments[2]!, 'exception')
  await client.paymentReaching(payments[3]!, 'completed')
  const second = await world.customer({
    balances: [
      { currency: 'EUR', amount: 100n },
      { currency: 'EUR', amount: 0n },
    ],
  })
  const transfer = (await second.client.createTransfer(transferBody(second.balanceIds[0]!, second.balanceIds[1]!, 50)))
    .body.id

  const asClient = (person: Person): Client =>
    new Client({ url: () => world.url, apiKey: person.token, tenantId: person.tenantId })
  const owner = asClient(await world.person('owner').signIn())
  const staff = asClient(await world.person('operator_admin').signIn())
  const { token } = (
    await staff.post<{ token: string }>('/impersonations', {
      customerId: client.tenantId,
      reason: 'A ticket of the customer.',
    })
  ).body
  const keyId = async (tenantId: string): Promise<string> =>
    (await world.query<{ id: string }>('select id from api_key where tenant_id = $1', [tenantId]))[0]!.id
  const [customerKey, operatorKey] = [await keyId(client.tenantId), await keyId(world.operator.tenantId)]

  const operations: readonly (readonly [string, Client, string])[] = [
    ['listSessions', owner, '/sessions'],
    ['getCurrentSession', owner, '/sessions/current'],
    ['getCurrentUser', owner, '/users/me'],
    ['listMfaFactors', owner, '/users/me/mfa-factors'],
    ['listApiKeys', owner, '/api-keys?withTotal=true'],
    ['getApiKey', owner, `/api-keys/${customerKey}`],
    ['listApiKeyRequests', owner, `/api-keys/${customerKey}/requests`],
    ['getApiKeyUsage', owner, `/api-keys/${customerKey}/usage`],
    ['getCurrentImpersonation', staff.with({ apiKey: token }), '/impersonations/current'],
    ['listOperatorApiKeys', staff, '/operator/api-keys'],
    ['getOperatorApiKey', staff, `/operator/api-keys/${operatorKey}`],
    ['listAuditEvents', owner, '/audit-events'],
    ['listAuditEvents', staff, '/audit-events'],
    ['getIntegrationHome', world.operator, '/integration'],
    ['getIntegrationHome', staff, '/integration'],
    ['listOperatorApiKeyRequests', world.operator, `/integration/api-keys/${customerKey}/requests`],
    ['getOperatorApiUsage', world.operator, '/integration/api-usage'],
    ['getHealth', client, '/health'],
    ['getReady', client, '/ready'],
    ['getOpenApi', client, '/openapi.json'],
    ['listBalances', client, '/balances?withTotal=true'],
    ['listBalances', world.operator, '/balances?withTotal=true'],
    ...Object.values(balances).flatMap(
      (id) =>
        [
          ['getBalance', client, `/balances/${id}`],
          ['listBalanceJournal', client, `/balances/${id}/journal`],
          ['listBalanceHolds', client, `/balances/${id}/holds?filter[status]=active,captured,released,expired`],
        ] as const,
    ),
    ['listRecipients', client, '/recipients'],
    ...Object.values(recipients).map((id) => ['getRecipient', client, `/recipients/${id}`] as const),
    ['listPayments', client, '/payments?limit=3'],
    ...[...payments, dollars].map((id) => ['getPayment', client, `/payments/${id}`] as const),
    ['getTransfer', second.client, `/transfers/${transfer}`],
  ]
  // The other reads that need no resource first; the rest is checked against its schema where it is created.
  const read = new Set(operations.map(([operationId]) => operationId))
  const others = routes
    .filter(({ method, operationId }) => method === 'get' && !read.has(operationId))
    .flatMap(({ operationId, path, callers, tenant, words, ...route }) => {
      const filled = path.replaceAll(/\{([^}]+)\}/g, (whole, name: string) =>
        name === 'customerId' ? client.tenantId : (words?.[name]?.[0] ?? whole),
      )
      const required = (route.query as { readonly required?: readonly string[] } | undefined)?.required ?? []
      // Files have no schema.
      if (filled.includes('{') || required.length > 0 || route.success.schema === undefined) return []
      const ofStaff =
        callers === 'staff' ||
        ofOperator({ tenant, scope: route.scope }) ||
        !ofOwner({ ...route, operationId, path, callers, tenant })
      const caller =
        callers === 'key' || callers === 'public' ? (ofStaff ? world.operator : client) : ofStaff ? staff : owner
      return [[operationId, caller, filled] as const]
    })
  for (const [operationId, caller, path] of [...operations, ...others]) {
    const route = routes.find((candidate) => candidate.operationId === operationId)!
    const schema = route.success.schema as TSchema
    const reply = await caller.get<unknown>(path)
    t.equal(reply.status, route.success.status, `${path}: ${reply.text}`)
    const validator = Compile(schema)
    t.ok(validator.Check(reply.body), `${path}: ${JSON.stringify(validator.Errors(reply.body))}`)
    if (operationId !== 'getOpenApi')
      t.strictSame(undocumented(schema as Node, reply.body), [], `${path}: shows nothing that is not documented`)
    t.match(reply.headers.get('content-type'), /^application\/json/)
    if (route.success.etag === true) {
      t.ok(reply.headers.get('etag'), `${path} has a tag`)
      t.match(reply.headers.get('cache-control'), /no-cache|max-age/, path)
    } else {
      t.equal(reply.headers.get('cache-control'), 'no-store', path)
    }
  }

  for (const create of [
    {
      operationId: 'createPayment',
      reply: await client.post<unknown>('/payments', paymentBody(balances.EUR, recipients.EUR, 2)),
    },
    {
      operationId: 'createTransfer',
      reply: await second.client.post<unknown>(
        '/transfers',
        transferBody(second.balanceIds[0]!, second.balanceIds[1]!, 1),
      ),
    },
  ]) {
    const schema = routes.find(({ operationId }) => operationId === create.operationId)!.success.schema as TSchema
    t.ok(Compile(schema).Check(create.reply.body), create.operationId)
    t.strictSame(undocumented(schema as Node, create.reply.body), [], create.operationId)
  }
})
