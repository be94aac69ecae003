/**
 * Payments to balances on this platform, over HTTP: the rail `internal`, by every way of making a payment, and the
 * payee's side of it.
 */
import t from 'tap'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import type { Transaction } from '../../../lib/transactions/transaction-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { checked, row, submitted } from '../bulk-payments/submitting.ts'
import { rowsOf } from '../bulk-payments/support.ts'
import { quote } from '../exchange/support.ts'
import { shut } from '../incoming-payments/support.ts'
import { createByKey, setMode } from '../recipients/support.ts'
import { charge } from '../pricing/pricing.ts'
import { accountOf, approved, eur, incomingOf, made, pairOf, recipientOf, rulesOf } from './platform-support.ts'

t.test('a payment to the account of another customer is booked between the two balances', async (t) => {
  await using world = await createWorld()
  const { payer, payee, from, to, recipientId } = await pairOf(world)
  const { accountHolderName, iban } = await accountOf(payer.client, from)
  t.match(
    (await payer.client.recipient(recipientId)).verification,
    { scheme: 'internal', outcome: 'match', reasonCode: null },
    'our own records know the name',
  )
  const check = (await payer.client.post<PaymentCheck>('/payments/validate', paymentBody(from, recipientId, 12_345)))
    .body
  t.match(check, {
    valid: true,
    rail: 'internal',
    railReason: 'on_platform',
    verification: { scheme: 'internal', outcome: 'match' },
  })

  const payment = await made(payer.client, paymentBody(from, recipientId, 12_345))
  t.match(payment, { rail: 'internal', instant: true, status: 'processing', verification: { scheme: 'internal' } })
  const done = await payer.client.paymentReaching(payment.id, 'completed')
  t.ok(done.sentAt !== null && done.sentAt === done.completedAt)
  t.match(await payer.client.balance(from), { bookBalance: eur(87_655), heldBalance: eur(0) })
  t.match(await payee.client.balance(to), { bookBalance: eur(12_345), availableBalance: eur(12_345) })
  t.strictSame(await rulesOf(world, payment.id), ['L20 12345'], 'one entry, no bank')
  t.strictSame(await world.query('select from sandbox_order where reference = $1', [payment.id]), [])

  const [incoming, ...others] = await incomingOf(payee)
  t.strictSame(others, [])
  t.match(incoming, {
    status: 'received',
    balanceId: to,
    amount: eur(12_345),
    rail: 'internal',
    reference: 'Invoice 42',
    endToEndId: payment.endToEndId,
    payer: { name: accountHolderName, maskedIdentifier: `${iban!.slice(0, 4)}****${iban!.slice(-4)}`, country: 'NL' },
  })
  const [line] = await payee.client.journal(to)
  t.match(line, {
    type: 'incoming_payment',
    direction: 'credit',
    amount: eur(12_345),
    counterpartyName: accountHolderName,
    description: `Payment from ${accountHolderName}`,
    source: { object: 'incoming_payment', id: incoming!.id },
    transactionId: incoming!.transactionId,
  })
  t.notMatch(
    (await payee.client.get(`/balances/${to}/journal`)).text,
    payment.id,
    "the payer's payment is the payer's business",
  )
  const [own] = (await payer.client.journal(from)).filter(({ source }) => source.id === payment.id)
  t.match(own, {
    type: 'outgoing_payment',
    direction: 'debit',
    amount: eur(12_345),
    source: { object: 'payment', id: payment.id },
  })
  const arrived = (await payee.client.get<Transaction>(`/transactions/${incoming!.transactionId}`)).body
  t.match(arrived, {
    type: 'incoming_payment',
    status: 'completed',
    direction: 'in',
    amount: eur(12_345),
    runningBalance: eur(12_345),
    counterparty: { name: accountHolderName },
  })
  t.match((await payer.client.get<Transaction>(`/transactions/${payment.id}`)).body, {
    type: 'outgoing_payment',
    status: 'completed',
    runningBalance: eur(87_655),
    rail: 'internal',
  })
  t.match(
    (await payee.client.list<Transaction>('/transactions', { 'filter[type]': 'incoming_payment' })).body.data.map(
      ({ id }) => id,
    ),
    [incoming!.transactionId],
  )
  const events = await world.query<{ type: string; customer_id: string }>(
    'select type, customer_id from outbox where object_id = any($1) order by type',
    [[payment.id, incoming!.id]],
  )
  t.strictSame(
    events.map(({ type, customer_id: customer }) => `${type} ${customer === payee.id ? 'payee' : 'payer'}`),
    [
      'incoming_payment.received payee',
      'payment.completed payer',
      'payment.created payer',
      'payment.status_changed payer',
    ],
  )
  t.match((await payee.client.get(`/payments/${payment.id}`)).status, 404)
  t.match(
    (await payee.client.post(`/simulations/incoming-payments/${incoming!.id}/recall`, {})).problem.code,
    'simulation-not-possible',
  )
  t.match(
    (
      await payer.client.post(`/payments/${payment.id}/recall`, {
        reasonCode: 'DUPL',
        note: 'It was paid twice by mistake.',
      })
    ).status,
    409,
  )
  t.match(
    await payee.client.download(`/payments/${payment.id}/confirmation`).catch((error: Error) => error.message),
    /404/,
  )
  await world.audit()

  // Both directions at once, so that two statements lock the same two balances.
  const back = await recipientOf(world, payee.client, payer.client, from)
  const crossing = await Promise.all(
    Array.from({ length: 20 }, (_, nth) =>
      nth % 2 === 0
        ? made(payer.client, paymentBody(from, recipientId, 100))
        : made(payee.client, paymentBody(to, back, 100)),
    ),
  )
  await Promise.all(
    crossing.map(({ id }, nth) => (nth % 2 === 0 ? payer : payee).client.paymentReaching(id, 'completed')),
  )
  t.match(
    [await payer.client.balance(from), await payee.client.balance(to)],
    [{ bookBalance: eur(87_655) }, { bookBalance: eur(12_345) }],
  )
})

t.test("fees of both sides are charged, and no bank's", async (t) => {
  await using world = await createWorld()
  const { payer, payee, from, to, recipientId } = await pairOf(world)
  await charge(world, [
    { kind: 'payment', currency: 'EUR', fixed: eur(500) },
    { kind: 'payment', currency: 'EUR', rail: 'internal', fixed: eur(30) },
    { kind: 'incoming_payment', currency: 'EUR', rail: 'internal', fixed: eur(7) },
    { kind: 'partner_charge', currency: 'EUR', fixed: eur(90) },
  ])
  const payment = await made(payer.client, paymentBody(from, recipientId, 10_000))
  t.match(payment, { rail: 'internal', fee: eur(30), totalDebit: eur(10_030) })
  await payer.client.paymentReaching(payment.id, 'completed')
  t.match(await payer.client.balance(from), { bookBalance: eur(89_970), heldBalance: eur(0) })
  t.match(await payee.client.balance(to), { bookBalance: eur(9_993) })
  t.strictSame(await rulesOf(world, payment.id), ['L20 10000', 'L20 30'])
  t.strictSame(
    (await payer.client.journal(from))
      .filter(({ source }) => source.id === payment.id)
      .map(({ type, amount }) => `${type} ${amount.amountMinor}`)
      .sort(),
    ['fee 30', 'outgoing_payment 10000'],
  )
  t.match((await payer.client.get<Transaction>(`/transactions/${payment.id}`)).body, {
    amount: eur(10_000),
    fee: eur(30),
    runningBalance: eur(89_970),
  })
})

t.test('a balance that closes before the payment is booked gets nothing, and the payer keeps the money', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { payer, payee, from, to, recipientId } = await pairOf(world)
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const replaced = await recipientOf(world, payer.client, other.client, other.balanceIds[0]!)
  await world.query(
    `update account_details set status = 'replaced', valid_until = now() + interval '1 day' where balance_id = $1`,
    [other.balanceIds[0]!],
  )
  const [closing, moving] = [
    await made(payer.client, paymentBody(from, recipientId, 5_000)),
    await made(payer.client, paymentBody(from, replaced, 700)),
  ]
  t.match(
    [closing, moving],
    [{ rail: 'internal' }, { rail: 'internal' }],
    'details that were replaced still lead to their balance',
  )
  await shut(world, to)
  await world.restart({ dispatch: true })
  const failed = await until('it has failed', async () => {
    const payment = await payer.client.payment(closing.id)
    return payment.status === 'failed' ? payment : null
  })
  t.match(failed, { failure: { code: 'account_closed' }, sentAt: null })
  await payer.client.paymentReaching(moving.id, 'completed')
  t.match(await payer.client.balance(from), { bookBalance: eur(99_300), heldBalance: eur(0) })
  t.match((await other.client.balance(other.balanceIds[0]!)).bookBalance, eur(700))
  t.match((await payee.client.balance(to)).bookBalance, eur(0))
  t.strictSame(await rulesOf(world, closing.id), [])
})

t.test('every way of making a payment takes the rail, and what holds others up holds it up', async (t) => {
  await using world = await createWorld()
  const { payer, payee, from, to, recipientId } = await pairOf(world)
  const { client } = payer
  const draft = await made(client, { ...paymentBody(from, recipientId, 1_000), draft: true })
  await client.post(`/payments/${draft.id}/submit`, {})
  t.match(await client.paymentReaching(draft.id, 'completed'), { rail: 'internal' })
  const requested = await made(client, { ...paymentBody(from, recipientId, 200), requestedRail: 'internal' })
  await client.paymentReaching(requested.id, 'completed')
  const held = await made(client, paymentBody(from, recipientId, 1_602))
  await client.paymentReaching(held.id, 'on_hold')
  t.match((await payee.client.balance(to)).bookBalance, eur(1_200), 'nothing has moved')
  t.match(await client.balance(from), { heldBalance: eur(1_602) })
  const schedule = await client.post<{ readonly id: string; readonly rail: string }>('/scheduled-payments', {
    recipientId,
    sourceBalanceId: from,
    amount: eur(300),
    reference: 'Rent',
    frequency: 'weekly',
    startDate: new Date(world.now()).toISOString().slice(0, 10),
    maxOccurrences: 1,
  })
  t.equal(schedule.status, 201, schedule.text)
  await until('the schedule has paid', async () => (await payee.client.balance(to)).bookBalance.amountMinor === '1500')
  const [scheduled] = (await client.list<Payment>('/payments', { 'filter[scheduledPaymentId]': schedule.body.id })).body
    .data
  t.match(scheduled, { rail: 'internal', status: 'completed' })

  const bySepa = await made(client, { ...paymentBody(from, recipientId, 2_500), requestedRail: 'sepa_instant' })
  t.match(bySepa, { rail: 'sepa_instant' }, 'a rail that was asked for is kept')
  await client.paymentReaching(bySepa.id, 'completed')
  await until(
    'the bank has credited its own account',
    async () => (await payee.client.balance(to)).bookBalance.amountMinor === '4000',
  )
  const arrived = (await incomingOf(payee)).filter(({ rail }) => rail === 'sepa_instant')
  t.match(arrived, [{ amount: eur(2_500), reference: 'Invoice 42', endToEndId: bySepa.endToEndId }])
  t.equal(arrived.length, 1)

  const bulk = await checked(client, { sourceBalanceId: from, rows: [row(recipientId, '4.00')] })
  t.match(await rowsOf(client, bulk), [{ status: 'valid', rail: 'internal' }])
  await submitted(client, bulk.id)
  await until(
    'the row of the file is paid',
    async () => (await payee.client.balance(to)).bookBalance.amountMinor === '4400',
  )

  t.match(
    (await client.createPayment({ ...paymentBody(from, payer.recipients.EUR, 100), requestedRail: 'internal' }))
      .problem,
    { code: 'rail-unavailable', rails: [{ rail: 'internal', reason: 'not_on_platform' }] },
  )
  const self = await recipientOf(world, client, client, from)
  t.match((await client.createPayment(paymentBody(from, self, 100))).problem, {
    status: 422,
    errors: [{ field: '/recipientId', code: 'invalid_value' }],
  })
})

t.test("a name that is not the account holder's is refused as at another bank", async (t) => {
  await using world = await createWorld()
  const { payer, from, payee, to } = await pairOf(world)
  const stranger = await createByKey((await world.customer({ balances: [] })).client, {
    name: 'Somebody Else BV',
    bank: { iban: (await accountOf(payee.client, to)).iban! },
  } as never)
  t.match(stranger.problem, {
    status: 422,
    code: 'verification-mismatch',
    verification: { scheme: 'internal', outcome: 'no_match', matchedName: null },
  })
  const name = `${(await accountOf(payee.client, to)).accountHolderName} Ltd`
  const third = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
  const near = await createByKey(third.client, {
    name,
    bank: { iban: (await accountOf(payee.client, to)).iban! },
  } as never)
  t.match(near.problem, {
    code: 'verification-mismatch',
    verification: { scheme: 'internal', outcome: 'close_match', matchedName: name.slice(0, -4) },
  })
  const accepted = await createByKey(third.client, {
    name,
    bank: { iban: (await accountOf(payee.client, to)).iban! },
    verificationOverride: { acceptOutcome: 'close_match', reason: 'It is the same company.' },
  } as never)
  t.equal(accepted.status, 201, accepted.text)
  await approved(world, accepted.body.id)
  const payment = await made(third.client, paymentBody(third.balanceIds[0]!, accepted.body.id, 100))
  await third.client.paymentReaching(payment.id, 'completed')
  t.match((await payer.client.balance(from)).bookBalance, eur(100_000))
})

t.test('pounds by sort code, between two balances of one customer, and out of dollars', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'none')
  const { client, balances } = world.seeded
  const other = await world.customer({
    balances: [
      { currency: 'GBP', amount: 0n },
      { currency: 'EUR', amount: 5_000n },
      { currency: 'EUR', amount: 0n },
      { currency: 'USD', amount: 0n },
    ],
  })
  const [pounds, euros, more, dollars] = other.balanceIds as [string, string, string, string]
  for (const [balanceId, currency, source] of [
    [pounds, 'GBP', balances.GBP],
    [dollars, 'USD', balances.USD],
  ] as const) {
    const payment = await made(
      client,
      paymentBody(source, await recipientOf(world, client, other.client, balanceId), 4_321, currency),
    )
    t.match(payment, { rail: 'internal', verification: { scheme: 'internal' } })
    await client.paymentReaching(payment.id, 'completed')
    t.match((await other.client.balance(balanceId)).bookBalance, { amountMinor: '4321', currency })
  }
  const own = await made(
    other.client,
    paymentBody(euros, await recipientOf(world, other.client, other.client, more), 1_500),
  )
  await other.client.paymentReaching(own.id, 'completed')
  t.match((await other.client.balance(more)).bookBalance, eur(1_500))
  t.match(
    (await incomingOf(other)).filter(({ balanceId }) => balanceId === more),
    [{ rail: 'internal', amount: eur(1_500) }],
  )

  const recipientId = await recipientOf(world, client, other.client, euros)
  const { id: quoteId } = (
    await quote(client, { sellCurrency: 'USD', buyCurrency: 'EUR', amount: eur(900), fixedSide: 'buy' })
  ).body
  const converted = await made(client, { ...paymentBody(balances.USD, recipientId, 900), quoteId })
  t.match(converted, { rail: 'internal' })
  await until(
    'it has come out of what was bought',
    async () => {
      world.advance(1_000)
      return (await other.client.balance(euros)).bookBalance.amountMinor === '4400'
    },
    { deadlineMs: 20_000 },
  )
})
