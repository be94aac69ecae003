/** The first entry into a production database: the command, the link, the first administrator. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { routes } from '../../http/server/routes.ts'
import type { AuditEvent } from '../../lib/identity/audit-event-schema.ts'
import type { AcceptedInvitation, OpenInvitation } from '../../lib/identity/member-schema.ts'
import type { FeatureFlags, Operator } from '../../lib/operators/operator-schema.ts'
import { FEATURE_DEFAULTS } from '../../lib/operators/features.ts'
import { INIT_COMMAND, NO_OPERATOR } from '../../lib/operators/first-entry.ts'
import type { PageBody } from '../support/client.ts'
import { createDataDir, runCommand, startNode } from '../support/node-process.ts'
import { Person } from '../support/person.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const production = (databaseUrl: string) => ({
  APP_ENV: 'production',
  DATABASE_URL: databaseUrl,
  SECRETS_KEY: 'k'.repeat(32),
  // No test of this file has a mail sent.
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'no-reply@acme.example',
  RATE_LIMITS: 'on',
  LOG_LEVEL: 'warn',
})
const INIT = ['init', '--operator', 'Acme Bank', '--email', 'Ann@acme.example', '--name', 'Ann Admin'] as const
const PASSWORD = 'correct horse battery'
const LINK = /^http:\/\/127\.0\.0\.1:3000\/invitations\/(inv_[\w-]{43})\n$/
/** A sentence on one line. */
const SENTENCE = /^[^\n]+\n$/
/** Half a minute, after which an authenticator shows another code. */
const CODE_MS = 30_000

interface Ready {
  readonly status: string
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[]
}

/** A connection to a database, which is closed before the database is dropped. */
async function connect(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

async function counted(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`)
  return rows[0]!.count
}

async function readiness(url: string): Promise<{ readonly status: number; readonly body: Ready }> {
  const answer = await fetch(`${url}/ready`)
  return { status: answer.status, body: (await answer.json()) as Ready }
}

const personAt = (url: string, tenantId: string, totpSecret = '', now: () => number = Date.now) =>
  new Person({ url: () => url, login: { email: 'ann@acme.example', password: PASSWORD, totpSecret }, tenantId, now })

t.test('the first administrator of an empty production database enters by the link of the command', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createEmptyDatabase()
  const env = production(database.url)
  await using node = await startNode(dataDir.path, env)
  await using client = await connect(database.url)

  const before = await readiness(node.url)
  t.equal(before.status, 503)
  t.strictSame(
    before.body.checks.filter(({ ok }) => !ok).map(({ name, detail }) => [name, detail]),
    [['operator', NO_OPERATOR]],
    'nothing but the operator is missing',
  )
  t.ok(NO_OPERATOR.includes(INIT_COMMAND))
  t.equal(node.stdout.split(NO_OPERATOR).length, 2, 'the log tells the command, once')

  const made = await runCommand(dataDir.path, [...INIT, '--json'], { ...env, PUBLIC_URL: 'https://bank.example' })
  t.match(made, { code: 0, stderr: '' })
  t.match(made.stdout, SENTENCE, 'one line')
  const { operatorId, link, expiresAt } = JSON.parse(made.stdout) as Record<string, string>
  t.match(link, /^https:\/\/bank\.example\/invitations\/inv_[\w-]{43}$/)
  t.ok(Date.parse(expiresAt!) > Date.now())
  const token = link!.slice(link!.lastIndexOf('/') + 1)
  await until('the node is ready without a restart', async () => (await readiness(node.url)).status === 200)

  const again = await runCommand(dataDir.path, INIT, env)
  t.match(again, { code: 2, stdout: '', stderr: SENTENCE }, 'a second operator is refused')
  t.match(again.stderr, /has an operator already/)
  t.equal(await counted(client, 'operator'), 1)
  t.equal(await counted(client, 'invitation'), 1)

  const page = await fetch(`${node.url}/invitations/${token}`)
  t.equal(page.status, 200, 'the link leads to a page')
  t.match(await page.text(), /You are invited to the team of Acme Bank[\s\S]*value="Ann Admin"/)

  const guest = personAt(node.url, operatorId!)
  const open = await guest.send<OpenInvitation>('GET', `/invitations/${token}`, undefined, {}, null)
  t.match(open.body, {
    customerName: null,
    operatorName: 'Acme Bank',
    email: 'Ann@acme.example',
    name: 'Ann Admin',
    role: 'operator_admin',
    expiresAt,
    knownPerson: false,
  })
  const accept = () =>
    guest.send<AcceptedInvitation>('POST', `/invitations/${token}/accept`, { password: PASSWORD }, {}, null)
  const accepted = await accept()
  t.match(accepted.body, { customerId: null, operatorId, email: 'Ann@acme.example' })
  t.equal((await accept()).problem.code, 'not-found', 'the link works once')

  const ann = await personAt(node.url, operatorId!).signIn()
  t.match((await ann.get('/operator')).problem, { status: 401, code: 'mfa-required' }, 'a second factor comes first')
  const factor = (await ann.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' })).body
  const enrolled = personAt(node.url, operatorId!, factor.secret)
  enrolled.token = ann.token
  t.equal((await enrolled.post(`/users/me/mfa-factors/${factor.id}/verify`, { code: enrolled.code() })).status, 200)
  t.match((await enrolled.get<Operator>('/operator')).body, { id: operatorId, name: 'Acme Bank' })

  // A code is taken once, so this authenticator shows the next.
  const later = await personAt(node.url, operatorId!, factor.secret, () => Date.now() + CODE_MS).signIn()
  t.match((await later.get<Operator>('/operator')).body, { id: operatorId })
  t.match((await later.get('/sessions/current')).body, {
    memberships: [{ tenantId: operatorId, role: 'operator_admin' }],
  })
  t.strictSame(
    (await later.get<FeatureFlags>('/operator/feature-flags')).body.flags,
    { ...FEATURE_DEFAULTS, sandbox: false },
    'the features of a new operator',
  )
  const { data } = (await later.get<PageBody<AuditEvent>>('/audit-events')).body
  t.strictSame(
    data.map(({ action, actor }) => [action, actor.type]).filter(([action]) => !/^(session|mfa)/.test(action!)),
    [
      ['invitation.accepted', 'staff'],
      ['invitation.created', 'system'],
      ['operator.created', 'system'],
    ],
  )
  t.notMatch(node.stdout + node.stderr, token, 'the token is in no log')
})

t.test('nothing of the sandbox is in production', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createEmptyDatabase()
  const env = production(database.url)
  const { stdout } = await runCommand(dataDir.path, INIT, env)
  const token = LINK.exec(stdout)?.[1]
  t.ok(token, `the link alone is printed: ${stdout}`)
  await using node = await startNode(dataDir.path, env)
  t.notMatch(node.stdout, /sandbox|curl|no operator/i)
  await t.rejects(access(join(dataDir.path, 'sandbox.json')), { code: 'ENOENT' })

  await using client = await connect(database.url)
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_name like 'sandbox%'`,
  )
  t.ok(tables.length > 0)
  for (const table of [
    'provider_connection',
    'customer',
    'balance',
    'recipient',
    'api_key',
    'platform_user',
    'session',
  ])
    t.equal(await counted(client, table), 0, table)
  for (const { name } of tables) t.equal(await counted(client, name), 0, name)
  const { rows: operators } = await client.query<{ id: string; name: string }>('select id, name from operator')
  t.match(operators, [{ name: 'Acme Bank' }])
  t.equal(operators.length, 1)

  // Whoever belongs to a customer finds no simulation either.
  const operatorId = operators[0]!.id
  const customerId = '00000000-0000-7000-8000-000000000001'
  const guest = personAt(node.url, operatorId)
  await guest.send('POST', `/invitations/${token}/accept`, { password: PASSWORD }, {}, null)
  await client.query(
    `insert into customer (id, operator_id, number, legal_name, customer_type, identity_type, incorporation_country, status, shard, created_at, updated_at)
     values ($1, $2, 'A-1', 'First Customer', 'business', 'corporate', 'NL', 'active', 0, now(), now())`,
    [customerId, operatorId],
  )
  await client.query(
    `insert into membership (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at)
     select gen_random_uuid(), id, 'customer', $1, $2, 'owner', 'active', now(), now() from platform_user`,
    [customerId, operatorId],
  )
  const owner = await personAt(node.url, customerId).signIn()
  const simulated = routes.filter(({ sandbox }) => sandbox !== undefined)
  t.ok(simulated.length > 10, `${simulated.length} operations of the sandbox`)
  for (const { method, path, callers, tenant } of simulated) {
    if (callers === 'staff' || tenant === 'operator') continue
    const place = path.replaceAll(/\{\w+\}/g, customerId)
    const reply = await owner.send(method.toUpperCase(), place, method === 'get' ? undefined : {})
    t.match(reply.problem, { code: 'feature-disabled', feature: 'sandbox' }, `${method} ${path}`)
  }
  const key = `svc_test_${'a'.repeat(32)}`
  t.equal((await owner.send('GET', '/balances', undefined, {}, key)).problem.code, 'invalid-api-key')
})

t.test('of two commands at the same moment one makes the operator', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createEmptyDatabase()
  const env = production(database.url)
  const both = await Promise.all([runCommand(dataDir.path, INIT, env), runCommand(dataDir.path, INIT, env)])
  t.strictSame(both.map(({ code }) => code).sort(), [0, 2], both.map(({ stderr }) => stderr).join(''))
  t.match(both.find(({ code }) => code === 0)!.stdout, LINK)
  t.match(
    both.find(({ code }) => code === 2),
    { stdout: '', stderr: /has an operator already/ },
  )
  await using client = await connect(database.url)
  t.equal(await counted(client, 'operator'), 1)
  t.equal(await counted(client, 'invitation'), 1)
})

t.test('wrong arguments and settings are told in a sentence and change nothing', async (t) => {
  await using dataDir = await createDataDir()
  await using database = await createEmptyDatabase()
  const env = production(database.url)
  const replaced = (name: string, value: string) =>
    INIT.map((text, at) => (INIT[at - 1] === `--${name}` ? value : text))
  for (const [args, sentence] of [
    [[], /^Unknown command; use: /],
    [['start'], /^Unknown command; use: /],
    [[...INIT, 'more'], /^Unknown command; use: /],
    [[...INIT, '--force'], /--force/],
    [['init', '--operator', 'Acme Bank', '--name', 'Ann'], /^--email is missing; use: /],
    [['init', '--operator', 'Acme Bank', '--name', 'Ann', '--email'], /--email/],
    [replaced('email', 'ann'), /^--email is wrong: /],
    [replaced('operator', '  '), /^--operator is wrong: /],
    [replaced('operator', 'a'.repeat(141)), /^--operator is wrong: /],
    [replaced('name', 'Ann\u0007'), /^--name is wrong: /],
  ] as const) {
    const { code, stdout, stderr } = await runCommand(dataDir.path, args, env)
    t.strictSame({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.match(stderr, SENTENCE)
    t.match(stderr, sentence)
  }
  const unset = await runCommand(dataDir.path, INIT, { APP_ENV: 'production', RATE_LIMITS: 'on' })
  t.match(unset, { code: 1, stdout: '', stderr: /^DATABASE_URL is required / })
  await using client = await connect(database.url)
  const { rows } = await client.query(`select from information_schema.tables where table_schema = 'public'`)
  t.equal(rows.length, 0, 'the database is as empty as before')
})

t.test('without DATABASE_URL the operator is made in the embedded database, which stops again', async (t) => {
  await using dataDir = await createDataDir()
  const { code, stdout, stderr } = await runCommand(dataDir.path, [...INIT, '--json'])
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { operatorId: String, link: String, expiresAt: String })
  t.equal(await dataDir.postmaster(), null)
})
