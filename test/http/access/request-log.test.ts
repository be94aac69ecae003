import t from 'tap'
import { RateLimits } from '../../../http/access/rate-limits.ts'
import { RequestLog } from '../../../http/access/request-log.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import type { ApiKeyRequestLog, ApiUsageReport, IntegrationHome } from '../../../lib/integration/api-usage-schema.ts'
import { Database } from '../../../storage/db/database.ts'
import { percentile, stepOf } from '../../../storage/integration/request-log.ts'
import { writeRequests, type LoggedRequest } from '../../../storage/integration/write-requests.ts'
import { maintainPartitions } from '../../../storage/db/partitions.ts'
import { Random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

const QUICK = { settings: { API_REQUEST_LOG_FLUSH_MS: '20' } }
const DAY_MS = 86_400_000
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)

async function keyIdOf(world: World, tenantId: string): Promise<string> {
  return (await world.query<{ id: string }>('select id from api_key where tenant_id = $1', [tenantId]))[0]!.id
}

t.test('the last calls of a key: method, route, status, duration and request id, and nothing else', async (t) => {
  await using world = await createWorld(QUICK)
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const keyId = await keyIdOf(world, client.tenantId)
  const paid = await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))
  await client.get(`/payments/${paid.body.id}`, { 'x-request-id': 'mine:2' })
  await client.get('/payments?nonsense=1')
  await client.get('/payments', { 'x-tenant-id': balances.EUR })
  await client.get('/no-such-route')
  const log = await until('all calls are in the log', async () => {
    const { body } = await owner.get<ApiKeyRequestLog>(`/api-keys/${keyId}/requests`)
    return body.data.length === 4 ? body : null
  })
  t.match(log, { apiKeyId: keyId, retentionDays: 7, statusCounts: { 200: 1, 201: 1, 400: 1, 403: 1 } })
  t.strictSame(
    log.data.map(({ method, route, status }) => [method, route, status]),
    [
      ['GET', '/payments', 403],
      ['GET', '/payments', 400],
      ['GET', '/payments/{paymentId}', 200],
      ['POST', '/payments', 201],
    ],
    'newest first; what no route took is not there',
  )
  for (const entry of log.data)
    t.strictSame(Object.keys(entry).sort(), ['durationMs', 'method', 'requestId', 'route', 'status'])
  t.equal(log.data[2]?.requestId, 'mine:2')
  t.equal(log.data[3]?.requestId, paid.headers.get('x-request-id'))
  t.ok(log.data.every(({ durationMs }) => Number.isInteger(durationMs) && durationMs >= 0 && durationMs < 60_000))

  const of = async (query: string) =>
    (await owner.get<ApiKeyRequestLog>(`/api-keys/${keyId}/requests?${query}`)).body.data.map(({ status }) => status)
  t.strictSame(await of('outcome=success'), [200, 201])
  t.strictSame(await of('outcome=client_error'), [403, 400])
  t.strictSame(await of('outcome=server_error'), [])
  t.strictSame(await of('outcome=rate_limited'), [])
  t.strictSame(await of('limit=2'), [403, 400])
  for (const query of ['limit=0', 'limit=101', 'outcome=fine', 'cursor=x'])
    t.equal((await owner.get(`/api-keys/${keyId}/requests?${query}`)).status, 400, query)

  const same = await world.operator.get<ApiKeyRequestLog>(`/integration/api-keys/${keyId}/requests`)
  t.strictSame(same.body, log, "an operator sees the same of its customers' keys")
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  t.equal((await owner.get(`/api-keys/${await keyIdOf(world, stranger.id)}/requests`)).problem.code, 'not-found')
  t.equal(
    (await world.operator.get('/integration/api-keys/01980d6e-0000-7000-8000-00000000ffff/requests')).problem.code,
    'not-found',
  )
  t.equal((await client.get(`/integration/api-keys/${keyId}/requests`)).problem.code, 'tenant-forbidden')
  const preparer = await world.person('preparer').signIn()
  t.match((await preparer.get(`/api-keys/${keyId}/requests`)).problem, { requiredCapability: 'api_keys.manage' })
})

t.test('usage is reported by key and day, today included, with totals of all', async (t) => {
  await using world = await createWorld(QUICK)
  const { client } = world.seeded
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  const now = world.now()
  for (let nth = 0; nth < 5; nth++) await client.get('/balances')
  await client.get('/balances?nonsense=1')
  await other.client.get('/balances')
  const keyId = await keyIdOf(world, client.tenantId)
  const report = await until('the calls are counted', async () => {
    const { body } = await world.operator.get<ApiUsageReport>('/integration/api-usage?environment=test')
    return body.totals.requests >= 7 ? body : null
  })
  t.equal(report.to, day(now))
  t.equal(report.from, day(now - 29 * DAY_MS))
  const key = report.keys.find(({ apiKeyId }) => apiKeyId === keyId)!
  t.match(key, {
    name: 'Sandbox key',
    customerId: client.tenantId,
    environment: 'test',
    requests: 6,
    success: 5,
    clientErrors: 1,
    serverErrors: 0,
    rateLimited: 0,
    days: [{ date: day(now), requests: 6, errors: 1 }],
    deprecatedOperations: [],
  })
  t.ok(key.p50Ms > 0 && key.p95Ms >= key.p50Ms)
  t.ok(Date.parse(key.firstUsedAt!) <= Date.parse(key.lastUsedAt!))
  t.equal(
    report.totals.requests,
    report.keys.reduce((sum, { requests }) => sum + requests, 0),
  )

  // The past, as the roll-up keeps it; the calls themselves are long gone.
  await world.query(
    `insert into api_usage_day (day, api_key_id, operation_id, status, duration_step, requests, first_at, last_at)
    values ($1::date, $2, 'listBalances', 200, 12, 40, $1::date + interval '1 hour', $1::date + interval '2 hours'), ($1::date, $2, 'listBalances', 500, 40, 2, $1::date, $1::date + interval '3 hours')`,
    [day(now - 60 * DAY_MS), keyId],
  )
  const past = (
    await world.operator.get<ApiUsageReport>(
      `/integration/api-usage?from=${day(now - 60 * DAY_MS)}&to=${day(now - 60 * DAY_MS)}&apiKeyId=${keyId.toUpperCase()}`,
    )
  ).body
  t.match(past, {
    totals: { requests: 42, success: 40, serverErrors: 2, p50Ms: 8 },
    keys: [{ days: [{ requests: 42, errors: 2 }] }],
  })
  t.equal(past.keys.length, 1)
  const ofCustomer = (await world.operator.get<ApiUsageReport>(`/integration/api-usage?customerId=${other.id}`)).body
  t.match(ofCustomer, { totals: { requests: 1 }, keys: [{ customerId: other.id }] })
  t.equal((await world.operator.get<ApiUsageReport>('/integration/api-usage?environment=live')).body.keys.length, 0)

  for (const [query, field] of [
    ['from=2026-01-01&to=2026-04-02', 'query.to'],
    ['from=2026-02-30', 'query.from'],
    ['to=tomorrow', 'query.to'],
    ['from=2026-02-02&to=2026-02-01', 'query.from'],
    ['apiKeyId=x', 'query.apiKeyId'],
    ['environment=staging', 'query.environment'],
    ['limit=5', 'query.limit'],
  ] as const)
    t.match(
      (await world.operator.get(`/integration/api-usage?${query}`)).problem,
      { status: 400, errors: [{ field }] },
      query,
    )
  t.equal(
    (await world.operator.get('/integration/api-usage?from=2026-01-01&to=2026-04-01')).status,
    200,
    'ninety days are fine',
  )

  const owner = await world.person('owner').signIn()
  t.match((await owner.get<ApiUsageReport>(`/api-keys/${keyId}/usage`)).body, {
    totals: { requests: 6 },
    keys: [{ apiKeyId: keyId }],
  })
  t.equal((await owner.get(`/api-keys/${await keyIdOf(world, other.id)}/usage`)).problem.code, 'not-found')

  const home = (await world.operator.get<IntegrationHome>('/integration')).body
  t.match(home, {
    operatorId: world.operator.tenantId,
    apiKeys: { active: 3, live: 0, test: 3, operatorLevel: 1 },
    connections: [{ provider: 'sandbox' }],
  })
  t.equal(home.usageLast7Days.length, 7)
  t.equal(home.usageLast7Days.at(-1)?.date, day(now))
  t.ok(home.usageLast7Days.at(-1)!.requests >= 7)
  t.ok(home.apiKeys.usedLast24h >= 2)
  t.equal(home.activeConnectionId, home.connections[0]?.id)
})

t.test('refusals for too many calls are counted apart', async (t) => {
  await using world = await createWorld({
    settings: { API_REQUEST_LOG_FLUSH_MS: '20' },
    // A fiftieth of the quotas, which any machine exceeds.
    overrides: { rateLimits: new RateLimits({ clock: systemClock, scale: 0.02 }) },
  })
  const { client } = world.seeded
  const keyId = await keyIdOf(world, client.tenantId)
  const replies = await Promise.all(Array.from({ length: 250 }, () => client.get('/balances?limit=1')))
  const refused = replies.filter(({ status }) => status === 429).length
  t.ok(refused > 0 && refused < 250, `${refused} of 250 calls were refused`)
  const report = await until(
    'they are counted',
    async () => {
      const { body } = await world.operator.get<ApiUsageReport>(`/integration/api-usage?apiKeyId=${keyId}`)
      return body.totals.rateLimited === refused ? body : null
    },
    { pollMs: 200 },
  )
  t.equal(report.totals.clientErrors, 0)
  t.equal(
    (await world.operator.get<ApiKeyRequestLog>(`/integration/api-keys/${keyId}/requests?outcome=rate_limited&limit=1`))
      .body.data[0]?.status,
    429,
  )
})

t.test('people are in the log, too, but not in the usage of keys', async (t) => {
  await using world = await createWorld(QUICK)
  const owner = await world.person('owner').signIn()
  await owner.get('/balances')
  const rows = await until('the calls are written', async () => {
    const found = await world.query<{ route: string; by_key: boolean }>(
      'select route, by_key from request_log where not by_key',
    )
    return found.some(({ route }) => route === '/balances') ? found : null
  })
  t.ok(rows.every(({ by_key: byKey }) => !byKey))
  t.equal(
    (
      await world.query(
        'select 1 from api_usage_day u where not exists (select from api_key k where k.id = u.api_key_id)',
      )
    ).length,
    0,
  )
})

t.test('a call is seen after the flush, and what is remembered is written before the service stops', async (t) => {
  await using world = await createWorld({ settings: { API_REQUEST_LOG_FLUSH_MS: '60000' } })
  for (let nth = 0; nth < 3; nth++) await world.seeded.client.get('/balances')
  t.equal((await world.query('select 1 from request_log')).length, 0)
  await world.restart()
  t.equal((await world.query<{ calls: number }>('select count(*)::int as calls from request_log'))[0]?.calls, 3)
})

t.test('single calls are kept for seven days, by partition, and the roll-up for good', async (t) => {
  await using world = await createWorld()
  const database = new Database(world.databaseUrl, 2)
  t.teardown(() => database.close())
  const keyId = await keyIdOf(world, world.seeded.client.tenantId)
  const now = world.now()
  const call = (daysAgo: number): LoggedRequest => ({
    at: now - daysAgo * DAY_MS,
    byKey: true,
    principalId: keyId,
    tenantId: world.seeded.client.tenantId,
    operationId: 'listBalances',
    method: 'GET',
    route: '/balances',
    status: 200,
    durationMs: 1.5,
    requestId: `r${daysAgo}`,
  })
  await writeRequests(database, [call(0)])
  // Eight days later.
  for (let days = 1; days <= 9; days++) await maintainPartitions(database, now + days * DAY_MS)
  t.equal((await world.query('select 1 from request_log')).length, 0)
  t.equal((await world.query('select 1 from api_usage_day where api_key_id = $1', [keyId])).length, 1)
  await maintainPartitions(database, now)
})

t.test('a batch is every call of it, and its counts: one key for two customers, around midnight', async (t) => {
  await using world = await createWorld()
  const database = new Database(world.databaseUrl, 2)
  t.teardown(() => database.close())
  const keyId = await keyIdOf(world, world.seeded.client.tenantId)
  const [personId, tenants] = ['01980d6e-0000-7000-8000-0000000000a1', ['01980d6e-0000-7000-8000-0000000000c1', keyId]]
  const midnight = Math.floor(world.now() / DAY_MS) * DAY_MS
  const random = new Random(7)
  const calls = Array.from({ length: 400 }, (_, nth): LoggedRequest => {
    const byKey = random.int(0, 4) > 0
    const operation = random.int(0, 2)
    return {
      at: midnight + random.int(-1_000, 999),
      byKey,
      principalId: byKey ? keyId : personId,
      tenantId: tenants[random.int(0, 1)]!,
      operationId: ['a', 'b', 'c'][operation]!,
      method: operation === 0 ? 'POST' : 'GET',
      route: ['/a', '/b,{c}', '/c"'][operation]!,
      status: [200, 422][random.int(0, 1)]!,
      durationMs: [1, 1.25, 900][random.int(0, 2)]!,
      requestId: `r${nth}, "quoted"`,
    }
  })
  await writeRequests(database, calls.slice(0, 150))
  await writeRequests(database, calls.slice(150))
  const rows = await world.query<object>(
    `select floor(extract(epoch from at) * 1000)::bigint::text as at, by_key, principal_id, tenant_id, method, route, status, duration_ms,
      request_id from request_log where request_id like 'r%quoted"'`,
  )
  const rowOf = (call: LoggedRequest) => ({
    at: String(call.at),
    by_key: call.byKey,
    principal_id: call.principalId,
    tenant_id: call.tenantId,
    method: call.method,
    route: call.route,
    status: call.status,
    duration_ms: call.durationMs,
    request_id: call.requestId,
  })
  const sorted = (list: readonly object[]) => list.map((row) => JSON.stringify(row)).sort()
  t.strictSame(sorted(rows), sorted(calls.map(rowOf)))
  const counts = new Map<string, number[]>()
  for (const { at, operationId, status, durationMs } of calls.filter(({ byKey }) => byKey)) {
    const key = [day(at), operationId, status, stepOf(durationMs)].join(' ')
    counts.set(key, [...(counts.get(key) ?? []), at])
  }
  const counted = await world.query<{ key: string; requests: string; first: string; last: string }>(
    `select concat_ws(' ', day::text, operation_id, status, duration_step) as key, requests::text,
      floor(extract(epoch from first_at) * 1000)::bigint::text as first, floor(extract(epoch from last_at) * 1000)::bigint::text as last
    from api_usage_day where api_key_id = $1 and operation_id in ('a', 'b', 'c')`,
    [keyId],
  )
  t.strictSame(
    sorted(counted),
    sorted(
      [...counts].map(([key, times]) => ({
        key,
        requests: String(times.length),
        first: String(Math.min(...times)),
        last: String(Math.max(...times)),
      })),
    ),
  )
})

t.test('while the database does not take it the log is bounded, and told once it does', async (t) => {
  const written: LoggedRequest[] = []
  const errors: string[] = []
  let broken = true
  const log = new RequestLog({
    flushMs: 60_000,
    onError: (_error, what) => errors.push(what),
    async write(requests) {
      if (broken) throw new Error('no')
      written.push(...requests)
    },
  })
  const call = (nth: number): LoggedRequest => ({
    at: nth,
    byKey: true,
    principalId: 'k',
    tenantId: 't',
    operationId: 'o',
    method: 'GET',
    route: '/',
    status: 200,
    durationMs: 1,
    requestId: `${nth}`,
  })
  for (let nth = 0; nth < 50_010; nth++) log.add(call(nth))
  await log.flush()
  t.strictSame(log.counters, { written: 0, dropped: 10, pending: 50_000 })
  t.ok(errors.length >= 1)
  broken = false
  await log.close()
  t.equal(written.length, 50_000)
  t.strictSame(
    written.map(({ requestId }) => Number(requestId)),
    Array.from({ length: 50_000 }, (_, nth) => nth),
    'in their order, each once',
  )
})

t.test('percentiles are within a tenth', (t) => {
  for (const duration of [0.2, 1, 7, 95, 1234]) {
    const found = percentile(new Map([[stepOf(duration), 10]]), 10, 0.95)
    t.ok(Math.abs(found - duration) <= 0.1 * duration + 0.05, `${duration} is shown as ${found}`)
  }
  t.equal(percentile(new Map(), 0, 0.5), 0)
  t.equal(
    percentile(
      new Map([
        [0, 95],
        [40, 5],
      ]),
      100,
      0.95,
    ),
    1,
  )
  t.equal(
    percentile(
      new Map([
        [0, 94],
        [40, 6],
      ]),
      100,
      0.95,
    ),
    1024,
  )
  t.end()
})
