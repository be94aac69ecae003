import t from 'tap'

import { eventsOf, messagesOf, postingsOf, sentPayment } from '../../../support/outcomes.ts'
import { until } from '../../../support/until.ts'
import { createWorld, type World } from '../../../support/world.ts'
import type { Payment } from '../../../../lib/payments/payment-schema.ts'
import type { PaymentStatusUpdate } from '../../../../lib/payments/payment-outcome-schema.ts'

const OPENING = 10_000_000n
const SECOND = 1_000
const DAY = 86_400_000
const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })
const WHY = { reasonCode: 'DUPL', note: 'The invoice was paid twice by mistake.' }

async function completedPayment(world: World, amount: number, reference?: string): Promise<Payment> {
  const { id } = await sentPayment(world, amount, reference)
  world.advance(3 * SECOND)
  return await world.seeded.client.paymentReaching(id, 'completed')
}

const recall = (world: World, id: string, body: object = WHY, key = crypto.randomUUID() as string) =>
  world.seeded.client.post<Payment>(`/payments/${id}/recall`, body, key)
const recalled = (world: World, id: string, status: string) =>
  until(`the recall of ${id} is ${status}`, async () => {
    const payment = await world.seeded.client.payment(id)
    return payment.recall?.status === status ? payment : null
  })
/** The bank was told: what is planned of the order is its answer. */
const passedOn = (world: World, id: string) =>
  until(
    `the recall of ${id} is at the bank`,
    async () =>
      (await world.query(`select from payment p where p.id = $1 and p.recall_due_at > now() + interval '1 day'`, [id]))
        .length === 1,
  )

t.test('a recall that is accepted brings the money back', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { id } = await completedPayment(world, 1801)
  const key = crypto.randomUUID()
  const asked = await recall(world, id, WHY, key)
  t.equal(asked.status, 202, asked.text)
  t.match(asked.body, {
    id,
    status: 'completed',
    recall: { status: 'requested', reasonCode: 'DUPL', requestedAt: String, decidedAt: null, response: null },
    return: null,
  })
  t.notOk('note' in asked.body.recall!)
  const again = await recall(world, id, WHY, key)
  t.strictSame([again.status, again.text, again.headers.get('idempotency-replayed')], [202, asked.text, 'true'])
  t.match((await recall(world, id)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'completed',
    allowed: ['completed'],
  })
  await passedOn(world, id)
  t.equal((await client.payment(id)).status, 'completed', 'asking changes nothing')
  world.advance(10 * SECOND)
  const returned = await client.paymentReaching(id, 'returned')
  t.match(returned, {
    recall: { status: 'accepted', reasonCode: 'DUPL', decidedAt: String, response: 'FOCR' },
    return: { reasonCode: 'FOCR', amount: eur(1801) },
    returnedAmount: eur(1801),
    statusReason: { code: 'recalled' },
  })
  t.strictSame(await postingsOf(world, id), [
    ['L10', '1801'],
    ['L11', '1801'],
    ['L13', '1801'],
  ])
  t.strictSame((await eventsOf(world, id)).slice(3), [
    ['payment.recall_updated', 'requested', null],
    ['payment.status_changed', 'returned', 'completed'],
    ['payment.returned', 'returned', 'completed'],
    ['payment.recall_updated', 'accepted', 'requested'],
  ])
  t.match(await client.balance(balances.EUR), { bookBalance: eur(OPENING), heldBalance: eur(0) })
  const [entry] = await world.query<{ action: string; object_id: string }>(
    `select action, object_id from audit_event where action = 'payment.recall_requested'`,
  )
  t.equal(entry?.object_id, id)
  t.match((await recall(world, id)).problem, { code: 'invalid-transition', currentStatus: 'returned' })
})

t.test('a recall that is declined keeps the reason, and nothing moves', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { id } = await completedPayment(world, 1802)
  t.equal((await recall(world, id)).status, 202)
  await passedOn(world, id)
  world.advance(10 * SECOND)
  t.match(await recalled(world, id, 'rejected'), {
    status: 'completed',
    recall: { response: 'CUST', decidedAt: String },
    return: null,
  })
  t.strictSame((await eventsOf(world, id)).slice(3), [
    ['payment.recall_updated', 'requested', null],
    ['payment.recall_updated', 'rejected', 'requested'],
  ])
  t.strictSame(await messagesOf(world, id), [
    ['settled', null],
    ['recall_rejected', 'CUST'],
  ])
  t.match(await client.balance(balances.EUR), { bookBalance: eur(OPENING - 1802n) })
  const updates = await client.list<PaymentStatusUpdate>(`/payments/${id}/updates`)
  t.match(
    updates.body.data.map(({ message, actor, status, previousStatus }) => [message, actor, status, previousStatus]),
    [
      ['The recipient’s bank declined the recall.', 'partner', 'completed', 'completed'],
      ['The recall was passed on to the recipient’s bank.', 'system', 'completed', 'completed'],
      ['Recall requested.', 'member', 'completed', 'completed'],
      ['Payment completed.', 'partner', 'completed', 'processing'],
      ['Payment handed to the bank.', 'system', 'processing', 'processing'],
      [String, 'member', 'processing', null],
    ],
  )
  t.match((await recall(world, id)).problem, { code: 'invalid-transition' }, 'it is asked back once')
})

t.test('a recall that nobody answers is given up after fifteen business days', async (t) => {
  await using world = await createWorld()
  const { id } = await completedPayment(world, 5_000)
  t.equal((await recall(world, id)).status, 202)
  await passedOn(world, id)
  // The bank forgets it.
  await world.query(`update sandbox_order set due_at = null where reference = $1`, [id])
  world.advance(14 * DAY)
  await world.pollOnce()
  t.match(await world.seeded.client.payment(id), { recall: { status: 'requested' } }, 'two weeks are ten business days')
  world.advance(16 * DAY)
  t.match(await recalled(world, id, 'expired'), { status: 'completed', recall: { response: null, decidedAt: String } })
  t.strictSame((await eventsOf(world, id)).at(-1), ['payment.recall_updated', 'expired', 'requested'])
})

t.test(
  'only what has arrived can be recalled, by rails that know it, with a reason, for thirteen months',
  async (t) => {
    await using world = await createWorld()
    const { client } = world.seeded
    const stuck = await sentPayment(world, 1701)
    t.match((await recall(world, stuck.id)).problem, {
      status: 409,
      code: 'invalid-transition',
      currentStatus: 'processing',
      allowed: ['completed'],
    })
    const { id } = await completedPayment(world, 5_000)
    for (const [body, field] of [
      [{ ...WHY, reasonCode: 'AC04' }, '/reasonCode'],
      [{ ...WHY, note: 'Too short' }, '/note'],
      [{ reasonCode: 'DUPL' }, '/note'],
      [{ ...WHY, amount: 1 }, '/amount'],
    ] as const) {
      t.match(
        (await recall(world, id, body)).problem,
        { status: 422, code: 'validation-error', errors: [{ field }] },
        field,
      )
    }
    t.match((await recall(world, crypto.randomUUID())).problem, { status: 404, code: 'not-found' })
    t.match(
      (
        await client.send(`/v1/payments/${id}/recall`, {
          method: 'POST',
          body: JSON.stringify(WHY),
          headers: { 'content-type': 'application/json' },
        })
      ).problem,
      { status: 400, errors: [{ field: 'header.Idempotency-Key', code: 'required' }] },
    )
    await world.query(`update payment set completed_at = completed_at - interval '13 months 2 days' where id = $1`, [
      id,
    ])
    const late = crypto.randomUUID()
    const refused = await recall(world, id, WHY, late)
    t.match(refused.problem, {
      status: 409,
      code: 'invalid-transition',
      detail: 'A payment can be recalled within 13 months.',
    })
    await world.query(`update payment set completed_at = completed_at + interval '13 months 2 days' where id = $1`, [
      id,
    ])
    t.equal((await recall(world, id, WHY, late)).text, refused.text, 'a no is remembered under its key')
    await world.query(`update payment set rail = 'bacs' where id = $1`, [id])
    t.match((await recall(world, id)).problem, {
      code: 'invalid-transition',
      detail: 'Payments of this rail cannot be recalled.',
    })
    t.equal((await client.payment(id)).recall, null)
  },
)

t.test('money that comes back by itself ends the recall, and a late answer changes nothing', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { id } = await completedPayment(world, 1401)
  t.equal((await recall(world, id)).status, 202)
  await passedOn(world, id)
  world.advance(10 * SECOND)
  t.match(await client.paymentReaching(id, 'returned'), {
    return: { reasonCode: 'AC04' },
    recall: { status: 'accepted', response: 'AC04' },
  })
  world.advance(20 * SECOND)
  await until('the late answer was heard', async () => (await messagesOf(world, id)).length === 3)
  t.strictSame(await messagesOf(world, id), [
    ['settled', null],
    ['returned', 'AC04'],
    ['returned', 'FOCR'],
  ])
  t.equal((await postingsOf(world, id)).filter(([rule]) => rule === 'L13').length, 1)
  t.match(await client.balance(balances.EUR), { bookBalance: eur(OPENING) })
})

t.test('an operator that has switched recalls off takes none; one under way is answered', async (t) => {
  await using world = await createWorld()
  const [asked, other] = [await completedPayment(world, 1802), await completedPayment(world, 1900)]
  t.equal((await recall(world, asked.id)).status, 202)
  const admin = await world.person('operator_admin').signIn()
  await admin.stepUp('settings.change')
  const flags = { 'payments.recalls': false }
  t.equal((await admin.send('PATCH', '/operator/feature-flags', { flags }, { 'if-match': '*' })).status, 200)
  t.match((await recall(world, other.id)).problem, {
    status: 404,
    code: 'feature-disabled',
    feature: 'payments.recalls',
  })
  await passedOn(world, asked.id)
  world.advance(11 * SECOND)
  t.match((await recalled(world, asked.id, 'rejected')).recall, { response: 'CUST' })
})
