import Type from 'typebox'
import t from 'tap'
import { json } from '../../../http/route/answer.ts'
import { deprecationHeaders } from '../../../http/server/deprecation.ts'
import { openapiDocument } from '../../../http/openapi/openapi.ts'
import { route } from '../../../http/route/route.ts'
import { createWorld } from '../../support/world.ts'
import { until } from '../../support/until.ts'

const shared = {
  method: 'get',
  tag: 'public-api',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'customer',
  idempotency: 'none',
  problems: [],
  success: { status: 200, description: 'Made up.', schema: Type.Object({}) },
  handle: () => json(200, {}),
} as const
const leaving = route({
  ...shared,
  path: '/made-up',
  operationId: 'leaving',
  summary: 'Made up',
  deprecated: { since: '2026-01-31', sunset: '2026-08-31' },
})
const staying = route({
  ...shared,
  path: '/made-up-too',
  operationId: 'staying',
  summary: 'Made up',
  deprecated: { since: '2026-01-31' },
})
const sound = route({ ...shared, path: '/made-up-as-well', operationId: 'sound', summary: 'Made up' })

t.test('every answer of a deprecated operation says so, until when, and where to read about it', async (t) => {
  await using world = await createWorld({
    overrides: { routes: [leaving, staying, sound] },
    settings: { API_REQUEST_LOG_FLUSH_MS: '20', PROBLEM_BASE: 'https://docs.example/problems' },
  })
  const { client } = world.seeded
  const replies = [
    await client.get('/made-up'),
    await client.get('/made-up?nonsense=1'),
    await client.with({ apiKey: 'nonsense' }).get('/made-up'),
    await client.send('/v1/made-up', { method: 'HEAD' }),
  ]
  t.strictSame(
    replies.map(({ status }) => status),
    [200, 400, 401, 200],
    'it works, and its refusals carry the headers, too',
  )
  for (const { headers } of replies) {
    t.equal(headers.get('deprecation'), `@${Date.UTC(2026, 0, 31) / 1000}`)
    t.equal(headers.get('sunset'), 'Mon, 31 Aug 2026 00:00:00 GMT')
    t.equal(
      headers.get('link'),
      '<https://docs.example/deprecations#leaving>; rel="deprecation", <https://docs.example/deprecations#leaving>; rel="sunset"',
    )
  }
  const second = await client.get('/made-up-too')
  t.equal(second.headers.get('deprecation'), `@${Date.UTC(2026, 0, 31) / 1000}`)
  t.notOk(second.headers.has('sunset'))
  t.equal(second.headers.get('link'), '<https://docs.example/deprecations#staying>; rel="deprecation"')
  for (const name of ['deprecation', 'sunset', 'link'])
    t.notOk((await client.get('/made-up-as-well')).headers.has(name), name)
  t.equal(
    (await client.send('/v1/made-up', { method: 'DELETE' })).headers.has('deprecation'),
    false,
    'what is not supported is not deprecated',
  )

  interface Report {
    readonly keys: { readonly deprecatedOperations: object[] }[]
  }
  const keys = await until("its use is in the operator's report", async () => {
    const report = (await world.operator.get<Report>(`/integration/api-usage?customerId=${client.tenantId}`)).body
    return report.keys.find(({ deprecatedOperations }) => deprecatedOperations.length === 2)?.deprecatedOperations
  })
  t.strictSame(
    keys.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)),
    [
      { operationId: 'leaving', requests: 3 },
      { operationId: 'staying', requests: 1 },
    ],
  )
})

t.test('the document marks it, with its headers', (t) => {
  const document = openapiDocument([leaving, sound]) as {
    paths: Record<string, Record<string, { deprecated?: boolean; responses: Record<string, { headers: object }> }>>
  }
  t.equal(document.paths['/made-up']?.['get']?.deprecated, true)
  t.ok('Deprecation' in document.paths['/made-up']!['get']!.responses['200']!.headers)
  t.ok('Sunset' in document.paths['/made-up']!['get']!.responses['400']!.headers)
  t.notOk('deprecated' in document.paths['/made-up-as-well']!['get']!)
  t.end()
})

t.test(
  'a sunset before the deprecation cannot be declared, nor one that leaves integrators less than half a year',
  (t) => {
    const headers = (callers: 'key' | 'session', since: string, sunset?: string) => () =>
      deprecationHeaders(
        { operationId: 'a', callers },
        { since, ...(sunset === undefined ? {} : { sunset }) },
        'https://docs.example/problems',
      )
    t.throws(headers('session', '2026-02-01', '2026-01-01'), /before/)
    t.throws(headers('key', 'soon'), /not a date/)
    t.throws(headers('key', '2026-01-31', '2026-07-30'), /6 months/)
    t.doesNotThrow(headers('key', '2026-01-31', '2026-07-31'))
    t.doesNotThrow(headers('session', '2026-01-31', '2026-02-28'))
    t.end()
  },
)
