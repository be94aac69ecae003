/** The person who made a payment is told when it fails or comes back; a key has its callbacks. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Notification } from '../../../lib/notices/notification-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { mailsOf } from '../../support/mails.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'

/** The sandbox bank sends this amount back: the account is closed. */
const CLOSED = 1_302

/** And this one comes back after it has arrived. */
const RETURNED = 1_401

const told = async (person: Person, type = 'payment_failed'): Promise<readonly Notification[]> =>
  (await person.get<{ data: Notification[] }>(`/notifications?filter[type]=${type}`)).body.data
const failed = (world: World, id: string) =>
  until(`${id} has failed`, async () => (await world.seeded.client.payment(id)).status === 'failed')
const mails = (world: World) => mailsOf(world)

async function payAs(person: Person, world: World, amount = CLOSED): Promise<Payment> {
  const { balances, recipients } = world.seeded
  await person.stepUp('payment.above_threshold')
  const made = await person.post<Payment>('/payments', paymentBody(balances.EUR, recipients.EUR, amount), {
    'idempotency-key': randomUUID(),
  })
  if (made.status !== 201) throw new Error(made.text)
  if (amount === CLOSED) await failed(world, made.body.id)
  return made.body
}

t.test('a payment that fails', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const byKey = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, CLOSED))).body
  await failed(world, byKey.id)
  const made = await payAs(owner, world)
  const notices = await until('the owner is told', async () => {
    const found = await told(owner)
    return found.length > 0 && found
  })
  t.match(
    notices,
    [
      {
        tenantId: owner.tenantId,
        title: `Payment ${made.number} failed`,
        object: { type: 'payment', id: made.id },
        readAt: null,
      },
    ],
    'of their own, once',
  )
  t.equal(notices.length, 1)
  t.equal(notices[0]?.text, (await client.payment(made.id)).failure?.message)
  await until('a mail says so', async () => (await mails(world)).some((mail) => mail.includes(made.number)))
  t.notOk((await mails(world)).some((mail) => mail.includes(byKey.number)))

  await owner.send('PUT', '/notification-preferences', { mutedInApp: ['payment_failed'], mutedByMail: [] })
  const other = await payAs(owner, world)
  await until('a mail says so', async () => (await mails(world)).some((mail) => mail.includes(other.number)))
  t.equal((await told(owner)).length, 1, 'who does not want to see it in the service does not')
})

t.test('a payment that comes back', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const owner = await world.person('owner').signIn()
  const { id, number } = await payAs(owner, world, RETURNED)
  await client.paymentReaching(id, 'completed')
  world.advance(10_000)
  await client.paymentReaching(id, 'returned')
  const notices = await until('the owner is told', async () => {
    const found = await told(owner, 'payment_returned')
    return found.length > 0 && found
  })
  t.match(notices, [
    {
      title: `Payment ${number} returned`,
      text: 'The recipient’s account is closed.',
      object: { type: 'payment', id },
    },
  ])
  await until('a mail says so', async () => (await mails(world)).some((mail) => mail.includes(number)))
})
