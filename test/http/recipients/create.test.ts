/**
 * Making, listing and changing recipients over HTTP: what is refused, what is kept, what is shown, and that a key
 * answers once.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { atNode } from '../approvals/people.ts'
import { createByKey, decideAs, newIban, patchAs, recipientBody, setMode } from './support.ts'

t.test('the same key makes one recipient and answers the same bytes', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const key = randomUUID()
  const body = recipientBody()
  const first = await client.post<Recipient>('/recipients', body, key)
  t.equal(first.status, 201)
  await world.query('update recipient set nickname = $2, version = version + 1 where id = $1', [
    first.body.id,
    'Changed since',
  ])
  const again = await client.post<Recipient>('/recipients', body, key)
  t.equal(again.status, 201)
  t.equal(again.text, first.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  for (const name of ['location', 'etag']) t.equal(again.headers.get(name), first.headers.get(name), name)
  t.match((await client.post('/recipients', { ...body, name: 'Another BV' }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
  })
  t.match(
    (await client.post('/recipients', { name: 1 }, key)).problem,
    { status: 422, code: 'idempotency-key-reused' },
    'also when the other body is wrong',
  )

  const refusedKey = randomUUID()
  const duplicate = await client.post('/recipients', body, refusedKey)
  t.match(duplicate.problem, { status: 409, code: 'duplicate-recipient', existingId: first.body.id })
  await client.send(`/v1/recipients/${first.body.id}`, { method: 'DELETE', headers: { 'if-match': '*' } })
  const refusedAgain = await client.post('/recipients', body, refusedKey)
  t.equal(refusedAgain.text, duplicate.text, 'a no is kept, too')
  t.equal(refusedAgain.headers.get('idempotency-replayed'), 'true')

  const wrongKey = randomUUID()
  t.match(
    (await client.post('/recipients', recipientBody({ bank: { iban: 'NL78SBOX0100000001' } }), wrongKey)).problem,
    { errors: [{ field: '/bank/iban', code: 'invalid_checksum' }] },
  )
  t.equal((await client.post('/recipients', recipientBody(), wrongKey)).status, 201, 'a wrong body uses up no key')
  const [made] = await world.query<{ count: string }>(
    `select count(*) from recipient where status <> 'deleted' and external_id is null`,
  )
  t.equal(made!.count, '1')
})

t.test('many at once make one', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const iban = newIban()
  const replies = await Promise.all(Array.from({ length: 12 }, () => createByKey(client, { bank: { iban } })))
  t.equal(replies.filter(({ status }) => status === 201).length, 1)
  const made = replies.find(({ status }) => status === 201)!.body
  for (const { problem } of replies.filter(({ status }) => status !== 201))
    t.match(problem, { code: 'duplicate-recipient', existingId: made.id })
  const key = randomUUID()
  const body = recipientBody()
  const same = await Promise.all(Array.from({ length: 6 }, () => client.post<Recipient>('/recipients', body, key)))
  t.ok(same.every((reply) => reply.status === 201 || reply.problem.code === 'idempotency-key-in-use'))
  t.equal((await world.query("select from recipient where bank->>'iban' = $1", [body.bank.iban])).length, 1)
})

t.test('one account is one recipient in any spelling, one external id is one recipient', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const gbp = { currency: 'GBP', name: 'Other Name Ltd' }
  const first = (
    await createByKey(client, {
      ...gbp,
      bank: { bankCountry: 'GB', sortCode: '99-00-01', accountNumber: '1234 5678' },
      externalId: 'A',
    })
  ).body
  t.match(first, { bank: { sortCode: '990001', accountNumber: '12345678' }, maskedIdentifier: '****5678' })
  t.match((await createByKey(client, { ...gbp, bank: { iban: 'GB48 SBOX 9900 0112 3456 78' } })).problem, {
    code: 'duplicate-recipient',
    existingId: first.id,
  })
  t.match((await createByKey(client, { externalId: 'A' })).problem, {
    status: 409,
    code: 'duplicate-external-id',
    existingId: first.id,
  })
  const other = (await createByKey(client, { externalId: 'B' })).body
  const owner = await world.person('owner').signIn()
  t.match((await patchAs(owner, other.id, { externalId: 'A' })).problem, {
    code: 'duplicate-external-id',
    existingId: first.id,
  })
  t.match(
    (await patchAs(owner, first.id, { bank: { bankCountry: 'GB', sortCode: '990001', accountNumber: '10000001' } }))
      .problem,
    { code: 'duplicate-recipient', existingId: world.seeded.recipients.GBP },
  )
})

t.test('what is wrong is said member by member', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const wrong = async (change: object) =>
    (await client.post('/recipients', { ...recipientBody(), ...change })).problem.errors?.map(
      ({ field, code }) => `${field} ${code}`,
    )
  t.strictSame(
    await wrong({
      currency: 'USD',
      bank: { bankCountry: 'US', routingNumber: '021000022', accountNumber: '12', accountType: 'current' },
    }),
    ['/bank/accountNumber too_short', '/bank/accountType invalid_value'],
  )
  t.strictSame(
    await wrong({
      currency: 'USD',
      bank: { bankCountry: 'US', routingNumber: '021000021', accountNumber: '12345678' },
    }),
    ['/bank/accountType required', '/address required'],
  )
  t.strictSame(await wrong({ bank: { iban: newIban(), sortCode: '990001' } }), ['/bank/sortCode not_applicable'])
  t.strictSame(await wrong({ currency: 'BGN', bank: { iban: 'BG80BNBG96611020345678' } }), [
    '/currency currency_withdrawn',
  ])
  t.strictSame((await wrong({ id: 'x', name: 'A' }))?.sort(), ['/id read_only_field', '/name too_short'])
  t.strictSame(await wrong({ bank: { iban: newIban(), swift: 'X' } }), ['/bank/swift unknown_field'])
  t.strictSame(await wrong({ address: { line1: 'A', city: 'B', country: 'US' } }), [
    '/address/postalCode required',
    '/address/state required',
  ])
  t.strictSame(await wrong({ verificationOverride: { acceptOutcome: 'close_match', reason: 'short' } }), [
    '/verificationOverride/reason too_short',
  ])
  const owner = await world.person('owner').signIn()
  t.match((await patchAs(owner, world.seeded.recipients.EUR, { currency: 'USD' })).problem, {
    errors: [{ field: '/currency', code: 'read_only_field' }],
  })
  t.match((await patchAs(owner, world.seeded.recipients.EUR, { name: null })).problem, {
    status: 422,
    code: 'validation-error',
  })
  t.match(
    (await patchAs(owner, world.seeded.recipients.EUR, { bank: {} })).problem,
    { errors: [{ field: '/bank/bankCountry', code: 'required' }] },
    'bank details are replaced whole',
  )
})

t.test('lists mask accounts, and find recipients by all their filters', async (t) => {
  await using world = await createWorld()
  const { client, recipients } = world.seeded
  const made = (
    await createByKey(client, {
      name: 'Zürich Werke AG',
      nickname: 'Werkstatt',
      email: 'pay@werke.example',
      type: 'individual',
      metadata: { team: 'red' },
      currency: 'CHF',
      bank: { iban: 'CH9300762011623852957' },
      address: { line1: 'Platz 1', city: 'Zürich', postalCode: '8000', country: 'CH' },
    })
  ).body
  const mexican = (
    await createByKey(client, { currency: 'MXN', bank: { bankCountry: 'MX', clabe: '999010000000000004' } })
  ).body
  const ids = async (query: Record<string, string>) =>
    (await client.list<Recipient>('/recipients', query)).body.data.map(({ id }) => id)
  const rows = (await client.list<Recipient>('/recipients')).body.data
  for (const row of rows)
    t.match(
      row.bank,
      { iban: null, accountNumber: null, clabe: null, bankgiro: null, fpsId: null },
      'no account number is on a list',
    )
  t.match(
    rows.find(({ id }) => id === made.id),
    { maskedIdentifier: 'CH93****2957', bank: { bankCountry: 'CH' } },
  )
  t.match((await client.recipient(mexican.id)).bank, { clabe: '999010000000000004' }, 'one recipient shows it')
  t.strictSame(await ids({ 'filter[currency]': 'CHF' }), [made.id])
  t.strictSame(await ids({ 'filter[country]': 'MX,CH', sort: '-createdAt' }), [mexican.id, made.id])
  t.strictSame(await ids({ 'filter[type]': 'individual' }), [made.id])
  t.strictSame(await ids({ 'filter[metadata.team]': 'red' }), [made.id])
  t.strictSame(await ids({ 'filter[id]': `${made.id},${randomUUID()}` }), [made.id])
  t.strictSame(await ids({ q: 'zurich werk' }), [made.id])
  t.strictSame(await ids({ q: 'CH93' }), [made.id])
  t.strictSame(await ids({ 'filter[approvalStatus]': 'pending', 'filter[currency]': 'CHF,MXN', sort: '-createdAt' }), [
    mexican.id,
    made.id,
  ])
  t.ok((await ids({ 'filter[approvalStatus]': 'not_required' })).includes(recipients.EUR))
  t.strictSame(await ids({ 'filter[verificationOutcome]': 'match' }), [], 'nobody checks francs and pesos')
  const checked = (await createByKey(client)).body
  t.strictSame(await ids({ 'filter[verificationOutcome]': 'match,close_match' }), [checked.id])
  t.strictSame(await ids({ 'filter[createdBy]': made.createdBy, 'filter[currency]': 'CHF,MXN', sort: 'name' }), [
    mexican.id,
    made.id,
  ])
})

t.test('attributes are merged, and bounded', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'none')
  const owner = await world.person('owner').signIn()
  const { EUR } = world.seeded.recipients
  t.match((await patchAs(owner, EUR, { metadata: { a: '1', b: '2' } })).body.metadata, { a: '1', b: '2' })
  t.strictSame((await patchAs(owner, EUR, { metadata: { a: null, c: '3' } })).body.metadata, { b: '2', c: '3' })
  const many = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`k${index}`, 'v']))
  t.match((await patchAs(owner, EUR, { metadata: many })).problem, {
    errors: [{ field: '/metadata', code: 'too_large' }],
  })
  const read = await owner.get<Recipient>(`/recipients/${EUR}`)
  await owner.stepUp('recipient.update', { type: 'recipient', id: EUR })
  t.equal(
    (await owner.send('PATCH', `/recipients/${EUR}`, { nickname: 'x' }, { 'if-match': read.headers.get('etag')! }))
      .status,
    200,
  )
  t.match(
    (await owner.send('PATCH', `/recipients/${EUR}`, { nickname: 'y' }, { 'if-match': read.headers.get('etag')! }))
      .problem,
    { status: 412, code: 'precondition-failed' },
  )
  t.equal((await owner.send('PATCH', `/recipients/${EUR}`, { nickname: 'y' })).status, 428)
})

t.test('a customer has at most fifty thousand', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  await world.query(
    `insert into recipient (id, customer_id, type, name, currency, bank_country, bank, masked_identifier, status, created_by, created_at, updated_at)
    select gen_random_uuid(), $1, 'business', 'Filler', 'EUR', 'NL', '{}', '****', 'active', $1, now(), now() from generate_series(1, 49995)`,
    [client.tenantId],
  )
  t.equal((await createByKey(client)).status, 201)
  t.match((await createByKey(client)).problem, {
    status: 409,
    code: 'limit-reached',
    limit: 50_000,
    resource: 'recipient',
  })
})

t.test('requirements are shown as they are checked', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const reply = await client.get<{ version: string; rails: { rail: string }[]; verification: object }>(
    '/recipients/requirements?currency=GBP&country=GB&type=business',
  )
  t.match(reply.body, {
    currency: 'GBP',
    country: 'GB',
    type: 'business',
    verification: { scheme: 'cop', mandatory: true },
  })
  t.equal(reply.headers.get('etag'), `W/"${reply.body.version}"`)
  t.equal(
    (
      await client.get('/recipients/requirements?currency=GBP&country=GB', {
        'if-none-match': reply.headers.get('etag')!,
      })
    ).status,
    304,
  )
  t.match((await client.get('/recipients/requirements?currency=GBP')).problem, {
    status: 400,
    errors: [{ field: 'query.country', code: 'required' }],
  })
  t.match((await client.get('/recipients/requirements?currency=GBP&country=ZZ')).problem, {
    status: 400,
    errors: [{ field: 'query.country' }],
  })
  t.match((await client.get('/recipients/requirements?currency=XXX&country=GB')).problem, {
    status: 400,
    errors: [{ field: 'query.currency' }],
  })
  t.match((await client.get('/recipients/requirements?currency=BGN&country=BG')).problem, {
    status: 422,
    errors: [{ code: 'currency_withdrawn' }],
  })
})

t.test('another node pays by what a recipient is now', async (t) => {
  const node = { dispatch: false, settings: { SECRETS_KEY: 'two nodes of one service share it' } }
  await using one = await createWorld(node)
  await using other = await createWorld({ ...node, databaseUrl: one.databaseUrl })
  const { EUR } = one.seeded.recipients
  const there = one.seeded.client.with({ url: () => other.url })
  const body = () => paymentBody(one.seeded.balances.EUR, EUR, 100)
  t.equal((await there.createPayment(body())).status, 201, 'it knows the recipient')
  // The node that started last has given people their passwords.
  const owner = atNode(await other.person('owner').signIn(), one)
  const changed = (await patchAs(owner, EUR, { name: 'Another Name BV' })).body
  t.equal(changed.status, 'pending_approval')
  t.match((await there.createPayment(body())).problem, {
    code: 'recipient-not-approved',
    recipientStatus: 'pending_approval',
  })
  await decideAs(t, atNode(await other.person('approver').signIn(), one), changed.approval!.approvalId!, 'approved')
  t.equal((await there.createPayment(body())).status, 201, 'and does not say no on an old word')

  const key = randomUUID()
  const recipient = recipientBody()
  const made = await Promise.all(
    [one.seeded.client, there, one.seeded.client, there].map((client) =>
      client.post<Recipient>('/recipients', recipient, key),
    ),
  )
  const answered = made.filter(({ status }) => status === 201)
  t.ok(
    answered.length >= 1 &&
      made.every((reply) => reply.status === 201 || reply.problem.code === 'idempotency-key-in-use'),
  )
  t.equal(
    new Set(answered.map(({ text }) => text)).size,
    1,
    'one key at two nodes makes one recipient, and is answered with the same bytes',
  )
  t.equal((await one.query(`select from recipient where bank->>'iban' = $1`, [recipient.bank.iban])).length, 1)
})
