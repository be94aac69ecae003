/** What the operator's staff read of a customer's money, and what the customer never sees of it. */
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { TransactionDetail } from '../../../lib/transactions/transaction-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

t.test(
  'staff of every role see exceptions, the bank’s references and connections; members and keys do not',
  async (t) => {
    await using world = await createWorld()
    const { client, balances, recipients } = world.seeded
    const paid = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100))).body.id
    const held = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1602))).body.id
    await client.paymentReaching(paid, 'completed')
    await client.paymentReaching(held, 'on_hold')
    const owner = await world.person('owner').signIn()
    const [connection] = await world.query<{ id: string }>('select connection_id as id from balance limit 1')
    const connectionId = connection!.id
    // The sandbox bank has no references of its own.
    await world.query(`update payment set provider_ref = 'BANK-1' where id = $1`, [paid])

    for (const role of ['operator_admin', 'compliance', 'operations', 'treasury', 'support', 'integration'] as const) {
      const staff = await world.person(role).signIn()
      const read = async <Body>(path: string) => (await staff.get<Body>(path, { 'x-tenant-id': client.tenantId })).body
      t.match(await read<Payment>(`/payments/${paid}`), { exception: null, providerRef: 'BANK-1', connectionId }, role)
      t.match(
        await read<Payment>(`/payments/${held}`),
        { status: 'on_hold', exception: { kind: 'compliance_hold', since: String }, connectionId },
        role,
      )
      const listed = await read<PageBody<Payment>>('/payments')
      t.match(listed.data.find(({ id }) => id === held)?.exception, { kind: 'compliance_hold' }, role)
      t.ok(
        listed.data.every((payment) => payment.connectionId === connectionId),
        role,
      )
      t.match((await read<TransactionDetail>(`/transactions/${paid}`)).references, { providerRef: 'BANK-1' }, role)
      t.equal((await read<Balance>(`/balances/${balances.EUR}`)).connectionId, connectionId, role)
      const ofCustomer = await read<PageBody<Balance>>('/balances')
      t.ok(
        ofCustomer.data.every((balance) => balance.connectionId === connectionId),
        role,
      )
      const ofOperator = (await staff.get<PageBody<Balance>>('/balances')).body
      t.ok(
        ofOperator.data.every((balance) => balance.connectionId === connectionId),
        role,
      )
      t.match(await read<Customer>(`/customers/${client.tenantId}`), { risk: 'low' }, role)
      for (const path of [`/payments/${paid}`, `/transactions/${paid}`, `/balances/${balances.EUR}`, '/payments'])
        t.equal((await staff.get(path)).problem.code, 'tenant-forbidden', `${role}: of one customer at a time`)
    }

    const hidden = /providerRef|BANK-1|connectionId|compliance_hold/
    for (const reader of [client, owner])
      for (const path of [
        `/payments/${paid}`,
        `/payments/${held}`,
        '/payments',
        '/transactions',
        `/transactions/${paid}`,
        `/transactions/${held}`,
        '/balances',
        `/balances/${balances.EUR}`,
        `/balances/${balances.EUR}/holds`,
        `/payments/${held}/updates`,
      ]) {
        const reply = await reader.get(path)
        t.equal(reply.status, 200, path)
        t.notMatch(reply.text, hidden, path)
      }
    t.match((await client.get<Payment>(`/payments/${held}`)).body, { exception: null, status: 'on_hold' })
  },
)

t.test('staff read a customer’s money, and move none of it', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const admin = await world.person('operator_admin').signIn()
  const ofCustomer = { 'x-tenant-id': client.tenantId, 'idempotency-key': 'a-key' }
  const body = paymentBody(balances.EUR, recipients.EUR, 100)
  t.equal((await admin.post('/payments', body, ofCustomer)).problem.code, 'tenant-forbidden')
  const { id } = (await client.createPayment(body)).body
  t.equal((await admin.post(`/payments/${id}/cancel`, {}, ofCustomer)).problem.code, 'tenant-forbidden')
  t.equal(
    (await admin.send('PATCH', `/transactions/${id}`, { category: 'x' }, ofCustomer)).problem.code,
    'tenant-forbidden',
  )
})
