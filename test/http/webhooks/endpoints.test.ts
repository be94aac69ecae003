import t from 'tap'
import type { IntegratorWebhook } from '../../../lib/webhooks/webhook-schema.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world.ts'

type Made = IntegratorWebhook & { readonly secret: string }

const PATH = '/integrator-webhooks'
const EVENTS = ['payment.created', 'payment.status_changed']
/** Where no name is resolved: that receivers exist is not what these tests are about. */
const NOWHERE: WorldOptions = {
  overrides: {
    webhooks: {
      resolve: async () => {
        throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      },
    },
  },
}

async function make(world: World, url = 'https://hooks.example.com/vostro'): Promise<Made> {
  return (await world.seeded.client.post<Made>(PATH, { url, events: EVENTS })).body
}

t.test('an endpoint is made, and its secret is shown once', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { client } = world.seeded
  const made = await client.post<Made>(PATH, {
    url: 'https://hooks.example.com/vostro',
    events: [...EVENTS, 'payment.created'],
    description: ' ERP ',
  })
  t.equal(made.status, 201, made.text)
  const { secret, ...view } = made.body
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(made.headers.get('location'), `/v1${PATH}/${view.id}`)
  t.strictSame(
    { ...view, id: '', createdBy: '', createdAt: '', updatedAt: '' },
    {
      id: '',
      tenantId: client.tenantId,
      customerId: client.tenantId,
      url: 'https://hooks.example.com/vostro',
      events: EVENTS,
      description: 'ERP',
      enabled: true,
      status: 'active',
      disabledReason: null,
      statusChangedAt: null,
      secretHint: secret.slice(-4),
      previousSecretExpiresAt: null,
      consecutiveFailures: 0,
      lastDeliveryAt: null,
      lastSuccessAt: null,
      apiVersion: '1.0.0-draft.14',
      createdBy: '',
      createdAt: '',
      updatedAt: '',
    },
  )
  const read = await client.get<IntegratorWebhook>(`${PATH}/${view.id}`)
  t.strictSame(read.body, view, 'everything but the secret can be read again')
  t.equal(read.headers.get('etag'), made.headers.get('etag'))
  t.equal((await client.get(`${PATH}/${view.id}`, { 'if-none-match': read.headers.get('etag') as string })).status, 304)
  const [row] = await world.query<{ kept: string; secret: Buffer }>(
    'select e::text as kept, secret from webhook_endpoint e where id = $1',
    [view.id],
  )
  t.notMatch(row?.kept, secret.slice('whsec_'.length, -8), 'the row does not hold it in the open')
  t.notOk(row?.secret.toString('latin1').includes(secret.slice('whsec_'.length, -8)))
})

t.test('bodies that are no endpoint are refused by field', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { client } = world.seeded
  const good = { url: 'https://hooks.example.com/', events: EVENTS }
  const bad: readonly (readonly [object, string, string])[] = [
    [{ events: EVENTS }, '/url', 'required'],
    [{ url: 'https://hooks.example.com/' }, '/events', 'required'],
    [{ ...good, events: [] }, '/events', 'too_short'],
    [{ ...good, events: ['*'] }, '/events/0', 'invalid_value'],
    [{ ...good, events: ['payment.created', 'payment.exploded'] }, '/events/1', 'invalid_value'],
    [{ ...good, events: ['payment.created', 'customer.created'] }, '/events/1', 'invalid_value'],
    [{ ...good, events: ['compliance_hold.created'] }, '/events/0', 'invalid_value'],
    [{ ...good, url: 'hooks.example.com' }, '/url', 'invalid_format'],
    [{ ...good, url: 7 }, '/url', 'invalid_type'],
    [{ ...good, url: `https://hooks.example.com/${'x'.repeat(2_048)}` }, '/url', 'too_long'],
    [{ ...good, description: 'x'.repeat(201) }, '/description', 'too_long'],
    [{ ...good, secret: 'mine' }, '/secret', 'read_only_field'],
    [{ ...good, status: 'active' }, '/status', 'read_only_field'],
    [{ ...good, colour: 'red' }, '/colour', 'unknown_field'],
  ]
  for (const [body, field, code] of bad) {
    const reply = await client.post(PATH, body)
    t.equal(reply.status, 422, `${field} ${code}`)
    t.match(reply.problem, { code: 'validation-error', errors: [{ field, code }] })
  }
  t.strictSame((await client.list(PATH)).body.data, [])
})

t.test('callbacks go to public addresses only', async (t) => {
  await using world = await createWorld({
    overrides: {
      webhooks: {
        resolve: async (host) => (host === 'inside.example.com' ? ['93.184.215.14', '10.0.0.7'] : ['93.184.215.14']),
      },
    },
  })
  const { client } = world.seeded
  const unsafe: Readonly<Record<string, readonly string[]>> = {
    scheme: ['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/'],
    credentials: ['https://user:password@example.com/', 'https://user@example.com/'],
    fragment: ['https://example.com/#top'],
    port: ['https://example.com:22/', 'https://example.com:80/', 'https://example.com:25/'],
    host_name: [
      'https://localhost/',
      'https://localhost.:8443/',
      'https://printer.local/',
      'https://metadata.google.internal/',
      'https://intranet/',
      'https://api.localhost/',
    ],
    address: [
      'https://127.0.0.1/',
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://0177.0.0.1/',
      'https://①②⑦.0.0.1/',
      'https://0.0.0.0/',
      'https://10.0.0.1/',
      'https://172.16.0.1/',
      'https://192.168.1.1/',
      'https://169.254.169.254/latest/meta-data/',
      'https://100.64.0.1/',
      'https://224.0.0.1/',
      'https://[::1]/',
      'https://[::]/',
      'https://[::ffff:127.0.0.1]/',
      'https://[::127.0.0.1]/',
      'https://[64:ff9b::7f00:1]/',
      'https://[2002:7f00:1::]/',
      'https://[fd00::1]/',
      'https://[fe80::1]/',
      'https://[ff02::1]/',
      'https://inside.example.com/',
    ],
  }
  const urls = Object.values(unsafe).flat()
  t.ok(urls.length >= 30)
  for (const [rule, addresses] of Object.entries(unsafe)) {
    for (const url of addresses) {
      const reply = await client.post(PATH, { url, events: EVENTS })
      t.equal(reply.status, 422, url)
      t.match(reply.problem, { code: 'unsafe-url', ruleViolated: rule }, url)
    }
  }
  t.strictSame((await client.list(PATH)).body.data, [], 'nothing was made')
  const made = await make(world)
  const etag = (await client.get(`${PATH}/${made.id}`)).headers.get('etag') as string
  const moved = await client.send(`/v1${PATH}/${made.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': etag },
    body: JSON.stringify({ url: 'https://[::ffff:10.0.0.1]/' }),
  })
  t.match(moved.problem, { code: 'unsafe-url', ruleViolated: 'address' })
  t.equal((await client.get<IntegratorWebhook>(`${PATH}/${made.id}`)).body.url, made.url)
})

t.test('a tenant has ten endpoints at most, whoever asks at the same time', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { client } = world.seeded
  const replies = await Promise.all(
    Array.from({ length: 14 }, (_, index) =>
      client.post(PATH, { url: `https://hooks.example.com/${index}`, events: EVENTS }),
    ),
  )
  t.equal(replies.filter(({ status }) => status === 201).length, 10)
  for (const reply of replies.filter(({ status }) => status !== 201))
    t.match(reply.problem, { status: 409, code: 'limit-reached', limit: 10, resource: 'integrator_webhook' })
  const page = await client.list<IntegratorWebhook>(PATH, { limit: 4, withTotal: true })
  t.match(page.body.page, { total: 10, limit: 4 })
  t.equal(
    (await client.list<IntegratorWebhook>(PATH, { cursor: page.body.page.nextCursor as string, limit: 100 })).body.data
      .length,
    6,
  )
  await client.send(`/v1${PATH}/${page.body.data[0]?.id}`, { method: 'DELETE', headers: { 'if-match': '*' } })
  t.equal((await client.post(PATH, { url: 'https://hooks.example.com/again', events: EVENTS })).status, 201)
})

t.test('an endpoint is changed by whoever has seen it as it is', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { client } = world.seeded
  const { id } = await make(world)
  const patch = (body: object, headers: Record<string, string> = {}) =>
    client.send<IntegratorWebhook>(`/v1${PATH}/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const etag = (await client.get(`${PATH}/${id}`)).headers.get('etag') as string
  t.equal((await patch({ description: 'x' })).status, 428)
  t.equal((await patch({ description: 'x' }, { 'if-match': 'W/"1-000000000000"' })).problem.code, 'precondition-failed')
  const changed = await patch(
    { url: 'https://other.example.com/', events: ['transfer.completed'], description: 'ledger' },
    { 'if-match': etag },
  )
  t.match(changed.body, {
    url: 'https://other.example.com/',
    events: ['transfer.completed'],
    description: 'ledger',
    status: 'active',
    enabled: true,
  })
  t.equal(changed.headers.get('etag'), (await client.get(`${PATH}/${id}`)).headers.get('etag'))
  t.equal((await patch({ description: 'late' }, { 'if-match': etag })).status, 412)
  t.equal((await patch({ description: null }, { 'if-match': '*' })).body.description, null)

  const off = (await patch({ enabled: false }, { 'if-match': '*' })).body
  t.match(off, { enabled: false, status: 'disabled', disabledReason: 'owner' })
  t.type(off.statusChangedAt, 'string')
  t.strictSame(
    (await client.list<IntegratorWebhook>(PATH, { 'filter[enabled]': false })).body.data.map((one) => one.id),
    [id],
  )
  t.strictSame((await client.list<IntegratorWebhook>(PATH, { 'filter[status]': 'active,paused' })).body.data, [])
  t.match((await patch({ enabled: true }, { 'if-match': '*' })).body, {
    enabled: true,
    status: 'active',
    disabledReason: null,
  })
  t.strictSame(
    (await client.list<IntegratorWebhook>(PATH, { 'filter[event]': 'transfer.completed' })).body.data.map(
      (one) => one.id,
    ),
    [id],
  )
  t.strictSame((await client.list<IntegratorWebhook>(PATH, { 'filter[event]': 'payment.created' })).body.data, [])

  const unchanged = await patch({ enabled: true }, { 'if-match': '*' })
  t.equal(
    (await patch({ enabled: true }, { 'if-match': unchanged.headers.get('etag') as string })).status,
    200,
    'what changes nothing makes no new version',
  )
  t.equal((await patch({ enabled: 'yes' }, { 'if-match': '*' })).status, 422)
  t.equal((await client.send(`/v1${PATH}/${id}`, { method: 'DELETE' })).status, 428)
  t.equal((await client.send(`/v1${PATH}/${id}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status, 204)
  t.equal((await client.get(`${PATH}/${id}`)).status, 404)
  t.equal((await patch({ description: 'x' }, { 'if-match': '*' })).status, 404)
})

t.test('a secret is replaced, and the one before is known to end a day later', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { client } = world.seeded
  const { id, secret } = await make(world)
  const before = world.now()
  const rotated = await client.send<Made>(`/v1${PATH}/${id}/rotate-secret`, { method: 'POST' })
  t.equal(rotated.status, 200, rotated.text)
  t.not(rotated.body.secret, secret)
  t.equal(rotated.body.secretHint, rotated.body.secret.slice(-4))
  const ends = Date.parse(rotated.body.previousSecretExpiresAt as string)
  t.ok(ends >= before + 86_400_000 && ends <= world.now() + 86_400_000)
  t.equal(rotated.headers.get('location'), null)
  t.equal(rotated.headers.get('etag'), (await client.get(`${PATH}/${id}`)).headers.get('etag'))
})

t.test('people prove themselves before they change one; keys need the scope', async (t) => {
  await using world = await createWorld(NOWHERE)
  const owner = await world.person('owner').signIn()
  const body = { url: 'https://hooks.example.com/', events: EVENTS }
  const refused = await owner.post(PATH, body)
  t.match(refused.problem, { status: 403, code: 'step-up-required', action: 'integrator_webhook.change' })
  await owner.stepUp('integrator_webhook.change')
  const made = await owner.post<Made>(PATH, body)
  t.equal(made.status, 201, made.text)
  t.equal((await owner.post(`${PATH}/${made.body.id}/rotate-secret`)).status, 200)
  t.equal((await owner.send('PATCH', `${PATH}/${made.body.id}`, { description: 'x' }, { 'if-match': '*' })).status, 200)
  const preparer = await world.person('preparer').signIn()
  t.match((await preparer.get(PATH)).problem, {
    status: 403,
    code: 'insufficient-scope',
    requiredCapability: 'webhooks.manage',
  })
  const trail = await world.query<{ action: string; actor_type: string; before: string | null; after: string | null }>(
    `select action, actor_type, before, after from audit_event where object_id = $1 order by id`,
    [made.body.id],
  )
  t.strictSame(
    trail.map(({ action, actor_type }) => [action, actor_type]),
    [
      ['integrator_webhook.created', 'member'],
      ['integrator_webhook.secret_rotated', 'member'],
      ['integrator_webhook.updated', 'member'],
    ],
  )
  t.notMatch(JSON.stringify(trail), made.body.secret)
})

t.test('whoever changes an endpoint, its owners are told', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { client } = world.seeded
  const owner = world.service.sandbox!.customer.members.owner.email
  const { id, secret } = await make(world)
  const told = async (what: string, nth: number) => {
    const found = await until(`a mail: ${what}`, async () => {
      const all = (await mailsOf(world)).filter((mail) => mail.includes(`To: ${owner}`))
      return all.length >= nth && all
    })
    t.match(found.at(-1), what)
    t.match(found.at(-1), id)
    t.notMatch(found.join(), secret)
  }
  await told('was added', 1)
  await client.send(`/v1${PATH}/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: '{"description":"x"}',
  })
  await told('was changed', 2)
  await client.send(`/v1${PATH}/${id}/rotate-secret`, { method: 'POST' })
  await told('has a new secret', 3)
  await client.send(`/v1${PATH}/${id}`, { method: 'DELETE', headers: { 'if-match': '*' } })
  await told('was removed', 4)
  for (const mail of await mailsOf(world))
    t.notMatch(mail, `To: ${world.service.sandbox!.customer.members.preparer.email}`)
})

t.test('tenants do not see one another', async (t) => {
  await using world = await createWorld(NOWHERE)
  const { id } = await make(world)
  const other = await world.customer({ balances: [] })
  const paths: readonly [string, string][] = [
    ['GET', `${PATH}/${id}`],
    ['GET', `${PATH}/${id}/deliveries`],
    ['DELETE', `${PATH}/${id}`],
    ['PATCH', `${PATH}/${id}`],
    ['POST', `${PATH}/${id}/test`],
    ['POST', `${PATH}/${id}/rotate-secret`],
    ['POST', `${PATH}/${id}/deliveries/${id}/redeliver`],
  ]
  for (const client of [other.client, world.operator]) {
    t.strictSame((await client.list(PATH)).body.data, [])
    for (const [method, path] of paths) {
      const body =
        method === 'PATCH'
          ? { headers: { 'content-type': 'application/json', 'if-match': '*' }, body: '{}' }
          : { headers: { 'if-match': '*' } }
      t.equal((await client.send(`/v1${path}`, { method, ...body })).status, 404, `${method} ${path}`)
    }
  }
  const own = await world.operator.post<Made>(PATH, {
    url: 'https://ops.example.com/',
    events: ['customer.created', 'compliance_hold.created', 'payment.created'],
  })
  t.equal(own.status, 201, own.text)
  t.match(own.body, { tenantId: world.operator.tenantId, customerId: null })
})
