/** Connections of an operator to banking partners, over HTTP. */
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { ConnectionMigrationView, ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { bySandbox, SANDBOX_SECRET } from '../kyc/support.ts'
import { deliver, eventBody, putSecret } from './inbox-support.ts'

const PATH = '/provider-connections'

/** Sends a change that needs a fresh proof. */
async function proven<Body = ProviderConnectionView>(staff: Person, path: string, body?: object, method = 'POST') {
  await staff.stepUp('provider_connection.change')
  return await staff.send<Body>(method, path, body)
}

const read = async (staff: Person, id: string) => (await staff.get<ProviderConnectionView>(`${PATH}/${id}`)).body

/** Changes a connection as it is now. */
async function change(staff: Person, id: string, body: object) {
  const etag = (await staff.get(`${PATH}/${id}`)).headers.get('etag') as string
  return await staff.send<ProviderConnectionView>('PATCH', `${PATH}/${id}`, body, { 'if-match': etag })
}

/** Makes a connection to the sandbox bank, and verifies it. */
async function verified(staff: Person, body: object = {}): Promise<string> {
  const made = await proven(staff, PATH, { provider: 'sandbox', name: 'Second bank', ...body })
  if (made.status !== 201) throw new Error(made.text)
  const tried = await staff.post(`${PATH}/${made.body.id}/verify`)
  if (tried.status !== 200) throw new Error(tried.text)
  return made.body.id
}

const eventsOf = async (world: World, id: string) =>
  (
    await world.query<{ status: string; previous_status: string }>(
      `select status, previous_status from outbox where type = 'provider_connection.status_changed' and object_id = $1 order by created_at, id`,
      [id],
    )
  ).map((event) => `${event.previous_status} ${event.status}`)

/** Sums the ledger of a connection's cash account in a currency, minor units. */
async function nostroOf(world: World, connectionId: string, currency: string): Promise<bigint> {
  const [row] = await world.query<{ total: string }>(
    `select coalesce(sum(case when p.debit_account = a.id then p.amount else -p.amount end), 0) as total
     from account a left join posting p on a.id in (p.debit_account, p.credit_account) where a.key = 'nostro' and a.connection_id = $1 and a.currency = $2`,
    [connectionId, currency],
  )
  return BigInt(row!.total)
}

t.test('a connection from its draft to its retirement', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const second = await world.person('integration').signIn()
  const [first] = (await admin.get<PageBody<ProviderConnectionView>>(PATH)).body.data
  const firstId = first!.id

  await t.test('the first start makes one, which keys with the scope read', async (t) => {
    t.match(first, {
      provider: 'sandbox',
      environment: 'sandbox',
      status: 'active',
      role: 'primary',
      health: 'healthy',
      customerId: null,
      config: {},
      fallbackCurrencies: [],
      credentialsSet: false,
      credentialsFingerprint: null,
      webhookSecretSet: false,
      inFlight: 0,
      oldestUnconfirmedAt: null,
      migration: null,
      capabilities: { sepa: true, virtualAccounts: true, cards: true },
    })
    t.ok(first!.activatedAt)
    t.ok(first!.localRails.includes('ach'))
    t.notOk(first!.localRails.includes('sepa'))
    const byKey = await world.operator.get<ProviderConnectionView>(`${PATH}/${firstId}`)
    t.equal(byKey.body.id, firstId)
    t.equal((await world.seeded.client.get(PATH)).status, 403)
    for (const [query, found] of [
      ['?filter[status]=active', 1],
      ['?filter[status]=draft,retired', 0],
      ['?filter[provider]=sandbox&filter[environment]=sandbox&filter[role]=primary', 1],
      ['?filter[environment]=production', 0],
      [`?filter[customerId]=${firstId}`, 0],
    ] as const)
      t.equal((await world.operator.get<PageBody<object>>(`${PATH}${query}`)).body.data.length, found, query)
  })

  await t.test('it is made, changed, verified and deleted', async (t) => {
    const body = { provider: 'sandbox', name: 'Second bank', config: { latencyMs: 20 } }
    t.match((await admin.post(PATH, body)).problem, { code: 'step-up-required' })
    const made = await proven(admin, PATH, body)
    t.equal(made.status, 201, made.text)
    const { id } = made.body
    t.equal(made.headers.get('location'), `/v1${PATH}/${id}`)
    t.match(made.body, { status: 'draft', config: { latencyMs: 20 }, verifiedAt: null, healthy: null })
    t.strictSame(await read(admin, id), made.body)
    const early = await proven(admin, `${PATH}/${id}/activate`)
    t.match(early.problem, { code: 'invalid-transition', currentStatus: 'draft', allowed: ['verified'] })
    t.match((await admin.post(`${PATH}/${id}/drain`)).problem, { code: 'invalid-transition', allowed: ['active'] })

    const tried = await admin.post<ProviderConnectionView>(`${PATH}/${id}/verify`)
    t.match(tried.body, { status: 'verified', healthy: true, lastHealth: { ok: true, message: null } }, tried.text)
    t.ok(tried.body.verifiedAt)
    t.ok(tried.body.lastHealthAt)
    t.match((await change(admin, id, { name: 'Other' })).body, { name: 'Other', status: 'verified' })
    const changed = await change(admin, id, { config: {}, fallbackCurrencies: ['USD', 'EUR'] })
    t.match(changed.body, { status: 'draft', config: {}, role: 'fallback', fallbackCurrencies: ['EUR', 'USD'] })
    t.equal((await admin.send('PATCH', `${PATH}/${id}`, { name: 'B' })).status, 428)
    const stale = await admin.send('PATCH', `${PATH}/${id}`, { name: 'B' }, { 'if-match': 'W/"1-000000000000"' })
    t.match(stale.problem, { code: 'precondition-failed' })
    const { version } = /"(?<version>\d+)-/.exec((await admin.get(`${PATH}/${id}`)).headers.get('etag')!)!.groups!
    const deleted = await admin.send('DELETE', `${PATH}/${id}`, undefined, { 'if-match': `W/"${version}-1"` })
    t.equal(deleted.status, 204, deleted.text)
    t.match(await read(admin, id), { status: 'retired' })
    t.strictSame(await eventsOf(world, id), ['draft verified', 'verified draft', 'draft retired'])
    for (const refused of [
      await admin.post(`${PATH}/${id}/verify`),
      await admin.post(`${PATH}/${id}/health-check`),
      await change(admin, id, { name: 'A' }),
      await proven(admin, `${PATH}/${id}/retire`),
      await proven(admin, `${PATH}/${id}/activate`),
      await admin.send('DELETE', `${PATH}/${id}`, undefined, { 'if-match': '*' }),
    ])
      t.match(refused.problem, { code: 'invalid-transition', currentStatus: 'retired' }, refused.text)
    const trail = await admin.get<PageBody<{ action: string; object: { id: string } }>>('/audit-events?limit=100')
    t.strictSame(
      trail.body.data
        .filter(({ object }) => object.id === id)
        .map(({ action }) => action)
        .reverse(),
      ['created', 'verified', 'updated', 'updated', 'deleted'].map((verb) => `provider_connection.${verb}`),
    )
  })

  await t.test('credentials and secrets are written, and shown nowhere', async (t) => {
    const made = await proven(admin, PATH, { provider: 'clearbank', name: 'Bank of pounds' })
    t.equal(made.status, 201, made.text)
    const { id } = made.body
    t.match(made.body, { credentialsSet: false, webhookSecretSet: false, capabilities: { fx: false } })
    t.equal(made.body.webhookUrl, `${world.url}/v1/provider-webhooks/${id}`)
    t.match((await admin.post(`${PATH}/${id}/verify`)).body, {
      status: 'failed',
      healthy: false,
      lastHealth: { ok: false, message: 'The connection has no credentials.' },
    })
    const pair = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const credentials = { apiToken: 'a-token-of-the-bank', privateKey: pair.privateKey }
    const put = (path: string, body: object) => admin.send('PUT', `${PATH}/${id}/${path}`, body)
    await admin.stepUp('provider_connection.change')
    const set = await put('credentials', credentials)
    t.equal(set.status, 204, set.text)
    t.equal(set.text, '')
    const shown = await read(admin, id)
    t.match(shown, { status: 'draft', credentialsSet: true, credentialsKid: 'secrets-key' })
    t.match(shown.credentialsFingerprint, /^fp_[0-9a-f]{12}$/)
    t.ok(shown.credentialsUpdatedAt)
    await put('credentials', { ...credentials, apiToken: 'another-token-of-the-bank' })
    t.not((await read(admin, id)).credentialsFingerprint, shown.credentialsFingerprint)
    await put('credentials', credentials)
    t.equal((await read(admin, id)).credentialsFingerprint, shown.credentialsFingerprint)
    const wrong = await put('credentials', { apiToken: 'a token of the bank', privateKey: pair.privateKey })
    t.match(wrong.problem, { code: 'validation-error', errors: [{ field: '/apiToken' }] })
    const wrongSecret = await put('webhook-secret', { secret: pair.privateKey })
    t.match(wrongSecret.problem, { code: 'validation-error', errors: [{ field: '/secret', code: 'invalid_format' }] })
    const secret = await put('webhook-secret', { secret: pair.publicKey })
    t.equal(secret.status, 204, secret.text)
    t.match(await read(admin, id), { webhookSecretSet: true, webhookRegistrationState: 'pending' })

    const [stored] = await world.query<{ text: string }>(
      `select encode(credentials, 'escape') || encode(webhook_secret, 'escape') || settings::text || config::text as text from provider_connection where id = $1`,
      [id],
    )
    const texts = [
      set.text,
      wrong.text,
      wrongSecret.text,
      (await admin.get(`${PATH}/${id}`)).text,
      (await admin.get(PATH)).text,
      (await admin.get('/audit-events?limit=100')).text,
      world.logged.join(),
      stored!.text,
      JSON.stringify(await world.query('select * from outbox where object_id = $1', [id])),
    ]
    for (const hidden of ['a-token-of-the-bank', 'a token of the bank', pair.privateKey.slice(40, 80)])
      for (const text of texts) t.notOk(text.includes(hidden))
    const retired = await proven(admin, `${PATH}/${id}/retire`)
    t.match(retired.body, {
      status: 'retired',
      credentialsSet: false,
      credentialsFingerprint: null,
      webhookSecretSet: false,
    })
    t.strictSame(await world.query('select credentials, webhook_secret from provider_connection where id = $1', [id]), [
      { credentials: null, webhook_secret: null },
    ])
    t.match((await put('credentials', credentials)).problem, { code: 'invalid-transition' })
  })

  await t.test('webhooks show whether they are registered', async (t) => {
    const state = async () => (await read(admin, firstId)).webhookRegistrationState
    const body = eventBody('something.else', {})
    const wrong = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    const deliverAs = async (secret: string) =>
      (await deliver(world, firstId, body, bySandbox(body, { at: world.now(), secret }))).status
    t.equal(await deliverAs(SANDBOX_SECRET), 401, 'without a secret')
    // A node need not hear of its own changes from Postgres, whose word may be late.
    const told = (how: 'enable' | 'disable') =>
      world.query(`alter table provider_connection ${how} trigger provider_connection_told`)
    await told('disable')
    await putSecret(world, firstId)
    t.equal(await state(), 'pending')
    t.equal(await deliverAs(wrong), 401)
    t.equal(await state(), 'failed')
    t.equal(await deliverAs(SANDBOX_SECRET), 202)
    t.equal(await state(), 'registered')
    t.equal(await deliverAs(wrong), 401)
    t.equal(await state(), 'registered')
    await putSecret(world, firstId)
    t.equal(await state(), 'pending', 'a new secret has to be registered')
    await told('enable')
  })

  await t.test('a wrong body changes nothing', async (t) => {
    const before = (await world.query('select id from provider_connection')).length
    await admin.stepUp('provider_connection.change')
    const body = { provider: 'sandbox', name: 'A' }
    for (const [wrong, field, code] of [
      [{ provider: 'onfido' }, '/provider', 'invalid_value'],
      [{ name: '' }, '/name', 'too_short'],
      [{ name: 'x'.repeat(101) }, '/name', 'too_long'],
      [{ environment: 'production' }, '/environment', 'not_applicable'],
      [{ status: 'active' }, '/status', 'read_only_field'],
      [{ role: 'fallback' }, '/role', 'read_only_field'],
      [{ config: { latencyMs: 'long' } }, '/config/latencyMs', 'invalid_type'],
      [{ config: { secret: 'long' } }, '/config/secret', 'unknown_field'],
      [{ credentials: { apiToken: 'a-token-of-test' } }, '/credentials', 'not_applicable'],
      [{ fallbackCurrencies: ['XXX'] }, '/fallbackCurrencies/0', 'not_applicable'],
      [{ contractModel: 'other' }, '/contractModel', 'invalid_value'],
      [{ customerId: firstId }, '/customerId', 'not_found'],
    ] as const) {
      const refused = await admin.post(PATH, { ...body, ...wrong })
      t.match(refused.problem, { code: 'validation-error', errors: [{ field, code }] }, refused.text)
    }
    t.match((await admin.post(PATH, { name: 'A' })).problem, { errors: [{ field: '/provider', code: 'required' }] })
    t.match((await admin.send('PUT', `${PATH}/${firstId}/credentials`, { apiToken: 'a-token-of-test' })).problem, {
      code: 'validation-error',
      errors: [{ code: 'not_applicable' }],
    })
    t.match((await change(admin, firstId, { fallbackCurrencies: ['EUR'] })).problem, {
      code: 'validation-error',
      errors: [{ field: '/fallbackCurrencies', code: 'invalid_value' }],
    })
    t.equal((await world.query('select id from provider_connection')).length, before)
    t.match(await read(admin, firstId), { role: 'primary', status: 'active' })
    const texts = [(await admin.get('/audit-events?limit=100')).text, world.logged.join()]
    for (const text of texts) t.notOk(text.includes('a-token-of-test'))
  })

  await t.test('only staff who manage providers change connections, and those of their operator', async (t) => {
    const owner = await world.person('owner').signIn()
    const compliance = await world.person('compliance').signIn()
    for (const person of [owner, compliance])
      for (const refused of [
        await person.post(PATH, { provider: 'sandbox', name: 'A' }),
        await person.send('PATCH', `${PATH}/${firstId}`, { name: 'A' }, { 'if-match': '*' }),
        await person.send('DELETE', `${PATH}/${firstId}`, undefined, { 'if-match': '*' }),
        await person.send('PUT', `${PATH}/${firstId}/webhook-secret`, { secret: 'secret' }),
        await person.post(`${PATH}/${firstId}/drain`),
        await person.post(`${PATH}/${firstId}/health-check`),
        await person.post(`${PATH}/${firstId}/migrate`, {}),
      ])
        t.equal(refused.status, 403, refused.text)
    const [other] = await world.query<{ id: string }>(
      `with made as (insert into operator (id, name, created_at) values (gen_random_uuid(), 'Other', now()) returning id)
       insert into provider_connection (id, operator_id, provider, environment, role, status, name, created_at)
       select gen_random_uuid(), id, 'sandbox', 'sandbox', 'primary', 'verified', 'Theirs', now() from made returning id`,
    )
    const theirs = `${PATH}/${other!.id}`
    await admin.stepUp('provider_connection.change')
    for (const refused of [
      await admin.get(theirs),
      await world.operator.get(theirs),
      await admin.send('PATCH', theirs, { name: 'A' }, { 'if-match': '*' }),
      await admin.send('DELETE', theirs, undefined, { 'if-match': '*' }),
      await admin.send('PUT', `${theirs}/credentials`, { token: 'a' }),
      await admin.send('PUT', `${theirs}/webhook-secret`, { secret: 'secret' }),
      ...(await Promise.all(
        ['verify', 'health-check', 'activate', 'drain', 'retire'].map((move) => admin.post(`${theirs}/${move}`)),
      )),
      await admin.post(`${theirs}/migrate`, {}),
    ])
      t.equal(refused.status, 404, refused.text)
    t.strictSame(
      await world.query('select name, status, version from provider_connection where id = $1', [other!.id]),
      [{ name: 'Theirs', status: 'verified', version: 1 }],
    )
    const ids = (await admin.get<PageBody<{ id: string }>>(PATH)).body.data.map(({ id }) => id)
    t.notOk(ids.includes(other!.id))
  })

  await t.test('a second primary drains the first; balances move when two people ask', async (t) => {
    const customer = await world.customer({
      balances: [
        { currency: 'EUR', amount: 50_000n },
        { currency: 'GBP', amount: 7_000n },
      ],
    })
    const [eur, gbp] = customer.balanceIds as [string, string]
    const secondId = await verified(admin)
    const activated = await proven(admin, `${PATH}/${secondId}/activate`)
    t.match(activated.body, { status: 'active', role: 'primary' }, activated.text)
    t.match(await read(admin, firstId), { status: 'draining' })
    t.strictSame(await eventsOf(world, firstId), ['active draining'])
    t.strictSame(await eventsOf(world, secondId), ['draft verified', 'verified active'])
    const owner = await world.person('owner').signIn()
    const opened = await owner.post<Balance>('/balances', { currency: 'EUR', name: 'New' })
    t.equal(opened.status, 201, opened.text)
    t.strictSame(await world.query('select connection_id from balance where id = $1', [opened.body.id]), [
      { connection_id: secondId },
    ])

    const migrate = `${PATH}/${firstId}/migrate`
    t.match((await admin.post(`${PATH}/${secondId}/migrate`, {})).problem, { code: 'invalid-transition' })
    t.match((await admin.post(migrate, { toConnectionId: firstId })).problem, {
      errors: [{ field: '/toConnectionId', code: 'not_found' }],
    })
    const early = await proven(admin, `${PATH}/${firstId}/retire`)
    t.match(early.problem, { code: 'invalid-transition', currentStatus: 'draining', inFlight: 0 })
    t.ok((early.problem as unknown as { balances: number }).balances >= 2)

    const asked = await admin.post<ConnectionMigrationView>(migrate, {})
    t.equal(asked.status, 202, asked.text)
    t.match(asked.body, { status: 'pending_approval', toConnectionId: secondId, job: null })
    t.match((await admin.post<ConnectionMigrationView>(migrate, {})).body, { status: 'pending_approval', job: null })
    const before = await nostroOf(world, firstId, 'EUR')
    const agreed = await second.post<ConnectionMigrationView>(migrate, { toConnectionId: secondId })
    t.match(agreed.body, { status: 'approved', job: { kind: 'connection_migration' } }, agreed.text)
    const { id: jobId } = agreed.body.job!
    const job = await until('the balances have moved', async () => {
      const { body } = await admin.get<Job>(`/jobs/${jobId}`)
      return body.status === 'succeeded' && body
    })
    const { total, processed } = job.progress
    t.equal(processed, total)
    t.equal(job.result?.counts?.['balances'], total)
    t.strictSame(
      await world.query(
        `select distinct connection_id from balance where operator_id = (select operator_id from balance where id = $1)`,
        [eur],
      ),
      [{ connection_id: secondId }],
      'every balance has moved',
    )
    const moved = BigInt(job.result!.counts!['EURMinor']!)
    t.equal(await nostroOf(world, secondId, 'EUR'), moved)
    t.equal(await nostroOf(world, firstId, 'EUR'), before - moved)
    t.strictSame(
      await world.query(
        `select p.rule, p.amount from posting p join connection_move m on m.id = p.source_id where m.balance_id = any($1::uuid[]) order by p.amount`,
        [[eur, gbp]],
      ),
      [
        { rule: 'L96', amount: '7000' },
        { rule: 'L96', amount: '50000' },
      ],
    )
    t.equal((await customer.client.balance(eur)).bookBalance.amountMinor, '50000')
    const seededEur = world.seeded.balances.EUR
    await until('the customer hears of the new account', async () => {
      const [event] = await world.query<{ status: string }>(
        `select status from outbox where type = 'balance.details_changed' and object_id = $1`,
        [seededEur],
      )
      return event?.status === 'provider_switch'
    })

    const payment = await customer.client.post<{ id: string }>(
      '/payments',
      paymentBody(eur, customer.recipients.EUR, 1_000),
    )
    t.equal(payment.status, 201, payment.text)
    await until('it is paid through the new connection', async () => {
      const { body } = await customer.client.get<{ status: string }>(`/payments/${payment.body.id}`)
      return body.status === 'completed'
    })
    t.strictSame(await world.query('select connection_id from payment where id = $1', [payment.body.id]), [
      { connection_id: secondId },
    ])

    const retired = await proven(admin, `${PATH}/${firstId}/retire`)
    t.match(retired.body, { status: 'retired', inFlight: 0 }, retired.text)
    t.strictSame(await eventsOf(world, firstId), ['active draining', 'draining retired'])
    const left = `select id from account_details where connection_id = $1 and status <> 'closed'`
    t.strictSame(await world.query(left, [firstId]), [])
    await world.audit()
  })
})
