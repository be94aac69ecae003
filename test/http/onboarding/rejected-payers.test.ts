/** Payments in the queue of a customer that is rejected after a new review: none reaches the bank meanwhile. */
import pg from 'pg'
import t from 'tap'
import type { KybCaseReview } from '../../../lib/onboarding/case-review-schema.ts'
import { WORK_CHANNEL } from '../../../storage/db/due-work.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { caseOf, putCase } from '../kyc/support.ts'

t.test('payments of a customer that is rejected wait, and go on when it is approved again', async (t) => {
  // A clock that stands still wakes no queue by itself.
  await using world = await createWorld({ stillClock: true })
  const { client, balances, recipients } = world.seeded
  const staff = await world.person('compliance').signIn()
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 50_000n }] })
  await putCase(world, client.tenantId, 'approved', 'active')
  await world.query(`update kyb_case set provider = 'manual' where customer_id = $1`, [client.tenantId])
  const { id } = await caseOf(world, client.tenantId)
  const decide = async (action: string, customerStatus: string, body: object = { reason: 'A sanctions hit.' }) => {
    const { status, text, body: shown } = await staff.post<KybCaseReview>(`/kyb-cases/${id}/${action}`, body)
    t.match([status, shown.customerStatus], [200, customerStatus], `${action}: ${text}`)
  }
  const held = { reference: 'SBX:QUEUE' }
  const queued = (await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, 100), ...held })).body.id
  /** The payments that wait at this moment are looked at with this one, which is the last of the queue. */
  const afterOthers = async () => {
    const order = { ...paymentBody(other.balanceIds[0]!, other.recipients.EUR, 100), ...held }
    const { id: last } = (await other.client.createPayment(order)).body
    world.advance(61_000)
    await until('the payment of another customer is at the bank', async () => {
      return (await other.client.payment(last)).sentAt !== null
    })
    return await client.payment(queued)
  }
  const waits = { status: 'processing', processing: { status: 'queued' }, sentAt: null }

  await decide('reopen', 'active')
  await decide('reject', 'rejected', { reason: 'A sanctions hit.', reasonForCustomer: 'We cannot go on.' })
  t.match(await afterOthers(), waits, 'rejected')
  await decide('reopen', 'in_review')
  t.match(await afterOthers(), waits, 'in review again')

  const woken: (string | undefined)[] = []
  await using listener = await listenTo(world.databaseUrl, woken)
  await decide('approve', 'active', { note: 'Another person of that name.' })
  await until('the queues of all nodes are woken', async () => {
    await listener.query('select')
    return woken.includes('balance')
  })
  await until('it is at the bank', async () => (await client.payment(queued)).sentAt !== null)
  world.advance(5_000)
  await client.paymentReaching(queued, 'completed')
  world.advance(5_000)
  await other.client.paymentsSettled()
})

/** Adds the payloads of the notifications of due work to a list. */
async function listenTo(url: string, payloads: (string | undefined)[]) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  client.on('notification', ({ payload }) => payloads.push(payload))
  await client.query(`listen ${WORK_CHANNEL}`)
  return { query: (sql: string) => client.query(sql), [Symbol.asyncDispose]: () => client.end() }
}
