/**
 * The document of the whole table: sound for linters, true in its examples, and good for generating a client that
 * works.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { problemsOf } from '../../http/openapi/openapi-problems.ts'
import { routes } from '../../http/server/routes.ts'
import { ProblemSchema } from '../../lib/contract/problem.ts'
import { PROBLEMS } from '../../lib/base/problems.ts'
import { createWorld } from '../support/world.ts'

interface Media {
  readonly example?: unknown
  readonly schema?: object
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly $ref?: string; readonly name: string; readonly description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Answer | { readonly $ref: string }>>
}
interface Answer {
  readonly description: string
  readonly headers: object
  readonly content?: Readonly<Record<string, Media>>
}
/** The report of the journey; the journey itself is compiled apart, since what it is made from exists only then. */
interface Travelled {
  readonly unchanged: number
  readonly payment: { readonly id: string }
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly examples: Readonly<Record<string, { readonly value: { readonly status: number } }>>
    readonly responses: Readonly<Record<string, Answer>>
  }
}

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const source = (await world.operator.send('/v1/openapi.json')).text
const document = JSON.parse(source) as Document
/** An answer that several operations share stands in the components. */
const answerOf = (response: Answer | { readonly $ref: string } | undefined): Answer | undefined =>
  response !== undefined && '$ref' in response
    ? document.components.responses[response.$ref.replace('#/components/responses/', '')]
    : response

/** Paths of which a request fits both by its words; the id in one of them is no word, so none does. */
const PATH = String.raw`\`/(?:exchanges/(?:quotes/\{quoteId\}|\{exchangeId\}/\w+)|bulk-payments/(?:templates/\{format\}|\{bulkPaymentId\}/\w+)|collection-files/(?:responses/\{jobId\}|\{fileId\}/\w+))\``
const ALIKE = new RegExp(`^Paths should resolve unambiguously. Found two ambiguous paths: ${PATH} and ${PATH}`)

t.test('linters find nothing', async (t) => {
  for (const preset of ['recommended', 'recommended-strict']) {
    const found = await lintFromString({
      source,
      absoluteRef: `${world.url}/v1/openapi.json`,
      config: await createConfig({ extends: [preset] }),
    })
    const told = found.filter(({ ruleId, message }) => ruleId !== 'no-ambiguous-paths' || !ALIKE.test(message))
    t.strictSame(
      told.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      [],
      preset,
    )
  }
})

t.test('problems that operations share stand once in the document', (t) => {
  const { responses } = document.components
  const texts = Object.values(responses).map((response) => JSON.stringify(response))
  t.equal(new Set(texts).size, texts.length)
  const places = new Map<string, number>()
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item)))
    for (const response of Object.values(operation.responses)) {
      const place = JSON.stringify(response)
      places.set(place, (places.get(place) ?? 0) + 1)
      if (!('$ref' in response) && response.content?.['application/problem+json'] !== undefined)
        t.equal(places.get(place), 1, `${operation.operationId}: ${response.description}`)
    }
  for (const name of Object.keys(responses))
    t.ok((places.get(JSON.stringify({ $ref: `#/components/responses/${name}` })) ?? 0) > 1, name)
  t.end()
})

t.test('every parameter says what it is', (t) => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { parameters = [] }] of Object.entries(operations)) {
      for (const { $ref, name, description } of parameters)
        if ($ref === undefined) t.match(description, /\S/, `${method} ${path} ${name}`)
    }
  }
  t.end()
})

t.test('every operation has examples, and every example is what its schema says', async (t) => {
  for (const { operationId, method, path, body, success } of routes) {
    const { requestBody, responses } = document.paths[path]![method]!
    for (const [what, schema, content] of [
      ['body', body, requestBody?.content],
      ['success', success.schema, answerOf(responses[success.status])?.content],
    ] as const) {
      if (schema === undefined) continue
      const media = content?.[what === 'body' ? 'application/json' : (success.contentType ?? 'application/json')]
      const { example } = media ?? {}
      t.not(example, undefined, `${operationId}: its ${what} has an example`)
      const validator = Compile(schema as TSchema)
      const errors = validator.Check(example)
        ? []
        : validator.Errors(example).map(({ instancePath, message }) => `${instancePath} ${message}`)
      t.strictSame(
        errors,
        [],
        `${operationId}: the example of its ${what} is valid; give what is not an example of its own in its schema`,
      )
    }
  }
})

t.test('every operation documents its problems with examples, its headers and who may call', async (t) => {
  const problem = Compile(ProblemSchema)
  for (const route of routes) {
    const operation = document.paths[route.path]![route.method]!
    for (const slug of problemsOf(route)) {
      const media = answerOf(operation.responses[PROBLEMS[slug].status])?.content?.['application/problem+json']
      t.equal(media?.examples?.[slug]?.$ref, `#/components/examples/${slug}`, `${route.operationId}: ${slug}`)
    }
    for (const [status, given] of Object.entries(operation.responses)) {
      const response = answerOf(given) as Answer
      t.ok('X-Request-Id' in response.headers, `${route.operationId} ${status}: the request id`)
      if (route.callers !== 'public')
        t.ok(
          'RateLimit' in response.headers && 'RateLimit-Policy' in response.headers,
          `${route.operationId} ${status}: limits`,
        )
      if (status === '429' || status === '503')
        t.ok('Retry-After' in response.headers, `${route.operationId} ${status}: when to come back`)
    }
    t.equal(
      operation.security.length,
      { public: 0, key: 3, session: 2, staff: 2 }[route.callers],
      `${route.operationId}: who may call`,
    )
    t.ok(operation.summary !== '' && operation.description !== '')
  }
  for (const [slug, { value }] of Object.entries(document.components.examples)) t.ok(problem.Check(value), slug)
})

t.test('a client generated from the document compiles, and gets a person from signing in to a payment', async (t) => {
  const directory = join(import.meta.dirname, 'client')
  const generator = join(
    dirname(createRequire(join(import.meta.dirname, 'client-generator/package.json')).resolve('openapi-typescript')),
    'index.mjs',
  )
  const { default: openapiTS, astToString } = (await import(pathToFileURL(generator).href)) as {
    readonly default: (source: string, options?: object) => Promise<unknown>
    readonly astToString: (ast: unknown) => string
  }
  const warnings: string[] = []
  const { warn } = console
  console.warn = (...words: unknown[]) => {
    warnings.push(words.join(' '))
  }
  const generated = await openapiTS(source)
    .then(astToString)
    .finally(() => {
      console.warn = warn
    })
  t.strictSame(warnings, [], 'the generator has nothing to say')
  // In one step: another run may be compiling.
  await writeFile(join(directory, `generated.ts.${process.pid}`), generated)
  await rename(join(directory, `generated.ts.${process.pid}`), join(directory, 'generated.ts'))

  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  // Tap loads itself into every process of a test, which the compiler does not survive.
  const compiler = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, tsc, '--noEmit', '-p', directory], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  compiler.stdout.on('data', (text) => {
    said += text
  })
  compiler.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(compiler, 'close')
  t.equal(code, 0, `it compiles: ${said.slice(0, 2_000)}`)
  if (code !== 0) return

  const { travel } = (await import(pathToFileURL(join(directory, 'journey.ts')).href)) as {
    readonly travel: (traveller: object) => Promise<Travelled>
  }
  const owner = world.person('owner')
  const { seeded } = world
  const travelled = await travel({
    baseUrl: `${world.url}/v1`,
    email: owner.login.email,
    password: owner.login.password,
    code: () => owner.code(),
    customerId: seeded.client.tenantId,
    balanceId: seeded.balances.EUR,
    recipientId: seeded.recipients.EUR,
  })
  t.match(travelled, {
    payment: { status: 'processing', amount: { amountMinor: '1250', currency: 'EUR' }, createdVia: 'api_key' },
    replayed: 'true',
    unchanged: Number,
    refusal: { code: 'validation-error', errors: [{ field: '/amount/amountMinor', code: 'too_small' }] },
    names: ['Generated client', 'Sandbox key'],
  })
  t.ok([200, 304].includes(travelled.unchanged), 'unless the payment has gone on meanwhile')
  await seeded.client.paymentReaching(travelled.payment.id, 'completed')
})
