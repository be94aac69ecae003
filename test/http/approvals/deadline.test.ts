/**
 * The deadline of approvals, to the millisecond: what may be decided before it, and what has ended from it on, however
 * late the timer is and whoever asks at that moment.
 */
import t from 'tap'
import type { Test } from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { eventsOf } from '../../support/outcomes.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { checked, paymentsOf, row, submitted } from '../bulk-payments/submitting.ts'
import { createByKey } from '../recipients/support.ts'
import { decide, setPolicy, tier } from './people.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINOR = 5_000

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })
const { client, balances, recipients } = world.seeded
await setPolicy(t, await world.person('owner').signIn(), 'payment', {
  tiers: [tier(1, 0, null, { expiresAfterHours: 48 })],
})

const pay = async (): Promise<Payment> =>
  (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, MINOR))).body
const approvalOf = async ({ approvalId }: Pick<Payment, 'approvalId'>): Promise<Approval> =>
  (await client.get<Approval>(`/approvals/${approvalId}`)).body
const deadlineOf = async (payment: Payment): Promise<number> => Date.parse((await approvalOf(payment)).expiresAt!)
const available = async (): Promise<number> => Number((await client.balance(balances.EUR)).availableBalance.amountMinor)
const cancel = (id: string) => client.post<Payment>(`/payments/${id}/cancel`, {})

/** Checks that a payment ended once, with its approval, and that its money is free since then. */
async function endedAt(t: Test, payment: Payment, at: number): Promise<void> {
  t.match(await approvalOf(payment), { status: 'expired', received: 0, decisions: [] })
  t.match(await client.payment(payment.id), {
    status: 'cancelled',
    statusReason: { code: 'approval_expired' },
    cancelledAt: timestamp(at),
  })
  t.strictSame(await eventsOf(world, payment.id), [
    ['payment.created', 'pending_approval', null],
    ['payment.status_changed', 'cancelled', 'pending_approval'],
  ])
  t.strictSame(await eventsOf(world, payment.approvalId!), [
    ['approval.requested', 'pending', null],
    ['approval.decided', 'expired', 'pending'],
  ])
  t.match(
    (await client.holds(balances.EUR, 'released')).filter(({ subjectId }) => subjectId === payment.id),
    [{ resolvedAt: timestamp(at) }],
  )
}

await t.test('a millisecond before its deadline an approval is decided; at its deadline it expires', async (t) => {
  const before = await available()
  const [approved, forgotten] = [await pay(), await pay()]
  const { createdAt, expiresAt } = await approvalOf(approved)
  const deadline = Date.parse(expiresAt!)
  t.equal(deadline - Date.parse(createdAt), 48 * HOUR_MS)
  world.advanceTo(deadline - 1)
  await world.pollOnce()
  t.match(await approvalOf(forgotten), { status: 'pending' })
  const approver = await world.person('approver').signIn()
  t.match((await decide(approver, approved.approvalId!, { decision: 'approved' })).body, { status: 'approved' })
  world.advanceTo(deadline)
  await world.pollOnce()
  await endedAt(t, forgotten, deadline)
  t.equal((await client.payment(approved.id)).status, 'processing')
  t.equal(await available(), before - MINOR)
  await world.audit()
})

await t.test('a timer that is late gives nobody more time', async (t) => {
  const before = await available()
  const [undecided, withdrawn] = [await pay(), await pay()]
  const deadline = await deadlineOf(undecided)
  // The approvers are told first; then the timer is set as after a deadline at which no node ran.
  await world.pollOnce()
  await world.query('update approval set wake_at = $2 where id = any($1)', [
    [undecided.approvalId, withdrawn.approvalId],
    new Date(deadline + HOUR_MS),
  ])
  world.advanceTo(deadline)
  await world.pollOnce()
  t.match(await approvalOf(undecided), { status: 'pending' }, 'the timer has not run')
  const approver = await world.person('approver').signIn()
  for (const decision of ['approved', 'rejected'])
    t.match((await decide(approver, undecided.approvalId!, { decision, comment: 'Late.' })).problem, {
      status: 409,
      code: 'invalid-transition',
      currentStatus: 'expired',
      allowed: ['pending'],
    })
  const owner = await world.person('owner').signIn()
  t.match((await owner.post(`/approvals/${undecided.approvalId}/remind`)).problem, {
    code: 'invalid-transition',
    currentStatus: 'expired',
  })
  t.match((await client.payment(undecided.id)).status, 'pending_approval', 'nothing was written')
  t.match((await cancel(withdrawn.id)).problem, { status: 409, code: 'not-cancellable', currentStatus: 'cancelled' })
  await endedAt(t, withdrawn, deadline)
  world.advanceTo(deadline + HOUR_MS)
  await world.pollOnce()
  await endedAt(t, undecided, deadline + HOUR_MS)
  t.equal(await available(), before)
  await world.audit()
})

await t.test('timers, a customer and an approver at the deadline: each approval ends once', async (t) => {
  const before = await available()
  const payments = [await pay(), await pay(), await pay(), await pay()]
  const [decided] = payments
  const deadline = await deadlineOf(decided!)
  world.advanceTo(deadline - 1)
  const approver = await world.person('approver').signIn()
  await approver.stepUp('approval.decide', { type: 'approval', id: decided!.approvalId! })
  world.advanceTo(deadline)
  const [decision, cancelled] = await Promise.all([
    approver.post(`/approvals/${decided!.approvalId}/decisions`, { decision: 'approved' }),
    Promise.all(payments.slice(1).map(({ id }) => cancel(id))),
    world.pollOnce(),
    world.pollOnce(),
  ])
  t.match(decision.problem, { status: 409, code: 'invalid-transition', currentStatus: 'expired' })
  for (const { problem } of cancelled) t.match(problem, { code: 'not-cancellable', currentStatus: 'cancelled' })
  for (const payment of payments) await endedAt(t, payment, deadline)
  t.equal(await available(), before)
  await world.audit()
})

await t.test('the approval of a file expires at its deadline with all payments of the file', async (t) => {
  const before = await available()
  const rows = [row(recipients.EUR, 50), row(recipients.EUR, 50), row(recipients.EUR, 50)]
  const { id, approvalId } = await submitted(client, (await checked(client, { rows })).id)
  const deadline = Date.parse((await approvalOf({ approvalId })).expiresAt!)
  const statuses = async () => new Set((await paymentsOf(client, id)).map(({ status }) => status))
  world.advanceTo(deadline - 1)
  await world.pollOnce()
  t.strictSame(await statuses(), new Set(['pending_approval']))
  world.advanceTo(deadline)
  await until('its payments have ended', async () => {
    await world.pollOnce()
    return !(await statuses()).has('pending_approval')
  })
  const payments = await paymentsOf(client, id)
  t.equal(payments.length, rows.length)
  for (const payment of payments) {
    t.match(payment, {
      status: 'cancelled',
      statusReason: { code: 'approval_expired' },
      cancelledAt: timestamp(deadline),
    })
    t.strictSame(await eventsOf(world, payment.id), [
      ['payment.created', 'pending_approval', null],
      ['payment.status_changed', 'cancelled', 'pending_approval'],
    ])
  }
  t.strictSame(await eventsOf(world, approvalId!), [
    ['approval.requested', 'pending', null],
    ['approval.decided', 'expired', 'pending'],
  ])
  t.equal(await available(), before)
  await world.audit()
})

await t.test('a clock that jumps over several deadlines ends all of them, each once', async (t) => {
  const before = await available()
  const waiting = [await pay(), await pay()]
  const recipient = (await createByKey(client)).body
  world.advance(10 * DAY_MS)
  const now = world.now()
  await world.pollOnce()
  for (const payment of waiting) await endedAt(t, payment, now)
  t.match((await client.get<Recipient>(`/recipients/${recipient.id}`)).body, {
    status: 'rejected',
    approval: { status: 'expired', decidedAt: timestamp(now), decidedBy: null },
  })
  t.strictSame(
    await world.query(`select from notification where type = 'approval_expiring' and object_id = any($1)`, [
      [...waiting.map(({ approvalId }) => approvalId), recipient.approval!.approvalId],
    ]),
    [],
    'approvers are not warned of a deadline that has passed',
  )
  t.equal(await available(), before)
  await world.audit()
})
