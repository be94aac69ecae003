import t from 'tap'
import { problemsOf } from '../../../http/openapi/openapi-problems.ts'
import { routes } from '../../../http/server/routes.ts'
import { problemBody } from '../../../lib/base/problem-document.ts'
import { PROBLEMS, type ProblemSlug } from '../../../lib/base/problems.ts'
import { fakeWorld, request, startFake } from '../server/fake-world.ts'

const service = await startFake(fakeWorld())
t.teardown(service.stop)

interface Operation {
  readonly operationId: string
  readonly responses: Record<string, unknown>
  readonly parameters: { readonly $ref?: string; readonly name?: string }[]
  readonly security: object[]
}

t.test('the document is public, cacheable and conditional', async (t) => {
  const response = await request(`${service.origin}/v1/openapi.json`)
  t.equal(response.status, 200)
  t.equal(response.headers.get('cache-control'), 'public, max-age=300')
  t.equal(response.headers.get('x-contract-version'), '1.0.0-draft.14')
  const etag = response.headers.get('etag') as string
  t.match(etag, /^"[0-9a-f]+"$/, 'the tag is strong')
  const again = await request(`${service.origin}/v1/openapi.json`, { headers: { 'if-none-match': etag } })
  t.equal(again.status, 304)
  t.equal(again.headers.get('etag'), etag)
  t.equal(again.headers.get('cache-control'), 'public, max-age=300')
  t.equal(again.headers.get('x-contract-version'), '1.0.0-draft.14')
})

t.test('every route is in the document, and every reference in it leads somewhere', async (t) => {
  const text = await (await request(`${service.origin}/v1/openapi.json`)).text()
  const document = JSON.parse(text)
  t.equal(document.openapi, '3.1.0')
  t.equal(document.info.version, '1.0.0-draft.14')
  for (const route of routes) {
    const operation = document.paths[route.path]?.[route.method] as Operation | undefined
    t.equal(operation?.operationId, route.operationId)
    t.ok(operation?.responses[route.success.status], `${route.operationId} documents its success`)
    for (const slug of route.problems)
      t.ok(operation?.responses[PROBLEMS[slug].status], `${route.operationId} documents ${slug}`)
    t.equal(operation?.security.length, { public: 0, key: 3, session: 2, staff: 2 }[route.callers])
  }
  for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = (path as string)
      .split('/')
      .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document)
    if (target === undefined) t.fail(`nothing at ${path}`)
  }
})

t.test('operation ids are unique', async (t) => {
  t.equal(new Set(routes.map((route) => route.operationId)).size, routes.length)
})

t.test('a problem is always rendered to the same bytes', async (t) => {
  const request = { problemBase: 'https://docs.example/problems', instance: '/v1/payments', requestId: 'r' }
  for (const slug of Object.keys(PROBLEMS) as ProblemSlug[]) {
    const problem = {
      slug,
      detail: 'd',
      extra: { a: 1 },
      errors: [{ field: '/a', code: 'required', message: 'm' }],
    } as const
    const body = problemBody(problem, request)
    t.equal(problemBody(JSON.parse(JSON.stringify(problem)), request), body, slug)
    t.match(JSON.parse(body), { status: PROBLEMS[slug].status, code: slug, title: PROBLEMS[slug].title })
  }
  t.equal(JSON.parse(problemBody({ slug: 'provider-timeout', detail: '' }, request)).retryable, false)
  t.equal(
    JSON.parse(problemBody({ slug: 'provider-timeout', detail: '' }, { ...request, reading: true })).retryable,
    true,
  )
})

t.test('operations that use a quote list what its bank may refuse', (t) => {
  const isQuoted = ({ body }: (typeof routes)[number]) =>
    'quoteId' in ((body as { readonly properties?: object } | undefined)?.properties ?? {})
  // A draft is only stored with its quote, and a check answers with the errors that it finds.
  const storing = ['updatePayment', 'validatePayment']
  const using = routes.filter(
    (route) => route.operationId === 'submitPayment' || (isQuoted(route) && !storing.includes(route.operationId)),
  )
  t.equal(using.length, 6, using.map(({ operationId }) => operationId).join())
  for (const route of using)
    t.strictSame(
      ['feature-disabled', 'provider-error'].filter((slug) => !problemsOf(route).includes(slug as ProblemSlug)),
      [],
      route.operationId,
    )
  t.end()
})
