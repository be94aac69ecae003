/** Incoming money pays funds requests. */
import t from 'tap'

import { printedReference } from '../../../lib/funds-requests/creditor-reference.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { Database } from '../../../storage/db/database.ts'
import { matchArrivals } from '../../../storage/funds-requests/funds-request-matching.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { arrive, ask, eur, reaches, read, settled, statusEvents } from './support.ts'

t.test('money that quotes the reference is counted until it is all there', async (t) => {
  await using world = await createWorld()
  const request = await ask(world, 10_000)
  const { client } = world.seeded
  const first = await arrive(world, {
    amount: 4_000n,
    reference: `Part one ${printedReference(request.reference).toLowerCase()}`,
  })
  const partly = await reaches(world, request.id, 'partially_paid')
  t.match(partly, {
    paidAmount: eur(4_000),
    remainingAmount: eur(6_000),
    payments: [{ incomingPaymentId: first, amount: eur(4_000) }],
  })
  const second = await arrive(world, { amount: 1_000n, reference: request.reference })
  await until('the second is counted', async () => (await read(client, request.id)).payments.length === 2)
  const third = await arrive(world, { amount: 7_500n, reference: request.reference })
  const paid = await reaches(world, request.id, 'paid')
  t.match(paid, { paidAmount: eur(12_500), remainingAmount: eur(0) }, 'more than was asked for is told as it is')
  t.strictSame(
    paid.payments.map(({ incomingPaymentId }) => incomingPaymentId),
    [first, second, third],
  )
  t.strictSame(await statusEvents(world, request.id), [
    { change: 'open partially_paid', related: first },
    { change: 'partially_paid partially_paid', related: second },
    { change: 'partially_paid paid', related: third },
  ])
  t.strictSame(
    await world.query('select distinct funds_request_id from incoming_payment where id = any($1)', [
      [first, second, third],
    ]),
    [{ funds_request_id: request.id }],
  )

  const late = await arrive(world, { amount: 10n, reference: request.reference })
  await settled(world)
  t.equal((await read(client, request.id)).paidAmount.amountMinor, '12500', 'what comes later is a plain arrival')
  t.strictSame(await world.query('select funds_request_id from incoming_payment where id = $1', [late]), [
    { funds_request_id: null },
  ])
  t.match((await client.post(`/funds-requests/${request.id}/cancel`, {})).problem, {
    code: 'not-cancellable',
    currentStatus: 'paid',
  })
})

t.test('money that the sandbox lets come in is counted like the rest', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const request = await ask(world, 5_000)
  const come = (amountMinor: number, rest: object = {}) =>
    client.post('/simulations/incoming-payments', {
      balanceId: balances.EUR,
      amount: eur(amountMinor),
      reference: request.reference,
      ...rest,
    })
  t.equal((await come(2_000)).status, 202)
  await reaches(world, request.id, 'partially_paid')
  t.equal((await come(3_000)).status, 202)
  const paid = await reaches(world, request.id, 'paid')
  const list = await client.list<{ id: string; fundsRequestId: string | null }>('/incoming-payments', {
    'filter[fundsRequestId]': request.id,
  })
  t.same(
    list.body.data.map(({ id }) => id).sort(),
    paid.payments.map(({ incomingPaymentId }) => incomingPaymentId).sort(),
  )
  t.ok(list.body.data.every(({ fundsRequestId }) => fundsRequestId === request.id))
})

t.test('money for something else is not counted', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const one = await ask(world)
  const two = await ask(world)
  const withdrawn = await ask(world)
  await client.post(`/funds-requests/${withdrawn.id}/cancel`, {})
  const wrong = `${one.reference.slice(0, -1)}${one.reference.endsWith('1') ? '2' : '1'}`
  for (const [reference, currency] of [
    [null, 'EUR'],
    ['', 'EUR'],
    [one.number, 'EUR'],
    [wrong, 'EUR'],
    [one.reference, 'GBP'],
    [withdrawn.reference, 'EUR'],
    ['RF18539007547034', 'EUR'],
  ] as const) {
    await arrive(world, { amount: 10_000n, reference, currency, balanceId: balances[currency] })
  }
  await settled(world)
  t.same(
    (await Promise.all([one, two].map(({ id }) => read(client, id)))).map(({ status }) => status),
    ['open', 'open'],
  )
  t.equal((await read(client, withdrawn.id)).status, 'cancelled')
  const both = await arrive(world, {
    amount: 10_000n,
    reference: `${withdrawn.reference} ${two.reference} ${one.reference}`,
  })
  await reaches(world, two.id, 'paid')
  t.match(
    await read(client, one.id),
    { status: 'open' },
    'money is counted once, for the first request that waits for it',
  )
  t.strictSame(
    (await read(client, two.id)).payments.map(({ incomingPaymentId }) => incomingPaymentId),
    [both],
  )
})

t.test('events that are read again, by several at once, count once', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const requests = await Promise.all(Array.from({ length: 8 }, () => ask(world, 1_000)))
  const arrivals = requests.flatMap(({ reference }) => [
    arrive(world, { amount: 400n, reference }),
    arrive(world, { amount: 400n, reference }),
  ])
  await Promise.all(arrivals)
  const database = new Database(world.databaseUrl, 8)
  try {
    for (let round = 0; round < 3; round++) {
      await world.query(`update funds_request_matching set position = '3'`)
      await Promise.all(
        Array.from({ length: 4 }, () => matchArrivals(database, createIdSource(systemClock), world.now())),
      )
    }
  } finally {
    await database.close()
  }
  await settled(world)
  for (const { id } of requests) {
    const { paidAmount, payments, status } = await read(client, id)
    t.strictSame([paidAmount.amountMinor, payments.length, status], ['800', 2, 'partially_paid'])
    t.equal((await statusEvents(world, id)).length, 2)
  }
})
