/** Reading jobs: their links stay the same for a minute, and a failed job tells whether it may be requested again. */
import t from 'tap'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'

const MINUTE_MS = 60_000

t.test('a job with a download is answered with 304 until its link is renewed', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const made = await client.post<Job>('/transactions/exports', {
    format: 'json',
    filter: { balanceId: balances.EUR, createdFrom: '2026-01-01', createdTo: '2026-12-31' },
  })
  const { id, status, finishedAt } = made.body
  t.equal(status, 'succeeded', made.text)
  // The minute of a link counts from the end of the job, so the clock is set between two renewals.
  world.advance(10 * MINUTE_MS + MINUTE_MS / 2 - ((world.now() - Date.parse(finishedAt!)) % MINUTE_MS))
  const first = await client.get<Job>(`/jobs/${id}`)
  const tag = first.headers.get('etag') as string
  t.equal((await client.get(`/jobs/${id}`, { 'if-none-match': tag })).status, 304, 'nothing has changed')
  const list = await client.get('/jobs')
  t.equal((await client.get('/jobs', { 'if-none-match': list.headers.get('etag') as string })).status, 304)
  const { url, expiresAt } = first.body.result!.download!
  t.equal((await fetch(url)).status, 200)
  const left = Date.parse(expiresAt) - world.now()
  t.ok(left > 4 * MINUTE_MS && left <= 5 * MINUTE_MS, `the link lives for four to five minutes: ${left} ms`)
  world.advance(MINUTE_MS)
  const second = await client.get<Job>(`/jobs/${id}`, { 'if-none-match': tag })
  t.equal(second.status, 200, 'a minute later there is a new link')
  t.not(second.body.result!.download!.url, url)
  t.equal((await fetch(url)).status, 200, 'and the old one is still good')
})

t.test('a failed job that moves no money may be requested again; a submission may not', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, recipients } = world.seeded
  for (const column of ['SBX:FAIL', 'sbx/fail']) {
    const { id } = (await client.post<Job>('/transactions/exports', { format: 'csv', columns: [column] })).body
    const failed = await until(`${column} fails`, async () => {
      const job = (await client.get<Job>(`/jobs/${id}`)).body
      return job.status === 'failed' ? job : null
    })
    t.match(failed.error, { code: 'internal-error', retryable: true, instance: `/v1/jobs/${id}` }, column)
  }
  const rows = [1, 2].map((nth) => ({
    recipientId: recipients.EUR,
    currency: 'EUR',
    amount: '1.00',
    reference: `Row ${nth}`,
  }))
  const { id } = (await client.post<BulkPayment>('/bulk-payments', { name: 'sbx/stall', rows })).body
  const reaches = (status: string, holds: (bulk: BulkPayment) => boolean = () => true) =>
    until(`it is ${status}`, async () => {
      const bulk = (await client.get<BulkPayment>(`/bulk-payments/${id}`)).body
      return bulk.status === status && holds(bulk) ? bulk : null
    })
  await reaches('ready')
  const { job } = (await client.post<{ job: Job }>(`/bulk-payments/${id}/submit`, {})).body
  await reaches('submitting', ({ counts }) => counts.submitted === 1)
  world.advance(31 * MINUTE_MS)
  await reaches('partially_submitted')
  const ended = (await client.get<Job>(`/jobs/${job.id}`)).body
  t.match(ended, { status: 'failed', error: { code: 'internal-error', retryable: false } })
})
