/** The overview of an operator over HTTP: exact counts and sums, of this operator alone, and bounded. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import pg from 'pg'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { OperatorStatistics } from '../../../lib/statistics/statistics-schema.ts'
import { idAt } from '../../../storage/db/page.ts'
import { PAYMENTS_SQL, WAITING_SQL } from '../../../storage/statistics/operator-counts.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody } from '../../support/world.ts'

const PATH = '/operator/statistics'
const read = async (by: Person, query = '') => (await by.get<OperatorStatistics>(`${PATH}${query}`)).body
const paymentsOf = ({ activity }: OperatorStatistics, status: string) =>
  activity!.payments.find((group) => group.status === status)

t.test('customers, payments and what waits are counted, with exact sums', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const admin = await world.person('operator_admin').signIn()
  const before = await read(admin)
  t.match(before.customers, { total: 1, byStatus: [{ status: 'active', count: 1 }] })
  const { approvals, ...others } = before.waiting
  t.ok(Object.values(others).every(({ count, oldestAt }) => count === 0 && oldestAt === null))
  t.equal(approvals.count, (await world.query(`select from approval where status = 'pending'`)).length)
  t.same(before.activity!.payments, [])
  const credited = before.activity!.incomingPayments.count

  const ids = []
  for (const amount of [101, 202])
    ids.push((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount))).body.id)
  const held = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1602))).body.id
  for (const id of ids) await client.paymentReaching(id, 'completed')
  await client.paymentReaching(held, 'on_hold')
  await world.customer({ balances: [] })
  await world.query(`update customer set measure = 'restricted' where id <> $1`, [client.tenantId])
  // The sums of large operators do not fit a double.
  await world.query(`update payment set amount = 9007199254740993 where id = $1`, [held])

  const after = await read(admin)
  t.match(after.customers, {
    total: 2,
    byStatus: [
      { status: 'active', count: 1 },
      { status: 'restricted', count: 1 },
    ],
  })
  t.same(paymentsOf(after, 'completed'), {
    status: 'completed',
    count: 2,
    amounts: [{ amountMinor: '303', currency: 'EUR' }],
  })
  t.same(paymentsOf(after, 'on_hold')?.amounts, [{ amountMinor: '9007199254740993', currency: 'EUR' }])
  t.match(after.waiting, {
    complianceHolds: { count: 1, oldestAt: String },
    exceptions: { count: 1, oldestAt: String },
    recipientReviews: { count: 0, oldestAt: null },
  })
  t.equal(after.activity!.incomingPayments.count, credited)
  t.equal(Date.parse(after.activity!.to) - Date.parse(after.activity!.from), 7 * DAY_MS)
  await world.query(`update payment set amount = 1602 where id = $1`, [held])

  await world.query(`update payment set created_at = created_at - interval '2 days' where id = $1`, [ids[0]])
  t.equal(paymentsOf(await read(admin, '?days=1'), 'completed')?.count, 1, 'the time is asked for')
  t.equal(paymentsOf(await read(admin, '?days=31'), 'completed')?.count, 2)
  await world.query(`update payment set operator_id = $2 where id = $1`, [ids[1], randomUUID()])
  t.equal(paymentsOf(await read(admin), 'completed')?.count, 1, 'of this operator alone')
  await world.query(`update payment set operator_id = $2 where id = $1`, [ids[1], admin.tenantId])
})

t.test('administrators alone read it, and a wrong time is named', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  for (const role of ['compliance', 'treasury', 'support'] as const)
    t.match((await (await world.person(role).signIn()).get(PATH)).problem, { requiredCapability: 'audit.read' }, role)
  t.equal((await world.operator.get(PATH)).problem.code, 'insufficient-scope')
  t.equal((await (await world.person('owner').signIn()).get(PATH)).problem.code, 'tenant-forbidden')
  for (const query of ['days=0', 'days=32', 'days=x', 'days=1.5', 'from=2026-01-01'])
    t.equal((await admin.get(`${PATH}?${query}`)).problem.status, 400, query)
})

t.test('the statements read by index, and no further than they have to', async (t) => {
  await using world = await createWorld()
  const connection = new pg.Client({ connectionString: world.databaseUrl })
  await connection.connect()
  await connection.query('set enable_seqscan = off')
  const planOf = async (sql: string, values: unknown[]) =>
    (await connection.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, values)).rows
      .map((row) => row['QUERY PLAN'])
      .join('\n')
  const operatorId = world.operator.tenantId
  const payments = await planOf(PAYMENTS_SQL, [operatorId, idAt(world.now()), new Date(world.now())])
  t.match(payments, /payment_pkey/)
  t.match(payments, /Index Cond: \(id >= /)
  const waiting = await planOf(WAITING_SQL, [operatorId])
  for (const index of [
    'approval_(subject_)?pending',
    'compliance_hold_(open|customer)',
    'exception_case_open',
    'kyb_case_queue',
    'recipient_review_pending',
    'incoming_payment_suspense',
    'reconciliation_item_open',
  ])
    t.match(waiting, new RegExp(index), index)
  t.comment(payments)
  t.comment(waiting)
  await connection.end()
})
