/**
 * Runs of bulk payments that stand still, to the millisecond: from two minutes on they can be cancelled, after half an
 * hour they end by themselves, once.
 */
import t from 'tap'
import type { Test } from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import type { Client } from '../../support/client.ts'
import { createWorld } from '../../support/world.ts'
import { setPolicy, tier } from '../approvals/people.ts'
import { readBulk, rowsOf } from './support.ts'
import { checked, paymentsOf, row, stalled, submit } from './submitting.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })
const { client, recipients } = world.seeded
// Files of a hundred euro and more need an approval.
await setPolicy(t, await world.person('owner').signIn(), 'bulk_payment', {
  tiers: [tier(1, 10_000, null, { expiresAfterHours: 48 })],
})

interface Standing {
  readonly id: string
  readonly job: Job
  readonly approval: Approval | null
  /** When it last made progress, epoch milliseconds. */
  readonly since: number
}

/** Submitted, and standing still after its first row. */
async function standing(of: Client = client, recipientId: string = recipients.EUR, euro = 1): Promise<Standing> {
  const rows = Array.from({ length: 3 }, () => row(recipientId, euro))
  const { id } = await checked(of, { name: 'SBX:STALL', rows })
  const { job, approval } = (await submit(of, id)).body
  const { lastProgressAt } = await stalled(of, id)
  return { id, job, approval, since: Date.parse(lastProgressAt!) }
}

const cancel = (id: string, by: Client = client) => by.post<BulkPayment>(`/bulk-payments/${id}/cancel`, {})

/** Checks that a run ended once: its rows, its job, its payment and its history. */
async function ended(t: Test, { id, job }: Standing, code: 'cancelled' | 'submission_stalled', at: number) {
  t.match(await readBulk(client, id), {
    status: 'partially_submitted',
    counts: { valid: 0, submitting: 0, submitted: 1, failed: 2 },
    closedAt: timestamp(at),
  })
  t.match(await rowsOf(client, { id }), [
    { status: 'submitted' },
    { status: 'failed', failureCode: code, paymentId: null },
    { status: 'failed', failureCode: code, paymentId: null },
  ])
  t.match((await client.get<Job>(`/jobs/${job.id}`)).body, {
    status: code === 'cancelled' ? 'cancelled' : 'failed',
    finishedAt: timestamp(at),
  })
  t.equal((await paymentsOf(client, id)).length, 1)
  t.strictSame(
    await world.query(`select status from outbox where object_id = $1 and type = 'job.completed'`, [job.id]),
    [{ status: code === 'cancelled' ? 'cancelled' : 'failed' }],
  )
}

await t.test('it can be cancelled after exactly two minutes', async (t) => {
  const run = await standing()
  world.advanceTo(run.since + 2 * MINUTE_MS - 1)
  t.match((await cancel(run.id)).problem, { status: 409, code: 'not-cancellable', currentStatus: 'submitting' })
  world.advance(1)
  t.equal((await cancel(run.id)).body.status, 'partially_submitted')
  await ended(t, run, 'cancelled', run.since + 2 * MINUTE_MS)
  await world.audit()
})

await t.test('it ends by itself after exactly half an hour', async (t) => {
  const run = await standing()
  world.advanceTo(run.since + 30 * MINUTE_MS - 1)
  await world.pollOnce()
  t.equal((await readBulk(client, run.id)).status, 'submitting')
  world.advance(1)
  await world.pollOnce()
  await ended(t, run, 'submission_stalled', run.since + 30 * MINUTE_MS)
  t.match((await submit(client, run.id)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'partially_submitted',
  })
  await world.audit()
})

await t.test('progress begins both times anew', async (t) => {
  const { id, since } = await standing()
  world.advanceTo(since + 29 * MINUTE_MS)
  await world.query('update bulk_payment set last_progress_at = $2 where id = $1', [id, new Date(world.now())])
  world.advanceTo(since + 30 * MINUTE_MS)
  await world.pollOnce()
  t.match((await cancel(id)).problem, { code: 'not-cancellable', currentStatus: 'submitting' })
  world.advanceTo(since + 59 * MINUTE_MS - 1)
  await world.pollOnce()
  t.equal((await readBulk(client, id)).status, 'submitting')
  world.advance(1)
  await world.pollOnce()
  t.equal((await readBulk(client, id)).status, 'partially_submitted')
})

await t.test('timers and a customer who cancels at that moment: it ends once, in one way', async (t) => {
  const runs = [await standing(), await standing(), await standing()]
  const last = Math.max(...runs.map(({ since }) => since))
  world.advanceTo(last + 30 * MINUTE_MS)
  const [replies] = await Promise.all([
    Promise.all(runs.map(({ id }) => cancel(id))),
    world.pollOnce(),
    world.pollOnce(),
  ])
  for (const [nth, run] of runs.entries()) {
    const reply = replies[nth]!
    if (reply.status !== 200)
      t.match(reply.problem, { status: 409, code: 'not-cancellable', currentStatus: 'partially_submitted' })
    await ended(t, run, reply.status === 200 ? 'cancelled' : 'submission_stalled', world.now())
  }
  await world.audit()
})

await t.test(
  'a clock that jumps over both times ends it as given up; without a payment its approval goes too',
  async (t) => {
    const run = await standing()
    const poor = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
    await world.query(
      `insert into approval_policy (id, customer_id, kind, version, terms, effective_from, updated_by, updated_at)
     select gen_random_uuid(), $1, kind, 1, terms, now(), updated_by, now() from approval_policy where customer_id = $2`,
      [poor.id, client.tenantId],
    )
    const without = await standing(poor.client, poor.recipients.EUR, 100)
    t.match(without.approval, { status: 'pending' })
    world.advance(DAY_MS)
    const now = world.now()
    await Promise.all([world.pollOnce(), world.pollOnce()])
    await ended(t, run, 'submission_stalled', now)
    t.match(await readBulk(poor.client, without.id), { status: 'cancelled', counts: { submitted: 0, failed: 3 } })
    t.match((await poor.client.get<Approval>(`/approvals/${without.approval!.id}`)).body, { status: 'cancelled' })
    t.match((await cancel(without.id, poor.client)).problem, { code: 'not-cancellable', currentStatus: 'cancelled' })
    await world.audit()
  },
)
