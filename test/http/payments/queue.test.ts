/** Payments that the sandbox keeps in the queue. */
import t from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

t.test('SBX:QUEUE: it stays in the queue for a minute, with its place', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const byAmount = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1703))).body
  const byToken = (
    await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, 500), reference: 'SBX:QUEUE' })
  ).body
  const other = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 500))).body
  for (const { processing } of [byAmount, byToken])
    t.match(processing, { status: 'queued', position: Number, etaSeconds: 60 })
  await client.paymentReaching(other.id, 'completed')
  world.advance(6_000)
  await world.pollOnce()
  const waiting = await client.payment(byAmount.id)
  t.match(waiting, {
    status: 'processing',
    sentAt: null,
    cancellable: true,
    processing: { status: 'queued', position: Number },
  })
  t.ok(
    waiting.processing!.etaSeconds! > 30 && waiting.processing!.etaSeconds! < 60,
    String(waiting.processing!.etaSeconds),
  )
  t.equal((await client.post<Payment>(`/payments/${byToken.id}/cancel`, {})).body.status, 'cancelled')
  world.advance(60_000)
  await client.paymentReaching(byAmount.id, 'completed', 20_000)
})
