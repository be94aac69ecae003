/** No payment leaves without the screening provider's answer, however late; a released one is not stopped again. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Screener } from '../../../lib/compliance/screening.ts'
import { createWorld } from '../../support/world.ts'
import { holdOf, pay, setFourEyes } from './staff.ts'

t.test('nothing leaves while nobody screens, and everything does when somebody does again', async (t) => {
  let away = true
  const screener: Screener = {
    async screen() {
      if (away) throw new Error('The screening service is away.')
      await pause(50)
      return new Map()
    },
  }
  await using world = await createWorld({ overrides: { screener } })
  const { client } = world.seeded
  const payments = [await pay(world, 100), await pay(world, 200)]
  world.advance(1_000)
  await world.pollOnce()
  for (const { id } of payments)
    t.match(await client.payment(id), { status: 'processing', sentAt: null, processing: { status: 'queued' } })
  away = false
  for (const { id } of payments) await client.paymentReaching(id, 'completed')
})

t.test(
  'payments are asked about in batches, and one that was released is let through although it is found again',
  async (t) => {
    const batches: number[] = []
    const screener: Screener = {
      async screen(subjects) {
        batches.push(subjects.length)
        return new Map(
          subjects
            .filter(({ amount }) => amount === 777n)
            .map(({ id, recipientName }) => [
              id,
              {
                provider: 'lists',
                findings: [{ list: 'L', name: recipientName, score: 91 }],
                decides: null,
              },
            ]),
        )
      },
    }
    await using world = await createWorld({ overrides: { screener } })
    await setFourEyes(world, false)
    const { client } = world.seeded
    const many = await Promise.all(Array.from({ length: 20 }, (_, nth) => pay(world, nth === 7 ? 777 : 100 + nth)))
    const held = many[7]!
    await client.paymentReaching(held.id, 'on_hold')
    for (const { id } of many) if (id !== held.id) await client.paymentReaching(id, 'completed')
    t.ok(batches.length < 20, `${batches.length} questions about 20 payments`)
    const staff = await world.person('compliance').signIn()
    const hold = await holdOf(staff, held.id)
    t.match(hold, { provider: 'lists', findings: [{ list: 'L', score: 91 }] })
    const before = batches.length
    t.equal((await staff.post(`/compliance-holds/${hold.id}/release`, { reason: 'Another one.' })).status, 200)
    await client.paymentReaching(held.id, 'completed')
    t.ok(batches.length > before, 'it was screened again')
    t.equal((await world.query('select from compliance_hold')).length, 1)
  },
)

t.test('a payment that was waiting when its node stopped is screened by the next one', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client } = world.seeded
  const found = await pay(world, 1_602)
  const clear = await pay(world, 500)
  await world.restart({ dispatch: true })
  const held = await client.paymentReaching(found.id, 'on_hold')
  t.match(held, { sentAt: null })
  t.match(await client.paymentReaching(clear.id, 'completed'), { sentAt: String })
  t.match(
    (await client.send(`/v1/recipients/${held.recipientId}`, { method: 'DELETE', headers: { 'if-match': '*' } }))
      .problem,
    { code: 'recipient-in-use', paymentIds: [found.id] },
    'whom it is for is still needed',
  )
})
