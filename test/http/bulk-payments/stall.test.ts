/** Runs of bulk payments that stand still: shaken, cancelled, given up; and those that do not. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { readBulk, rowsOf } from './support.ts'
import { checked, paymentsOf, row, settled, stalled, submit } from './submitting.ts'

const [MINUTE, ROWS] = [60_000, 3]

await using world = await createWorld({ dispatch: false })
const { client, recipients } = world.seeded
const stalling = (recipientId = recipients.EUR, euro = 1) => ({
  name: `SBX:STALL ${randomUUID()}`,
  rows: Array.from({ length: ROWS }, () => row(recipientId, euro)),
})
const cancel = (id: string) => client.post<BulkPayment>(`/bulk-payments/${id}/cancel`, {})

/** Submitted, and standing still after its first row. */
async function standing(): Promise<{ readonly bulk: BulkPayment; readonly job: Job }> {
  const { id } = await checked(client, stalling())
  const { job } = (await submit(client, id)).body
  return { bulk: await stalled(client, id), job }
}

await t.test('a run that stands still goes on when its submitter asks again', async (t) => {
  const { bulk, job } = await standing()
  t.match(bulk, { status: 'submitting', counts: { valid: 2, submitted: 1 }, lastProgressAt: String })
  t.match(
    (await submit(client, bulk.id)).body,
    { job: { id: job.id }, bulkPayment: { status: 'submitting' } },
    'the same job',
  )
  t.match(await settled(client, bulk.id), { status: 'submitted', counts: { submitted: 3, failed: 0 } })
  t.match((await client.get<Job>(`/jobs/${job.id}`)).body, { status: 'succeeded' })
})

await t.test('it is cancelled once it has stood still for two minutes, and not before', async (t) => {
  const { bulk, job } = await standing()
  t.match((await cancel(bulk.id)).problem, { status: 409, code: 'not-cancellable', currentStatus: 'submitting' })
  t.match((await client.post(`/jobs/${job.id}/cancel`, {})).problem, { code: 'not-cancellable' }, 'nor through its job')
  world.advance(2 * MINUTE)
  const cancelled = await cancel(bulk.id)
  t.match(
    cancelled.body,
    { status: 'partially_submitted', counts: { submitted: 1, failed: 2, valid: 0 }, closedAt: String },
    cancelled.text,
  )
  t.match(await rowsOf(client, bulk), [
    { status: 'submitted', paymentStatus: 'processing' },
    { status: 'failed', failureCode: 'cancelled', paymentId: null },
    { failureCode: 'cancelled' },
  ])
  t.equal((await paymentsOf(client, bulk.id)).length, 1, 'what was made stays')
  t.match((await client.get<Job>(`/jobs/${job.id}`)).body, { status: 'cancelled' })
  t.match((await cancel(bulk.id)).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'partially_submitted',
  })
})

await t.test('without one payment it ends as cancelled', async (t) => {
  const poor = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  const { id } = await checked(poor.client, stalling(poor.recipients.EUR))
  t.equal((await submit(poor.client, id)).status, 202)
  t.match(await stalled(poor.client, id), { status: 'submitting', counts: { failed: 1 } })
  world.advance(2 * MINUTE)
  t.match((await poor.client.post<BulkPayment>(`/bulk-payments/${id}/cancel`, {})).body, {
    status: 'cancelled',
    counts: { submitted: 0, failed: 3 },
  })
})

await t.test('after half an hour it ends by itself', async (t) => {
  const { bulk, job } = await standing()
  world.advance(29 * MINUTE)
  t.equal((await readBulk(client, bulk.id)).status, 'submitting')
  world.advance(MINUTE)
  t.match(await settled(client, bulk.id), { status: 'partially_submitted', counts: { submitted: 1, failed: 2 } })
  t.match((await rowsOf(client, bulk)).slice(1), [
    { failureCode: 'submission_stalled' },
    { failureCode: 'submission_stalled' },
  ])
  t.match((await client.get<Job>(`/jobs/${job.id}`)).body, { status: 'failed', error: { code: 'internal-error' } })
  t.match((await submit(client, bulk.id)).problem, { code: 'invalid-transition', currentStatus: 'partially_submitted' })
})

await t.test('only its submitter shakes it', async (t) => {
  const { bulk, job } = await standing()
  const owner = await world.person('owner').signIn()
  await owner.stepUp('payment.above_threshold')
  const asked = await owner.send<{ job: Job }>('POST', `/bulk-payments/${bulk.id}/submit`, undefined, {
    'idempotency-key': randomUUID(),
  })
  t.match(asked.body, { job: { id: job.id } }, 'others are told the same')
  t.match(
    await world.query("select lease, due_at > now() + interval '10 minutes' as waits from job where id = $1", [job.id]),
    [{ lease: null, waits: true }],
    'and it stands as it stood',
  )
  t.equal((await submit(client, bulk.id)).status, 202)
  await settled(client, bulk.id)
})

await t.test('a node that was held up makes no payment of a row that was given up', async (t) => {
  const { bulk } = await standing()
  // As it stands when a node dies between writing the id of a payment and asking for it.
  await world.query(
    `update bulk_payment_row set status = 'submitting', payment_id = gen_random_uuid() where bulk_payment_id = $1 and row_number = 2`,
    [bulk.id],
  )
  await world.query('update bulk_payment set valid = valid - 1, submitting = submitting + 1 where id = $1', [bulk.id])
  world.advance(2 * MINUTE)
  t.match((await cancel(bulk.id)).body, { counts: { submitted: 1, failed: 2, submitting: 0 } })
  const [, second] = await rowsOf(client, bulk)
  t.match(
    await until(
      'its key is used',
      async () =>
        (await world.query('select status, resource_id from idempotency where id = $1', [second!.id]))[0] ?? null,
    ),
    { status: 409, resource_id: null },
  )
})
