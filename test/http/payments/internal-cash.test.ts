/** Payments on the platform between balances at two connections: the cash leg, its books at the banks, and who moves it. */
import t from 'tap'
import type { PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { ReconciliationBreak } from '../../../lib/reconciliation/reconciliation-schema.ts'
import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'
import { endDay } from '../reconciliation/support.ts'
import { connectTo, putAt, reconcileAt } from '../providers/cash-support.ts'
import { eur, incomingOf, made, pairOf, rulesOf } from './platform-support.ts'

const DIRECTIONS = `select d.connection_id as paid_to, c.connection_id as paid_by from posting p
  join account d on d.id = p.debit_account join account c on c.id = p.credit_account where p.source_id = $1 and p.rule = 'L21'`

const orderOf = async (world: World, id: string) =>
  (
    await world.query<{ due: boolean; out: boolean; into: boolean }>(
      'select due_at is not null as due, from_booked_at is not null as out, to_booked_at is not null as into from cash_order where id = $1',
      [id],
    )
  )[0]

t.test('payments between balances at two connections', async (t) => {
  await using world = await createWorld()
  const { payer, payee, from, to, recipientId } = await pairOf(world)
  const [first] = await world.query<{ id: string }>('select connection_id as id from balance where id = $1', [from])
  const firstId = first!.id
  const secondId = await connectTo(world, 'sandbox')
  const connection = async (id: string) =>
    (await world.operator.get<ProviderConnectionView>(`/provider-connections/${id}`)).body

  await t.test('the cash moves with the payment, and both banks book it', async (t) => {
    const before = await made(payer.client, paymentBody(from, recipientId, 1_000))
    await payer.client.paymentReaching(before.id, 'completed')
    t.strictSame(await rulesOf(world, before.id), ['L20 1000'], 'at one bank no cash moves')
    await putAt(world, to, secondId)
    const check = await payer.client.post<PaymentCheck>('/payments/validate', paymentBody(from, recipientId, 12_345))
    t.match(check.body, { valid: true, rail: 'internal', railReason: 'on_platform' })
    const payment = await made(payer.client, paymentBody(from, recipientId, 12_345))
    t.match(payment, { rail: 'internal', instant: true })
    await payer.client.paymentReaching(payment.id, 'completed')
    t.strictSame(await rulesOf(world, payment.id), ['L20 12345', 'L21 12345'])
    t.strictSame(await world.query(DIRECTIONS, [payment.id]), [{ paid_to: secondId, paid_by: firstId }])
    t.match(
      (await incomingOf(payee)).find(({ amount }) => amount.amountMinor === '12345'),
      { rail: 'internal' },
    )
    await until('both legs are booked', async () => (await orderOf(world, payment.id))?.into === true)
    t.strictSame(await orderOf(world, payment.id), { due: false, out: true, into: true })
    t.strictSame(
      await world.query(
        'select connection_id as at, direction, amount::int from sandbox_booking where reference = $1 order by direction',
        [payment.id],
      ),
      [
        { at: secondId, direction: 'CRDT', amount: 12_345 },
        { at: firstId, direction: 'DBIT', amount: 12_345 },
      ],
    )
    t.match(await connection(secondId), { inFlight: 0, cashToMove: [] })
    await world.audit()
  })

  await t.test('a transfer goes by the connection that the balance has now, whatever a node remembers', async (t) => {
    const own = await world.customer({
      balances: [
        { currency: 'EUR', amount: 50_000n },
        { currency: 'EUR', amount: 0n, name: 'Savings' },
      ],
    })
    const [pays, receives] = own.balanceIds as [string, string]
    // Every node has both balances in memory.
    for (let nth = 0; nth < 4; nth++)
      t.equal((await own.client.createTransfer(transferBody(pays, receives, 100))).body.status, 'completed')
    await putAt(world, receives, secondId)
    const transfer = await own.client.createTransfer(transferBody(pays, receives, 700))
    t.equal(transfer.body.status, 'processing', 'the bank moves the cash first')
    await until('the transfer is completed', async () => {
      const { body } = await own.client.get<Transfer>(`/transfers/${transfer.body.id}`)
      return body.status === 'completed'
    })
    t.strictSame(await world.query(DIRECTIONS, [transfer.body.id]), [{ paid_to: secondId, paid_by: firstId }])
    await putAt(world, pays, secondId)
    const together = await own.client.createTransfer(transferBody(pays, receives, 900))
    t.equal(together.body.status, 'completed', 'both are at one bank again')
    t.strictSame(await world.query(DIRECTIONS, [together.body.id]), [])
  })

  await t.test('a bank that moves no cash at our word leaves its leg to the operator', async (t) => {
    const thirdId = await connectTo(world, 'no_such_adapter')
    await putAt(world, to, thirdId)
    const payment = await made(payer.client, paymentBody(from, recipientId, 2_000))
    await payer.client.paymentReaching(payment.id, 'completed')
    await until('the leg at the sandbox bank is booked', async () => (await orderOf(world, payment.id))?.out === true)
    t.strictSame(await orderOf(world, payment.id), { due: false, out: true, into: false })
    t.match(await connection(thirdId), {
      inFlight: 1,
      cashToMove: [{ direction: 'in', otherConnectionId: firstId, amount: eur(2_000), payments: 1 }],
    })
    t.match(await connection(firstId), { cashToMove: [] })
    await world.audit()
    await world.query('update cash_order set amount = amount + 1 where id = $1', [payment.id])
    await t.rejects(world.audit(), /cash between connections/)
    await world.query('update cash_order set amount = amount - 1 where id = $1', [payment.id])
    await putAt(world, to, secondId)

    const staff = await world.person('operator_admin').signIn()
    const confirm = async (body: object) => {
      await staff.stepUp('provider_connection.change')
      return await staff.post<ProviderConnectionView>(`/provider-connections/${thirdId}/cash-confirmations`, {
        ...{ direction: 'in', otherConnectionId: firstId, amount: eur(2_000), evidence: 'Report of the bank, line 7.' },
        ...body,
      })
    }
    for (const wrong of [{ amount: eur(1_999) }, { direction: 'out' }, { otherConnectionId: secondId }])
      t.match((await confirm(wrong)).problem, { status: 422, errors: [{ field: '/amount/amountMinor' }] })
    t.match(await orderOf(world, payment.id), { into: false }, 'what is refused changes nothing')
    const confirmed = await confirm({})
    t.match(confirmed.body, { inFlight: 0, cashToMove: [] }, confirmed.text)
    t.match(await orderOf(world, payment.id), { out: true, into: true })
    t.equal((await confirm({})).status, 422, 'once')
    t.match(
      await world.query(
        `select after::json->>'evidence' as evidence from audit_event where action = 'provider_connection.cash_confirmed'`,
      ),
      [{ evidence: 'Report of the bank, line 7.' }],
    )
  })

  await t.test('reconciliation knows both legs; a leg that no statement shows is explained by staff', async (t) => {
    const lost = await made(payer.client, paymentBody(from, recipientId, 3_000))
    await payer.client.paymentReaching(lost.id, 'completed')
    await until('both legs are booked', async () => (await orderOf(world, lost.id))?.into === true)
    // The credit is booked by the operator, in a sum of which the statement names no payment.
    await world.query(`delete from sandbox_booking where reference = $1 and direction = 'CRDT'`, [lost.id])
    await world.query('update cash_order set to_booked_at = null where id = $1', [lost.id])
    t.match(await connection(secondId), { cashToMove: [{ direction: 'in', amount: eur(3_000) }] })
    const day = endDay(world)
    const received = await reconcileAt(world, secondId, day)
    // What was booked before is of the day before, where the test began late in the evening.
    t.match(received, { timing: 1, unexplained: eur(0) })
    const paid = await reconcileAt(world, firstId, day)
    t.strictSame(
      await world.query(`select connection_id from reconciliation_item where reference in (select id from cash_order)`),
      [{ connection_id: secondId }],
      `nothing is open at the bank that paid (${paid.id})`,
    )
    const { data } = (await world.operator.get<PageBody<ReconciliationBreak>>(`/reconciliations/${received.id}/breaks`))
      .body
    t.match(data, [{ kind: 'missing_with_partner', direction: 'credit', ourAmount: eur(3_000) }])
    await world.query(
      `update membership m set role = 'treasury' from platform_user u where u.id = m.user_id and u.email like 'compliance@%'`,
    )
    const treasurer = await world.person('compliance').signIn()
    const resolved = await treasurer.post(`/reconciliations/${received.id}/breaks/${data[0]!.id}/resolve`, {
      outcome: 'explained',
      evidence: 'Moved with other cash.',
    })
    t.equal(resolved.status, 200, resolved.text)
    t.match(await connection(secondId), { cashToMove: [] })
  })
})
