/** Bulk payments that are submitted: a payment of each valid row, once, and what is told meanwhile. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import { createWorld } from '../../support/world.ts'
import { readBulk, rowsOf } from './support.ts'
import { checked, paymentsOf, row, settled, stalled, submit } from './submitting.ts'

await using world = await createWorld({ dispatch: false })
const { client, balances, recipients } = world.seeded

const eventsOf = async (id: string) =>
  (
    await world.query<{ type: string; status: string }>(
      'select type, status from outbox where object_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ type, status }) => `${type} ${status}`)

await t.test('every valid row becomes a payment, every other stays what it is', async (t) => {
  const bulk = await checked(client, {
    name: 'Suppliers',
    rows: [row(recipients.EUR, '12.50', { externalId: 'bulk-1' }), row(recipients.EUR, 7), row(randomUUID(), 1)],
  })
  t.match(bulk, { status: 'ready', counts: { total: 3, valid: 2, invalid: 1 } })
  const key = randomUUID()
  const accepted = await submit(client, bulk.id, key)
  t.equal(accepted.status, 202, accepted.text)
  t.match(accepted.body, {
    bulkPayment: {
      id: bulk.id,
      status: 'submitting',
      submittedBy: bulk.createdBy,
      submittedAt: String,
      approvalId: null,
    },
    job: { kind: 'bulk_payment_submit', status: 'queued', subject: { object: 'bulk_payment', id: bulk.id } },
    approval: null,
  })
  t.equal(accepted.headers.get('location'), `/v1/jobs/${accepted.body.job.id}`)
  const done = await settled(client, bulk.id)
  t.match(done, {
    status: 'submitted',
    counts: { total: 3, valid: 0, invalid: 1, submitting: 0, submitted: 2, failed: 0 },
    closedAt: String,
    jobId: accepted.body.job.id,
  })
  const replay = await submit(client, bulk.id, key)
  t.equal(replay.text, accepted.text, 'the same key is the same bytes')
  t.equal(replay.headers.get('location'), accepted.headers.get('location'))
  t.match((await submit(client, bulk.id)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'submitted',
    allowed: ['ready', 'submitting'],
  })
  t.match((await client.get<Job>(`/jobs/${accepted.body.job.id}`)).body, {
    status: 'succeeded',
    progress: { processed: 2, total: 2 },
    result: { rows: 2, counts: { submitted: 2, failed: 0 } },
  })

  const [first, second, third] = await rowsOf(client, bulk)
  t.match(
    [first, second, third],
    [
      { status: 'submitted', paymentStatus: 'processing' },
      { status: 'submitted' },
      { status: 'invalid', paymentId: null, failureCode: null },
    ],
  )
  const payments = await paymentsOf(client, bulk.id)
  t.strictSame(new Set(payments.map(({ id }) => id)), new Set([first!.paymentId, second!.paymentId]))
  t.match(
    payments.find(({ id }) => id === first!.paymentId),
    {
      status: 'processing',
      bulkPaymentId: bulk.id,
      bulkRowId: first!.id,
      createdVia: 'bulk',
      createdBy: bulk.createdBy,
      externalId: 'bulk-1',
      amount: { amountMinor: '1250', currency: 'EUR' },
      reference: 'Invoice 42',
      sourceBalanceId: balances.EUR,
    },
  )
  t.strictSame(await eventsOf(bulk.id), [
    'bulk_payment.status_changed validating',
    'bulk_payment.status_changed ready',
    'bulk_payment.status_changed submitting',
    'bulk_payment.status_changed submitted',
  ])
  t.strictSame(
    (await world.query('select action from audit_event where object_id = $1 order by created_at', [bulk.id]))
      .map(({ action }: { action?: string }) => action)
      .slice(-1),
    ['bulk_payment.submitted'],
  )
})

await t.test('money is looked for row by row, and what is missing fails its row alone', async (t) => {
  const poor = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
  const bulk = await checked(poor.client, {
    name: 'Too much',
    rows: [row(poor.recipients.EUR, 6), row(poor.recipients.EUR, 5), row(poor.recipients.EUR, 4)],
  })
  t.equal(bulk.status, 'ready', 'nothing is set aside before')
  const done = await (async () => {
    t.equal((await submit(poor.client, bulk.id)).status, 202)
    return await settled(poor.client, bulk.id)
  })()
  t.match(done, { status: 'partially_submitted', counts: { submitted: 2, failed: 1 } })
  t.match(
    (await rowsOf(poor.client, bulk)).filter(({ status }) => status === 'failed'),
    [{ failureCode: 'insufficient_funds', paymentId: null, errors: [{ code: String }] }],
  )
  t.equal((await poor.client.balance(poor.balanceIds[0]!)).availableBalance.amountMinor, '0')
  const none = await checked(poor.client, { name: 'All too much', rows: [row(poor.recipients.EUR, 6)] })
  t.equal((await submit(poor.client, none.id)).status, 202)
  t.match(
    await settled(poor.client, none.id),
    { status: 'partially_submitted', counts: { submitted: 0, failed: 1 } },
    'also when every row failed',
  )
})

await t.test('what is not ready is not submitted, and others find nothing', async (t) => {
  const invalid = await checked(client, { name: 'Nothing', rows: [row(randomUUID(), 1)] })
  t.match((await submit(client, invalid.id)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'invalid',
  })
  const partly = await checked(client, {
    name: 'All or nothing',
    requireAllValid: true,
    rows: [row(recipients.EUR, 1), row(randomUUID(), 1)],
  })
  t.match((await submit(client, partly.id)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'invalid',
  })
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
  t.equal((await submit(other.client, partly.id)).status, 404)
  t.equal((await submit(client, randomUUID())).status, 404)
  t.equal(
    (await client.send(`/v1/bulk-payments/${partly.id}/submit`, { method: 'POST' })).problem.code,
    'malformed-request',
    'a key is required',
  )
  const person = await world.person('owner').signIn()
  const ready = await checked(client, { name: 'For people', rows: [row(recipients.EUR, 1)] })
  const key = { 'idempotency-key': randomUUID() }
  t.match((await person.send('POST', `/bulk-payments/${ready.id}/submit`, undefined, key)).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'payment.above_threshold',
  })
  await person.stepUp('payment.above_threshold')
  t.equal((await person.send('POST', `/bulk-payments/${ready.id}/submit`, undefined, key)).status, 202)
  t.match(await settled(client, ready.id), { status: 'submitted' })
})

await t.test('an operator has five runs at a time, however many ask at once', async (t) => {
  const bulks = await Promise.all(
    Array.from({ length: 7 }, (_, nth) =>
      checked(client, { name: `SBX:STALL ${nth}`, rows: [row(recipients.EUR, 1), row(recipients.EUR, 2)] }),
    ),
  )
  const answers = await Promise.all(bulks.map(({ id }) => submit(client, id)))
  t.strictSame(answers.map(({ status }) => status).sort(), [202, 202, 202, 202, 202, 429, 429])
  const refused = answers.findIndex(({ status }) => status === 429)
  t.match(answers[refused]!.problem, { code: 'rate-limited', violatedPolicies: ['bulk-submit'] })
  t.ok(Number(answers[refused]!.headers.get('retry-after')) >= 1)
  t.equal((await readBulk(client, bulks[refused]!.id)).status, 'ready')
  for (const { id } of bulks.filter((_, nth) => answers[nth]!.status === 202)) {
    await stalled(client, id)
    t.equal((await submit(client, id)).status, 202, 'one that goes on is none more')
    t.match(await settled(client, id), { status: 'submitted', counts: { submitted: 2 } })
  }
  t.equal((await submit(client, bulks[refused]!.id)).status, 202, 'there is room again')
})
