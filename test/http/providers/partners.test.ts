/** Payments by a partner outside of the service: its adapter gets what it needs, and its answers are kept. */
import t from 'tap'
import type { Adapter, OpenConnection } from '../../../actors/providers/adapters/adapter.ts'
import type { OrderQuestion, PaymentOrder, Submission } from '../../../actors/providers/bank.ts'
import { clearbankDescription } from '../../../lib/providers/clearbank/description.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

/** A partner that does what it is told to, and remembers what it was asked. */
class Partner {
  readonly orders: PaymentOrder[] = []
  readonly questions: OrderQuestion[] = []
  readonly opened: OpenConnection[] = []
  closed = 0
  answer: (order: PaymentOrder) => Submission | null = () => ({ kind: 'accepted', providerRef: 'BANK-7' })

  readonly adapter: Adapter = {
    description: clearbankDescription,
    open: (connection) => {
      this.opened.push(connection)
      return {
        probe: async () => ({ ok: true, latencyMs: 0, message: null }),
        submit: async (orders) => {
          this.orders.push(...orders)
          return new Map(
            orders.flatMap((order) => {
              const answer = this.answer(order)
              return answer === null ? [] : [[order.reference, answer] as const]
            }),
          )
        },
        status: async (questions) => {
          this.questions.push(...questions)
          return new Map(questions.map(({ reference }) => [reference, { kind: 'settled', providerRef: 'BANK-8' }]))
        },
        translate: () => [],
        close: async () => {
          this.closed += 1
        },
      }
    },
  }
}

t.test('an order has its parties, an answer its reference, and a change opens the connection anew', async (t) => {
  const partner = new Partner()
  await using world = await createWorld({ overrides: { adapters: { clearbank: partner.adapter } } })
  const { client, balances, recipients } = world.seeded
  const staff = await world.person('operations').signIn()
  const read = async (id: string) =>
    (await staff.get<Payment>(`/payments/${id}`, { 'x-tenant-id': client.tenantId })).body
  const pay = async (reference: string) =>
    (
      await client.createPayment({
        ...paymentBody(balances.GBP, recipients.GBP, 1_234, 'GBP'),
        reference,
        endToEndId: `E2E-${reference}`,
      })
    ).body.id
  // The connection becomes one of another provider; nodes are told, so that soon their orders go there.
  const connections = await world.query<{ id: string }>(
    `update provider_connection set provider = 'clearbank', settings = '{"timeoutMs": 5000}' returning id`,
  )
  const connectionId = connections[0]!.id

  const order = await until('an order', async () => {
    await pay('ONE')
    return partner.orders[0]
  })
  const first = order.reference
  t.match(order, { connectionId, currency: 'GBP', amount: 1_234n, rail: 'faster_payments', remittance: 'ONE' })
  t.match(order.parties, {
    debtor: { name: String, address: null },
    creditor: { type: 'business', bankCountry: 'GB', account: { sortCode: String, accountNumber: String } },
    endToEndId: 'E2E-ONE',
    chargeBearer: 'shared',
    executionDate: /^\d{4}-\d{2}-\d{2}$/,
    bulkPaymentId: null,
  })
  t.notOk(Object.values(order.parties?.creditor.account ?? {}).includes(null as never), 'absent members are left out')
  await until('the reference', async () => (await read(first)).providerRef === 'BANK-7')
  t.match(partner.opened[0], { id: connectionId, config: { timeoutMs: 5_000 }, credentials: null })

  // The outcome of an order without an answer is unknown, and the partner is asked with what it needs to find it.
  partner.answer = () => null
  const second = await pay('TWO')
  await until('its reference', async () => (await read(second)).providerRef === 'BANK-8')
  t.match(
    partner.questions.find(({ reference }) => reference === second),
    { reference: second, connectionId, rail: 'faster_payments', amount: 1_234n },
  )
  await client.paymentReaching(second, 'completed')

  // Other settings open the connection anew, and end the old one.
  partner.answer = () => ({ kind: 'accepted' })
  await world.query(`update provider_connection set settings = '{"timeoutMs": 6000}'`)
  await until('the connection to be opened anew', async () => {
    await pay('AGAIN')
    return partner.opened.some(({ config }) => (config as { timeoutMs: number }).timeoutMs === 6_000)
  })
  await until('the old one to end', () => partner.closed > 0)
})
