/** The ends of funds requests, by members and by time. */
import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { FundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import { createWorld } from '../../support/world.ts'
import { arrive, ask, eur, reaches, read, requestBody, settled, statusEvents } from './support.ts'

const DAY_MS = 86_400_000

t.test('a member counts money that came without the reference', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const request = await ask(world, 5_000)
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  const money = await arrive(world, { amount: 2_000n, reference: 'Thanks' })
  const pounds = await arrive(world, { amount: 2_000n, reference: 'Thanks', currency: 'GBP' })
  const to = (fundsRequestId: string) => ({ fundsRequestId })
  t.equal((await client.post(`/incoming-payments/${money}/allocate`, to(request.id))).status, 403, 'keys may not')
  t.equal(
    (await approver.post(`/incoming-payments/${money}/allocate`, to(request.id))).status,
    403,
    'nor may those who only approve',
  )
  t.equal((await owner.post(`/incoming-payments/${randomUUID()}/allocate`, to(request.id))).status, 404)
  t.match((await owner.post(`/incoming-payments/${money}/allocate`, to(randomUUID()))).problem, {
    errors: [{ field: '/fundsRequestId', code: 'not_found' }],
  })
  t.match((await owner.post(`/incoming-payments/${pounds}/allocate`, to(request.id))).problem, {
    errors: [{ field: '/fundsRequestId', code: 'currency_mismatch' }],
  })
  const key = { 'idempotency-key': randomUUID() }
  const allocated = await owner.post<FundsRequest>(`/incoming-payments/${money}/allocate`, to(request.id), key)
  t.equal(allocated.status, 200, allocated.text)
  const repeated = await owner.post<FundsRequest>(`/incoming-payments/${money}/allocate`, to(request.id), key)
  t.strictSame(
    [repeated.status, repeated.text, repeated.headers.get('idempotency-replayed')],
    [200, allocated.text, 'true'],
    'the same key counts it once',
  )
  t.match(allocated.body, {
    status: 'partially_paid',
    paidAmount: eur(2_000),
    payments: [{ incomingPaymentId: money }],
  })
  t.match(
    (await owner.post(`/incoming-payments/${money}/allocate`, to(request.id))).problem,
    { status: 409, code: 'invalid-transition' },
    'once',
  )
  const cancelled = await ask(world, 100)
  await client.post(`/funds-requests/${cancelled.id}/cancel`, {})
  const more = await arrive(world, { amount: 100n, reference: null })
  t.match((await owner.post(`/incoming-payments/${more}/allocate`, to(cancelled.id))).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
  })
  const savings = (
    await client.post<FundsRequest>('/funds-requests', {
      ...requestBody(balances.GBP),
      amount: { amountMinor: '2000', currency: 'GBP' },
    })
  ).body
  t.equal((await owner.post<FundsRequest>(`/incoming-payments/${pounds}/allocate`, to(savings.id))).body.status, 'paid')
})

t.test('what is not paid in time expires, and late money is a plain arrival', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const short = await ask(world, 100, { expiresAt: new Date(world.now() + DAY_MS).toISOString() })
  const partly = await ask(world, 100, { expiresAt: new Date(world.now() + DAY_MS).toISOString() })
  const long = await ask(world, 100)
  await arrive(world, { amount: 40n, reference: partly.reference })
  await reaches(world, partly.id, 'partially_paid')
  world.advance(DAY_MS + 1_000)
  await reaches(world, short.id, 'expired')
  await reaches(world, partly.id, 'expired')
  t.equal((await read(client, long.id)).status, 'open')
  t.match(await statusEvents(world, partly.id), [
    { change: 'open partially_paid' },
    { change: 'partially_paid expired', related: (await read(client, partly.id)).payments[0]!.incomingPaymentId },
  ])
  await arrive(world, { amount: 100n, reference: short.reference })
  await settled(world)
  t.match(await read(client, short.id), { status: 'expired', payments: [], paidAmount: eur(0) })
  t.match((await client.post(`/funds-requests/${short.id}/remind`, {})).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'expired',
  })
})
