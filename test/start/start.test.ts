import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

import t from 'tap'

import { isApiKeyText } from '../../lib/identity/api-key.ts'
import type { Payment } from '../../lib/payments/payment-schema.ts'
import { Client } from '../support/client.ts'
import { createDataDir, runNode, startNode } from '../support/node-process.ts'
import type { DataDir, NodeProcess } from '../support/node-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { paymentBody } from '../support/world.ts'

const run = promisify(execFile)
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
/** The time that the contract gives a service to stop. */
const STOP_MS = 20_000

/** A sentence on one line, without internal details. */
const SENTENCE = /^[A-Z/][^\n]*\.\n$/

async function clientOf(dataDir: DataDir, node: NodeProcess): Promise<Client> {
  const { customer } = await dataDir.sandbox()
  return new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
}

/** The command that the start prints, from `curl` to the empty line. */
function printedCurl(stdout: string): string {
  return /^curl [^]*?(?=\n\n)/m.exec(stdout)?.[0] ?? ''
}

t.test('the first start prints a command that makes a payment; later ones find everything again', async (t) => {
  await using dataDir = await createDataDir()
  let first: Awaited<ReturnType<DataDir['sandbox']>>
  let paid: Payment
  {
    await using node = await startNode(dataDir.path)
    t.match(node.stdout, new RegExp(`vostro listens on ${node.url}/v1\n`))
    t.match(node.stdout, `${node.url}/v1/openapi.json`)
    t.match(node.stdout, `${node.url}/docs`)
    first = await dataDir.sandbox()
    t.equal((await stat(join(dataDir.path, 'sandbox.json'))).mode & 0o777, 0o600, 'keys are for their owner alone')
    t.equal((await stat(join(dataDir.path, 'secrets.key'))).mode & 0o777, 0o600)
    t.match(first, {
      baseUrl: `${node.url}/v1`,
      operator: { id: UUID, apiKey: /^svc_test_/ },
      customer: {
        id: UUID,
        apiKey: /^svc_test_/,
        balances: { EUR: UUID, GBP: UUID, USD: UUID, JPY: UUID },
        recipients: { EUR: UUID, GBP: UUID, USD: UUID },
      },
    })
    t.ok(isApiKeyText(first.operator.apiKey) && isApiKeyText(first.customer.apiKey))

    const curl = printedCurl(node.stdout)
    t.match(curl, /^curl /)
    const { stdout } = await run('bash', ['-c', curl])
    t.match(stdout, /^HTTP\/1\.1 201 Created\r\n/, stdout)
    paid = JSON.parse(stdout.slice(stdout.indexOf('\r\n\r\n') + 4)) as Payment
    t.match(paid, {
      status: 'processing',
      amount: { amountMinor: '1250', currency: 'EUR' },
      sourceBalanceId: first.customer.balances.EUR,
    })
    const repeated = await run('bash', ['-c', curl])
    t.match(repeated.stdout, /Idempotency-Replayed: true/i, 'pasted twice it pays once')
    await (await clientOf(dataDir, node)).paymentReaching(paid.id, 'completed')
    t.equal(node.stderr, '')
    node.kill('SIGTERM')
    t.strictSame(await node.ended, { code: 0, signal: null })
    t.equal(await dataDir.postmaster(), null, 'the database stops with the service')
  }
  {
    await using node = await startNode(dataDir.path)
    const second = await dataDir.sandbox()
    t.strictSame({ ...second, baseUrl: '' }, { ...first, baseUrl: '' }, 'ids and keys are the same')
    t.equal(second.baseUrl, `${node.url}/v1`)
    t.equal((await stat(join(dataDir.path, 'sandbox.json'))).mode & 0o777, 0o600)
    const client = await clientOf(dataDir, node)
    t.equal((await client.payment(paid.id)).status, 'completed')
    t.equal(
      (await client.balance(second.customer.balances.EUR)).bookBalance.amountMinor,
      String(10_000_000 - 1250),
      'nothing was seeded twice',
    )
    const { stdout } = await run('bash', ['-c', printedCurl(node.stdout)])
    t.match(stdout, /^HTTP\/1\.1 201/, 'the command of the second start works too')
    t.notMatch(stdout, /Idempotency-Replayed/i, 'and is another payment')
    node.kill('SIGINT')
    t.strictSame(await node.ended, { code: 0, signal: null }, 'Ctrl-C is as good as SIGTERM')
  }
  {
    await rm(join(dataDir.path, 'sandbox.json'))
    await using node = await startNode(dataDir.path)
    const third = await dataDir.sandbox()
    t.strictSame({ ...third, baseUrl: '' }, { ...first, baseUrl: '' }, 'a lost file comes back as it was')
    t.equal((await (await clientOf(dataDir, node)).get('/balances')).status, 200)
    t.strictSame(
      (await dataDir.audit()).checks.filter(({ disagreeing }) => disagreeing > 0),
      [],
      'the books are right',
    )
    node.kill('SIGTERM')
    await node.ended
  }
  for (const content of ['{"baseUrl":', '', 'null', '{}', '{"operator":{"apiKey":1}}']) {
    await writeFile(join(dataDir.path, 'sandbox.json'), content)
    const broken = await runNode(dataDir.path)
    t.equal(broken.code, 1, content)
    t.match(broken.stderr, SENTENCE, content)
    t.match(broken.stderr, join(dataDir.path, 'sandbox.json'), content)
    t.equal(await dataDir.postmaster(), null, 'a start that fails leaves no database running')
  }
})

t.test('what cannot start says why in one sentence, and leaves', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createTestDatabase()
  const port = createServer().listen(0, '127.0.0.1')
  await once(port, 'listening')
  t.teardown(() => port.close())
  const taken = String((port.address() as AddressInfo).port)
  const unreachable = 'postgres://vostro:swordfish@127.0.0.1:1/vostro'
  const wrongPassword = database.url.replace(/:[^:@/]+@/, ':swordfish@')

  for (const [what, env, sentence] of [
    ['a port that is no number', { PORT: 'http' }, /^PORT is "http"; set it to /],
    ['an unknown environment', { APP_ENV: 'test' }, /^APP_ENV is "test"; set it to /],
    ['a number of lanes out of range', { COMMIT_LANES: '0' }, /^COMMIT_LANES is "0"; set it to /],
    ['an address that is none', { DATABASE_URL: 'localhost' }, /^DATABASE_URL is not /],
    ['production without a database', { APP_ENV: 'production' }, /^DATABASE_URL is required /],
    ['production without a secret', { APP_ENV: 'production', DATABASE_URL: unreachable }, /^SECRETS_KEY is required /],
    [
      'production without a mail server',
      { APP_ENV: 'production', DATABASE_URL: unreachable, SECRETS_KEY: 'k'.repeat(32), RATE_LIMITS: 'on' },
      /^SMTP_URL is required /,
    ],
    ['a short secret', { SECRETS_KEY: 'swordfish' }, /^SECRETS_KEY has 9 characters; /],
    [
      'a database that is not there',
      { DATABASE_URL: unreachable },
      /127\.0\.0\.1:1 cannot be reached .*; start it or correct DATABASE_URL\./,
    ],
    ['a database that does not know us', { DATABASE_URL: wrongPassword }, /cannot be reached .*correct DATABASE_URL\./],
    [
      'a port in use',
      { PORT: taken, DATABASE_URL: database.url },
      new RegExp(`^Port ${taken} on 127\\.0\\.0\\.1 is in use; `),
    ],
    ['a host that is not ours', { HOST: '192.0.2.1', DATABASE_URL: database.url }, /HOST/],
    ['a DATA_DIR that is a file', { DATA_DIR: join(import.meta.dirname, 'start.test.ts') }, /DATA_DIR/],
    ['a port in use, with a database of our own', { PORT: taken }, new RegExp(`^Port ${taken} `)],
  ] as const) {
    const began = performance.now()
    const { code, signal, stdout, stderr } = await runNode(dataDir.path, env)
    t.strictSame({ code, signal }, { code: 1, signal: null }, `${what}: ends with 1: ${stderr}`)
    t.match(stderr, SENTENCE, `${what}: says one sentence: ${stderr}`)
    t.match(stderr, sentence, what)
    t.notMatch(stderr + stdout, 'swordfish', `${what}: shows no secret`)
    t.notMatch(stdout, 'listens on', what)
    t.ok(performance.now() - began < 30_000, `${what}: does not make anybody wait`)
  }
  t.equal(await dataDir.postmaster(), null, 'no database is left running')
})

t.test('a DATA_DIR in use is refused and the one who uses it goes on', async (t) => {
  await using dataDir = await createDataDir()
  await using node = await startNode(dataDir.path)
  const before = await readFile(join(dataDir.path, 'sandbox.json'), 'utf8')
  const second = await runNode(dataDir.path)
  t.equal(second.code, 1)
  t.equal(
    second.stderr,
    `DATA_DIR ${dataDir.path} is in use by another running vostro (process ${node.pid}); stop it or set another DATA_DIR.\n`,
  )
  t.equal(await readFile(join(dataDir.path, 'sandbox.json'), 'utf8'), before)
  const { customer } = await dataDir.sandbox()
  const client = await clientOf(dataDir, node)
  t.equal((await client.createPayment(paymentBody(customer.balances.EUR, customer.recipients.EUR, 1))).status, 201)
  node.kill('SIGTERM')
  t.strictSame(await node.ended, { code: 0, signal: null })
})

t.test('SIGTERM under load: what was accepted is answered, and the process is gone in time', async (t) => {
  await using dataDir = await createDataDir()
  const answered: { readonly key: string; readonly text: string }[] = []
  const unanswered: string[] = []
  const bodyFor = async (amount: number) => {
    const { customer } = await dataDir.sandbox()
    return paymentBody(customer.balances.EUR, customer.recipients.EUR, amount)
  }
  {
    await using node = await startNode(dataDir.path)
    const client = await clientOf(dataDir, node)
    const { customer } = await dataDir.sandbox()
    const body = await bodyFor(2500)

    let terminated = false
    const load = Array.from({ length: 16 }, async () => {
      for (;;) {
        const key = randomUUID()
        const reply = await client.createPayment(body, key).catch(() => null)
        if (reply === null) {
          unanswered.push(key)
          if (terminated) return
        } else if (reply.status === 201) answered.push({ key, text: reply.text })
        else t.equal(reply.status, 503, reply.text)
      }
    })
    await until('the load is running', () => answered.length >= 100)

    // A request whose header was acknowledged with 100 Continue is accepted beyond doubt; its body comes after the
    // signal.
    const accepted = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const key = randomUUID()
        const text = JSON.stringify(body)
        const call = request(`${node.url}/v1/payments`, {
          method: 'POST',
          agent: false,
          headers: {
            authorization: `Bearer ${customer.apiKey}`,
            'x-tenant-id': customer.id,
            'idempotency-key': key,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            expect: '100-continue',
          },
        })
        const answer = once(call, 'response')
        answer.catch(() => undefined)
        call.flushHeaders()
        await once(call, 'continue', { signal: AbortSignal.timeout(10_000) })
        return { key, text, call, answer }
      }),
    )
    const began = performance.now()
    node.kill('SIGTERM')
    terminated = true
    await until('new connections are refused', () =>
      fetch(`${node.url}/health`, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    )
    for (const { call, text } of accepted) call.end(text)
    for (const { key, answer } of accepted) {
      const [response] = await answer
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      t.equal(response.statusCode, 201, text)
      answered.push({ key, text })
    }
    t.strictSame(await node.ended, { code: 0, signal: null }, node.stderr)
    const took = performance.now() - began
    t.ok(took < STOP_MS, `it took ${Math.round(took)} ms`)
    t.equal(node.stderr, '')
    await Promise.all(load)
    t.equal(await dataDir.postmaster(), null)
  }
  await using node = await startNode(dataDir.path)
  const client = await clientOf(dataDir, node)
  const body = await bodyFor(2500)
  for (const { key, text } of answered) {
    const again = await client.createPayment(body, key)
    if (again.text !== text) t.fail('what was answered is still so', { was: text, is: again.text })
  }
  const late = await Promise.all(unanswered.map((key) => client.createPayment(body, key)))
  t.ok(late.length <= 16 && late.every(({ status }) => status === 201), 'what was not answered can be sent again')
  const [{ payments } = { payments: 0 }] = await dataDir.query<{ payments: number }>(
    'select count(*)::int as payments from payment',
  )
  t.equal(
    payments,
    answered.length + unanswered.length,
    `${answered.length} answered, ${unanswered.length} not: each is there once`,
  )
  await client.paymentsSettled(60_000)
  t.strictSame(
    (await dataDir.audit()).checks.filter(({ disagreeing }) => disagreeing > 0),
    [],
    'the books are right',
  )
  node.kill('SIGTERM')
  t.strictSame(await node.ended, { code: 0, signal: null })
})
