import t from 'tap'

import type { Balance } from '../../../../lib/balances/balance-schema.ts'
import type { SuspenseItem } from '../../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { PageBody } from '../../../support/client.ts'
import { eventsOf, messagesOf, postingsOf, sentPayment } from '../../../support/outcomes.ts'
import { createWorld } from '../../../support/world.ts'

const OPENING = 10_000_000n
const SECOND = 1_000
const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })

t.test('a payment that comes back after it has arrived is returned, and its money is there again', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { id } = await sentPayment(world, 1401)
  world.advance(2 * SECOND)
  const completed = await client.paymentReaching(id, 'completed')
  t.strictSame([completed.return, completed.returnedAmount], [null, null])
  world.advance(10 * SECOND)
  const returned = await client.paymentReaching(id, 'returned')
  t.match(returned, {
    returnedAmount: eur(1401),
    failure: null,
    statusReason: { code: 'account_closed', message: 'The recipient’s account is closed.' },
    completedAt: completed.completedAt!,
    return: {
      amount: eur(1401),
      reasonCode: 'AC04',
      reason: 'The recipient’s account is closed.',
      receivedAt: String,
      transactionId: String,
    },
    cancellable: false,
    recall: null,
  })
  t.strictSame(await postingsOf(world, id), [
    ['L10', '1401'],
    ['L11', '1401'],
    ['L13', '1401'],
  ])
  t.strictSame(await eventsOf(world, id), [
    ['payment.created', 'processing', null],
    ['payment.status_changed', 'completed', 'processing'],
    ['payment.completed', 'completed', 'processing'],
    ['payment.status_changed', 'returned', 'completed'],
    ['payment.returned', 'returned', 'completed'],
  ])
  t.match(await client.balance(balances.EUR), {
    bookBalance: eur(OPENING),
    heldBalance: eur(0),
    availableBalance: eur(OPENING),
  })
  t.match((await client.journal(balances.EUR))[0], {
    direction: 'credit',
    amount: eur(1401),
    runningBalance: eur(OPENING),
    type: 'payment_return',
    source: { object: 'payment', id },
    counterpartyName: 'Amsterdam Trading BV',
    reference: 'Invoice 42',
  })
  const updates = await world.query<{ status: string; message: string; actor: string }>(
    'select status, message, actor from status_update where object_id = $1 order by version',
    [id],
  )
  t.match(updates.at(-1), {
    status: 'returned',
    message: 'Payment returned. The recipient’s account is closed.',
    actor: 'partner',
  })
  t.strictSame(await messagesOf(world, id), [
    ['settled', null],
    ['returned', 'AC04'],
  ])
})

t.test('banks on the way may keep a part of what comes back', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const [byAmount, byToken, whole] = [
    await sentPayment(world, 1403),
    await sentPayment(world, 5_000, 'SBX:RET-FEE'),
    await sentPayment(world, 1402),
  ]
  world.advance(3 * SECOND)
  for (const { id } of [byAmount, byToken, whole]) await client.paymentReaching(id, 'completed')
  world.advance(10 * SECOND)
  t.match(await client.paymentReaching(byAmount.id, 'returned'), {
    amount: eur(1403),
    returnedAmount: eur(403),
    return: { amount: eur(403), reasonCode: 'AC04' },
  })
  t.match(await client.paymentReaching(byToken.id, 'returned'), { amount: eur(5_000), returnedAmount: eur(4_000) })
  t.match(await client.paymentReaching(whole.id, 'returned'), {
    returnedAmount: eur(1402),
    return: { reasonCode: 'MS03' },
    statusReason: { code: 'refused_by_recipient_bank' },
  })
  t.match(
    await client.balance(balances.EUR),
    { bookBalance: eur(OPENING - 2_000n), heldBalance: eur(0) },
    'what is missing stays missing',
  )
})

t.test('a payment that comes back before anybody confirmed it is confirmed and returned in one move', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const { id } = await sentPayment(world, 1404)
  world.advance(3 * SECOND)
  t.match(await client.paymentReaching(id, 'returned'), {
    completedAt: null,
    returnedAmount: eur(1404),
    return: { reasonCode: 'AC04' },
  })
  t.strictSame(await postingsOf(world, id), [
    ['L10', '1404'],
    ['L11', '1404'],
    ['L13', '1404'],
  ])
  t.strictSame((await eventsOf(world, id)).slice(1), [
    ['payment.status_changed', 'returned', 'processing'],
    ['payment.returned', 'returned', 'processing'],
  ])
  t.strictSame((await world.query('select from partner_instruction')).length, 0)
  t.match(await client.balance(balances.EUR), { bookBalance: eur(OPENING), heldBalance: eur(0) })
})

t.test('what the bank never speaks of stays where it is, and what is slow takes its time', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const [stuck, slow] = [await sentPayment(world, 1701), await sentPayment(world, 1702)]
  world.advance(50 * SECOND)
  await world.pollOnce()
  for (const { id } of [stuck, slow]) t.equal((await client.payment(id)).status, 'processing')
  world.advance(11 * SECOND)
  await client.paymentReaching(slow.id, 'completed')
  t.equal((await client.payment(stuck.id)).status, 'processing')
})

t.test('what comes back to a balance that is closed waits for its owner, like whatever else comes to it', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const owner = await world.person('owner').signIn()
  const second = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Second' })).body
  const { id, number } = await sentPayment(world, 1403)
  world.advance(2 * SECOND)
  await client.paymentReaching(id, 'completed')
  t.equal((await owner.post(`/balances/${balances.EUR}/close`, { sweepToBalanceId: second.id })).status, 200)
  world.advance(10 * SECOND)
  const returned = await client.paymentReaching(id, 'returned')
  t.match(returned, {
    returnedAmount: eur(403),
    return: { amount: eur(403), reasonCode: 'AC04', transactionId: null },
    statusReason: { code: 'account_closed' },
  })
  t.strictSame(await postingsOf(world, id), [
    ['L10', '1403'],
    ['L11', '1403'],
    ['L03', '403'],
  ])
  t.strictSame((await eventsOf(world, id)).slice(-2), [
    ['payment.status_changed', 'returned', 'completed'],
    ['payment.returned', 'returned', 'completed'],
  ])
  t.strictSame(await messagesOf(world, id), [
    ['settled', null],
    ['returned', 'AC04'],
  ])
  t.match(await client.balance(balances.EUR), { bookBalance: eur(0), status: /clos/ })

  const staff = await world.person('operations').signIn()
  const {
    data: [item],
  } = (await staff.get<PageBody<SuspenseItem>>('/incoming-suspense')).body
  t.match(item, {
    status: 'open',
    reason: 'balance_closed',
    amount: eur(403),
    payer: { name: 'Amsterdam Trading BV' },
    reference: `Payment ${number} returned`,
  })
  t.equal(
    (
      await staff.post(`/incoming-suspense/${item!.id}/allocate`, {
        balanceId: second.id,
        reason: 'Their other balance.',
      })
    ).status,
    200,
  )
  t.match(await client.balance(second.id), { bookBalance: eur(OPENING - 1_000n) })
})
