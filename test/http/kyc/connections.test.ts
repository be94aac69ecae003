/** Connections of an operator to KYC providers, over HTTP. */
import t from 'tap'
import type { KycConnectionView } from '../../../lib/kyc/kyc-connection-schema.ts'
import { createWorld } from '../../support/world.ts'
import { change, SANDBOX_SECRET, sandboxConnection, SUMSUB_SECRET, sumsubApi, sumsubConnection } from './support.ts'

t.test('the first start makes the connection to the provider of the sandbox', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const { data } = (await staff.get<{ data: KycConnectionView[] }>('/kyc-connections')).body
  t.match(data, [{ provider: 'sandbox', status: 'active', webhookSecretSet: false, credentialsSet: false }])
  t.equal(data.length, 1)
  const read = await staff.get<KycConnectionView>(`/kyc-connections/${data[0]!.id}`)
  t.strictSame(read.body, data[0])
  t.equal(read.body.webhookUrl, `${world.url}/v1/kyc-webhooks/${data[0]!.id}`)
})

t.test('a connection is made, tried and put in place of another; its secrets are shown nowhere', async (t) => {
  await using api = await sumsubApi()
  await using world = await createWorld({ overrides: { sumsubUrl: api.url }, logLevel: 'info' })
  const staff = await world.person('operator_admin').signIn()
  const credentials = { appToken: 'sbx:app-token-of-test', secretKey: 'secret-key-of-test' }
  const made = await staff.post<KycConnectionView>('/kyc-connections', {
    provider: 'sumsub',
    name: 'Sumsub',
    credentials,
    webhookSecret: SUMSUB_SECRET,
    levels: { person: 'id-and-liveness' },
  })
  t.equal(made.status, 201, made.text)
  const { id } = made.body
  t.match(made.body, {
    status: 'draft',
    levels: { person: 'id-and-liveness', company: null },
    credentialsSet: true,
    webhookSecretSet: true,
    lastVerification: null,
  })
  t.equal(made.headers.get('location'), `/v1/kyc-connections/${id}`)
  t.match((await change(staff, id, { active: true })).problem, { code: 'invalid-transition', currentStatus: 'draft' })

  api.answer.status = 401
  const refused = (await staff.post<KycConnectionView>(`/kyc-connections/${id}/verify`)).body
  t.match(refused, {
    status: 'failed',
    verifiedAt: null,
    lastVerification: { ok: false, message: 'The provider answered 401.' },
  })
  api.answer.status = 200
  const verified = (await staff.post<KycConnectionView>(`/kyc-connections/${id}/verify`)).body
  t.match(verified, { status: 'verified', lastVerification: { ok: true, message: null } })
  t.strictSame(
    api.asked.map(({ path }) => path),
    ['/resources/applicants/-/levels', '/resources/applicants/-/levels'],
  )

  t.match((await change(staff, id, { active: true })).body, { status: 'active' })
  const all = (await staff.get<{ data: KycConnectionView[] }>('/kyc-connections')).body.data
  t.strictSame(
    all.map(({ provider, status }) => [provider, status]),
    [
      ['sandbox', 'verified'],
      ['sumsub', 'active'],
    ],
    'one is active',
  )
  const replaced = (await change(staff, id, { credentials, levels: { company: 'kyb' } })).body
  t.match(replaced, { status: 'active', levels: { person: 'id-and-liveness', company: 'kyb' } })
  t.match((await change(staff, id, { active: false })).body, { status: 'verified' })
  t.match((await change(staff, id, { credentials })).body, { status: 'draft' }, 'new keys have to be tried')

  const events = await world.query<{ status: string; previous_status: string }>(
    `select status, previous_status from outbox where type = 'provider_connection.status_changed' and object_id = $1 order by created_at, id`,
    [id],
  )
  t.strictSame(
    events.map((event) => `${event.previous_status} ${event.status}`),
    ['draft failed', 'failed verified', 'verified active', 'active verified', 'verified draft'],
  )
  const trail = (await staff.get('/audit-events?limit=100')).text
  const stored = await world.query<{ text: string }>(
    `select credentials::text || webhook_secret::text as text from kyc_connection where id = $1`,
    [id],
  )
  const texts = [made.text, trail, JSON.stringify(all), world.logged.join(), Buffer.from(stored[0]!.text).toString()]
  for (const secret of [credentials.appToken, credentials.secretKey, SUMSUB_SECRET])
    for (const text of texts) {
      t.notOk(text.includes(secret))
      t.notOk(text.includes(Buffer.from(secret).toString('hex')), 'sealed')
    }
})

t.test('a provider that does not answer fails the trial, and one without keys', async (t) => {
  await using world = await createWorld({ overrides: { sumsubUrl: 'http://127.0.0.1:1' } })
  const staff = await world.person('operator_admin').signIn()
  const id = await sumsubConnection(staff)
  const verify = async () => (await staff.post<KycConnectionView>(`/kyc-connections/${id}/verify`)).body
  t.match(await verify(), { status: 'failed', lastVerification: { message: 'The connection has no keys.' } })
  await change(staff, id, { credentials: { appToken: 'a', secretKey: 'b' } })
  t.match(await verify(), { status: 'failed', lastVerification: { message: 'The provider did not answer.' } })
  const manual = (await staff.post<KycConnectionView>('/kyc-connections', { provider: 'manual', name: 'Staff' })).body
  t.match(manual, { webhookUrl: null })
  t.match((await staff.post(`/kyc-connections/${manual.id}/verify`)).body, { status: 'verified' })
})

t.test('a wrong body changes nothing', async (t) => {
  await using world = await createWorld()
  const staff = await world.person('operator_admin').signIn()
  const id = await sandboxConnection(staff)
  const read = async () => (await staff.get(`/kyc-connections/${id}`)).text
  const before = await read()
  const keys = { appToken: 'a', secretKey: 'b' }
  for (const [body, field, code] of [
    [{ name: '' }, '/name', 'too_short'],
    [{ name: 'x'.repeat(101) }, '/name', 'too_long'],
    [{ status: 'active' }, '/status', 'read_only_field'],
    [{ provider: 'sumsub' }, '/provider', 'read_only_field'],
    [{ active: 'yes' }, '/active', 'invalid_type'],
    [{ credentials: keys }, '/credentials', 'not_applicable'],
    [{ credentials: { appToken: 'a' } }, '/credentials/secretKey', 'required'],
    [{ levels: { person: 'a' } }, '/levels', 'not_applicable'],
    [{ webhookSecret: 'short' }, '/webhookSecret', 'invalid_format'],
    [{ name: 'Other', webhookSecret: `${SANDBOX_SECRET}!` }, '/webhookSecret', 'invalid_format'],
  ] as const) {
    const refused = await change(staff, id, body)
    t.match(refused.problem, { code: 'validation-error', errors: [{ field, code }] }, JSON.stringify(body))
    t.equal(await read(), before)
  }
  const stale = await staff.send('PATCH', `/kyc-connections/${id}`, { name: 'B' }, { 'if-match': 'W/"1-000000000000"' })
  t.equal(stale.status, 412)
  t.equal((await staff.send('PATCH', `/kyc-connections/${id}`, { name: 'B' })).status, 428)
  t.equal(await read(), before)
  const create = (body: object) => staff.post('/kyc-connections', body)
  for (const [body, field] of [
    [{ provider: 'onfido', name: 'A' }, '/provider'],
    [{ provider: 'manual', name: 'A', webhookSecret: SANDBOX_SECRET }, '/webhookSecret'],
    [{ provider: 'manual', name: 'A', credentials: keys }, '/credentials'],
    [{ provider: 'sumsub', name: 'A', webhookSecret: 'short' }, '/webhookSecret'],
    [{ provider: 'sumsub' }, '/name'],
  ] as const)
    t.match((await create(body)).problem, { code: 'validation-error', errors: [{ field }] }, JSON.stringify(body))
  t.equal((await world.query('select from kyc_connection')).length, 1)
  for (let made = 1; made < 20; made++) t.equal((await create({ provider: 'manual', name: `${made}` })).status, 201)
  t.match((await create({ provider: 'manual', name: 'One more' })).problem, { code: 'limit-reached' })
})

t.test('only staff who manage providers reach connections, and those of their operator', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const id = await sandboxConnection(admin)
  const compliance = await world.person('compliance').signIn()
  const owner = await world.person('owner').signIn()
  for (const person of [compliance, owner])
    for (const refused of [
      await person.get('/kyc-connections'),
      await person.get(`/kyc-connections/${id}`),
      await person.post('/kyc-connections', { provider: 'manual', name: 'A' }),
      await person.post(`/kyc-connections/${id}/verify`),
      await person.send('PATCH', `/kyc-connections/${id}`, { name: 'A' }, { 'if-match': '*' }),
    ])
      t.equal(refused.status, 403, refused.text)
  const [other] = await world.query<{ id: string }>(
    `with made as (insert into operator (id, name, created_at) values (gen_random_uuid(), 'Other', now()) returning id)
     insert into kyc_connection (id, operator_id, provider, name, status, created_at, updated_at)
     select gen_random_uuid(), id, 'manual', 'Theirs', 'draft', now(), now() from made returning id`,
  )
  t.equal((await admin.get(`/kyc-connections/${other!.id}`)).status, 404)
  t.equal((await admin.post(`/kyc-connections/${other!.id}/verify`)).status, 404)
  const changed = await admin.send('PATCH', `/kyc-connections/${other!.id}`, { name: 'A' }, { 'if-match': '*' })
  t.equal(changed.status, 404)
  t.strictSame(await world.query('select name from kyc_connection where id = $1', [other!.id]), [{ name: 'Theirs' }])
})
