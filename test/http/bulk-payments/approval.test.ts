/**
 * Approval of bulk payments: one for all payments of a file, decided once they are made, and what each of them does
 * then.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { decide, setPolicy, tier } from '../approvals/people.ts'
import { rowsOf } from './support.ts'
import { checked, paymentsOf, row, settled, stalled, submit, submitted } from './submitting.ts'

const HOUR = 3_600_000
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

await using world = await createWorld({ dispatch: false })
const { client, balances, recipients } = world.seeded
const [owner, approver] = [await world.person('owner').signIn(), await world.person('approver').signIn()]
await setPolicy(t, owner, 'bulk_payment', { tiers: [tier(1, 10_000, null, { expiresAfterHours: 2 })] })
// A payment by itself needs nobody up to here; one of a file that has its approval needs none besides.
await setPolicy(t, owner, 'payment', { tiers: [tier(1, 5_000, null)] })

const held = async (): Promise<string> => (await client.balance(balances.EUR)).heldBalance.amountMinor
const statuses = async (id: string): Promise<string[]> =>
  (await paymentsOf(client, id)).map(({ status }) => status).sort()
const reaching = (id: string, wanted: readonly string[]): Promise<true> =>
  until(`the payments are ${wanted.join(', ')}`, async () =>
    JSON.stringify(await statuses(id)) === JSON.stringify(wanted) ? true : null,
  )
/** A file of 120 euro with three payments, one of them for a later day. */
const rows = () => [row(recipients.EUR, 60), row(recipients.EUR, 40), row(recipients.EUR, 20, { executionDate: later })]
const later = new Date(world.now() + 14 * 24 * HOUR).toISOString().slice(0, 10)

await t.test('one approval for all; approved, each goes on as it would alone', async (t) => {
  const before = BigInt(await held())
  const waiting = (await client.list<Approval>('/approvals', { 'filter[status]': 'pending' })).body.data
  const { id, number } = await checked(client, { name: 'Salaries', rows: [...rows(), row(randomUUID(), 1)] })
  const accepted = (await submit(client, id)).body
  const approvalId = accepted.approval!.id
  t.match(accepted.approval, {
    status: 'pending',
    subjectType: 'bulk_payment',
    subjectId: id,
    requiredApprovals: 1,
    canDecide: false,
    decisions: [],
    subjectSummary: { title: `Bulk payment ${number} (Salaries)`, amount: eur(12_000), itemCount: 3 },
    policy: { kind: 'bulk_payment', source: 'snapshot', issues: [] },
  })
  t.match(await settled(client, id), { status: 'submitted', approvalId, counts: { submitted: 3 } })
  t.strictSame(await statuses(id), ['pending_approval', 'pending_approval', 'pending_approval'])
  t.equal(BigInt(await held()) - before, 10_000n, 'what is due today is held, what is for a later day is not')
  t.equal(
    (await client.list<Approval>('/approvals', { 'filter[status]': 'pending' })).body.data.length,
    waiting.length + 1,
    'none has an approval of its own',
  )
  t.match(await paymentsOf(client, id), [{ approvalId }, { approvalId }, { approvalId }])

  t.match((await decide(approver, approvalId, { decision: 'approved', amount: eur(12_000) })).body, {
    status: 'approved',
    received: 1,
  })
  await reaching(id, ['processing', 'processing', 'scheduled'])
  t.match(
    (await paymentsOf(client, id)).filter(({ status }) => status === 'processing'),
    [{ approvedAt: String }, { approvedAt: String }],
  )
  t.equal(BigInt(await held()) - before, 10_000n)
  t.match(await rowsOf(client, { id }), [
    { paymentStatus: 'processing' },
    { paymentStatus: 'processing' },
    { paymentStatus: 'scheduled' },
    { paymentStatus: null },
  ])
})

await t.test('rejected, all are rejected and their money is free', async (t) => {
  const before = await held()
  const { id, approvalId } = await submitted(client, (await checked(client, { name: 'Rejected', rows: rows() })).id)
  await decide(approver, approvalId!, { decision: 'rejected', comment: 'Not these.' })
  await reaching(id, ['rejected', 'rejected', 'rejected'])
  t.match((await paymentsOf(client, id))[0], { statusReason: { code: 'rejected', message: 'Not these.' } })
  t.equal(await held(), before)
})

await t.test('a total below the tier needs nobody, and then each row is a payment like any other', async (t) => {
  const { id, approvalId } = await submitted(
    client,
    (await checked(client, { name: 'Small', rows: [row(recipients.EUR, 49), row(recipients.EUR, '50.99')] })).id,
  )
  t.equal(approvalId, null)
  t.strictSame(await statuses(id), ['pending_approval', 'processing'], 'with an approval of its own where it needs one')
})

await t.test('one of them is cancelled by itself, one whose recipient has changed goes no further', async (t) => {
  const { id, approvalId } = await submitted(client, (await checked(client, { name: 'One less', rows: rows() })).id)
  const [first, second] = (await rowsOf(client, { id })).map(({ paymentId }) => paymentId!)
  const cancelled = await client.post<Payment>(`/payments/${first}/cancel`, {})
  t.match(cancelled.body, { status: 'cancelled', statusReason: { code: 'cancelled_by_user' } }, cancelled.text)
  t.match((await client.get<Approval>(`/approvals/${approvalId}`)).body, { status: 'pending' }, 'the others still wait')
  // As it is when somebody else has changed what the payment was made for.
  await world.query(
    `update payment set details = jsonb_set(details::jsonb, '{recipientDigest}', '"another"')::text where id = $1`,
    [second],
  )
  await decide(approver, approvalId!, { decision: 'approved' })
  await reaching(id, ['cancelled', 'cancelled', 'scheduled'])
  t.match(await client.payment(second!), { statusReason: { code: 'recipient_changed' } })
})

await t.test('nobody decides while payments are still being made', async (t) => {
  const { id } = await checked(client, { name: 'SBX:STALL', rows: rows() })
  const { approval } = (await submit(client, id)).body
  await stalled(client, id)
  t.match((await decide(approver, approval!.id, { decision: 'approved' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'submitting',
    allowed: ['submitted', 'partially_submitted', 'cancelled'],
  })
  t.equal((await submit(client, id)).status, 202)
  t.match(await settled(client, id), { status: 'submitted' })
  t.match((await decide(approver, approval!.id, { decision: 'approved' })).body, { status: 'approved' })
  await reaching(id, ['processing', 'processing', 'scheduled'])
})

await t.test('a run that is cancelled before its first payment takes its approval with it', async (t) => {
  const poor = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  await world.query(
    `insert into approval_policy (id, customer_id, kind, version, terms, effective_from, updated_by, updated_at)
    select gen_random_uuid(), $1, kind, 1, terms, now(), updated_by, now() from approval_policy where customer_id = $2 and kind = 'bulk_payment'`,
    [poor.id, client.tenantId],
  )
  const { id } = await checked(poor.client, {
    name: 'SBX:STALL',
    rows: [row(poor.recipients.EUR, 100), row(poor.recipients.EUR, 100)],
  })
  const { approval } = (await submit(poor.client, id)).body
  await stalled(poor.client, id)
  world.advance(2 * 60_000)
  t.match((await poor.client.post<BulkPayment>(`/bulk-payments/${id}/cancel`, {})).body, {
    status: 'cancelled',
    counts: { submitted: 0, failed: 2 },
  })
  t.match((await poor.client.get<Approval>(`/approvals/${approval!.id}`)).body, { status: 'cancelled' })
})

await t.test('the sandbox decides for a file once its run is over', async (t) => {
  const { id, approvalId } = await submitted(client, (await checked(client, { name: 'SBX:APPROVE', rows: rows() })).id)
  t.match((await client.get<Approval>(`/approvals/${approvalId}`)).body, { status: 'pending' })
  world.advance(5_000)
  await reaching(id, ['processing', 'processing', 'scheduled'])
})

await t.test('an approval that expires meanwhile ends the run, and what it has made', async (t) => {
  const before = await held()
  const { id } = await checked(client, { name: 'SBX:STALL', rows: rows() })
  const { approval } = (await submit(client, id)).body
  await stalled(client, id)
  await world.query('update approval set expires_at = $2, wake_at = $2 where id = $1', [
    approval!.id,
    new Date(world.now()),
  ])
  await until('the approval has expired', async () =>
    (await client.get<Approval>(`/approvals/${approval!.id}`)).body.status === 'expired' ? true : null,
  )
  t.match((await submit(client, id)).problem, { status: 409, code: 'invalid-transition' })
  const done = await settled(client, id)
  t.match(done, { status: 'partially_submitted', counts: { submitted: 1, failed: 2 } })
  t.match((await rowsOf(client, { id })).slice(1), [{ failureCode: String }, { failureCode: String }])
  await reaching(id, ['cancelled'])
  t.match(await paymentsOf(client, id), [{ statusReason: { code: 'approval_expired' } }])
  t.equal(await held(), before)
})

await t.test('what waits when the test ends is found right by the audit', async (t) => {
  const { id } = await submitted(client, (await checked(client, { name: 'Waiting', rows: rows() })).id)
  t.strictSame(await statuses(id), ['pending_approval', 'pending_approval', 'pending_approval'])
  await world.audit()
  const damages = [
    [
      'bulk payments and their rows',
      'update bulk_payment set submitted = submitted - 1, failed = failed + 1 where id = $1',
      'update bulk_payment set submitted = submitted + 1, failed = failed - 1 where id = $1',
    ],
    [
      'rows and their payments',
      'update bulk_payment_row set amount = amount + 1 where bulk_payment_id = $1 and row_number = 2',
      'update bulk_payment_row set amount = amount - 1 where bulk_payment_id = $1 and row_number = 2',
    ],
    [
      'rows and their payments',
      `update payment set created_via = 'api_key' where id = (select payment_id from bulk_payment_row where bulk_payment_id = $1 and row_number = 1)`,
      `update payment set created_via = 'bulk' where id = (select payment_id from bulk_payment_row where bulk_payment_id = $1 and row_number = 1)`,
    ],
    [
      'payments that share an approval',
      `update approval set status = 'expired' where subject_id = $1`,
      `update approval set status = 'pending' where subject_id = $1`,
    ],
  ] as const
  for (const [check, damage, repair] of damages) {
    await world.query(damage, [id])
    await t.rejects(world.audit(), { message: new RegExp(`"name": "${check}"`) }, check)
    await world.query(repair, [id])
  }
})
