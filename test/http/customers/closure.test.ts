/** A customer that leaves, to its end, over HTTP. */
import t from 'tap'
import type { ComplianceHold } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { setFourEyes } from '../compliance/staff.ts'
import { pay, rowReaching } from '../incoming-payments/support.ts'

t.test('a customer is closed when nothing is left of it', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const path = `/customers/${owner.tenantId}/closure`
  const statusOf = async (): Promise<string> =>
    (await world.query<{ status: string }>('select status from customer where id = $1', [owner.tenantId]))[0]!.status

  const held = await pay(client, {
    balanceId: balances.EUR,
    amount: { amountMinor: '500', currency: 'EUR' },
    payerName: 'Shady SBX:HOLD Traders',
  })
  await rowReaching(world, held, 'status', 'under_review')
  await owner.stepUp('membership.change')
  for (const currency of ['EUR', 'GBP', 'USD'] as const) {
    const paid = await client.createPayment({
      ...paymentBody(balances[currency], recipients[currency], 10_000_000, currency),
      ...(currency === 'USD' ? { purposeCode: 'GDDS' } : {}),
    })
    t.equal(paid.status, 201, paid.text)
  }
  t.match((await owner.post(path)).problem, { code: 'invalid-transition' }, 'payments are under way')
  await client.paymentsSettled()
  t.equal(
    (
      await client.post('/scheduled-payments', {
        sourceBalanceId: balances.EUR,
        recipientId: recipients.EUR,
        amount: { amountMinor: '5', currency: 'EUR' },
        reference: 'Rent',
        frequency: 'monthly',
        startDate: new Date(world.now() + 5 * 86_400_000).toISOString().slice(0, 10),
      })
    ).status,
    201,
  )
  t.equal(
    (await owner.post('/integrator-webhooks', { url: 'https://example.com/hook', events: ['payment.created'] })).problem
      .code,
    'step-up-required',
  )
  const staff = await world.person('compliance').signIn()
  const moved = async (move: 'freeze' | 'unfreeze') =>
    (await staff.post<{ status: string }>(`/balances/${balances.JPY}/${move}`, { reason: 'Order 12.' })).body.status
  t.equal(await moved('freeze'), 'frozen')
  t.equal((await owner.post(path)).status, 200)
  t.equal(await moved('unfreeze'), 'closing', 'a freeze that ends does not open it again')

  // Nothing is begun while money is under review, and nothing says so.
  await until(
    'it was looked at again',
    async () => (await world.query('select from customer_closure where due_at > requested_at')).length === 1,
  )
  t.equal((await client.balance(balances.JPY)).status, 'closing')
  t.equal((await client.balance(balances.JPY)).detailsStatus, 'active')
  t.equal((await owner.send('DELETE', path)).status, 204, 'there is a way back')
  t.equal((await client.balance(balances.JPY)).status, 'active')
  t.equal((await owner.post(path)).status, 200)

  await setFourEyes(world, false)
  const hold = (await staff.get<PageBody<ComplianceHold>>('/compliance-holds?limit=100')).body.data.find(
    ({ related }) => related.id === held,
  )!
  t.equal(
    (await staff.post(`/compliance-holds/${hold.id}/block`, { reason: 'Sanctioned payer.', freezeFunds: false }))
      .status,
    200,
  )

  await until('its accounts are being closed', async () => {
    const rows = await world.query(`select from account_details where customer_id = $1 and status <> 'closing'`, [
      owner.tenantId,
    ])
    return (
      rows.length === 0 && (await world.query('select from sandbox_account where closes_at is not null')).length === 8
    )
  })
  t.match((await owner.send('DELETE', path)).problem, {
    code: 'invalid-transition',
    detail: 'The accounts of the customer are being closed.',
  })
  world.advance(5_000)
  await until('it is closed', async () => (await statusOf()) === 'closed')

  t.strictSame(
    await world.query(`select distinct status, is_default, details_status from balance where customer_id = $1`, [
      owner.tenantId,
    ]),
    [{ status: 'closed', is_default: false, details_status: 'closed' }],
  )
  t.match(await world.query('select closed_at is not null as closed from customer where id = $1', [owner.tenantId]), [
    { closed: true },
  ])
  await until('the key has ended on every node', async () => (await client.get('/balances')).status === 401)
  t.match((await owner.get('/balances')).problem, { code: 'tenant-forbidden' }, 'its people do not reach it any more')
  t.strictSame(await world.query(`select status from scheduled_payment where customer_id = $1`, [owner.tenantId]), [
    { status: 'cancelled' },
  ])
  t.strictSame(
    (
      await world.query<{ status: string }>(
        `select status from outbox where type = 'customer.status_changed' order by created_at, id`,
      )
    ).map(({ status }) => status),
    ['closing', 'active', 'closing', 'closed'],
  )
  t.equal(
    (await world.operator.list('/balances', { 'filter[status]': 'closed' })).body.data.length,
    4,
    'its operator still reads it',
  )
})
