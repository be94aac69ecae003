/** The migration of balances of which something is under way, or whose new partner opens no accounts. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { ConnectionMigrationView, ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../../support/world.ts'
import { jobOf, migrate, PATH, proven, replace } from './migration-support.ts'

/** The sandbox bank keeps a payment of this amount on its way. */
const STAYS = 1_701

const connectionOf = async (world: World, balanceId: string) =>
  (await world.query<{ connection_id: string }>('select connection_id from balance where id = $1', [balanceId]))[0]!
    .connection_id

t.test('a balance waits until nothing of it is under way at the old partner', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const second = await world.person('integration').signIn()
  const [{ id: firstId }] = (await admin.get<{ data: [ProviderConnectionView] }>(PATH)).body.data
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 9_000n, name: 'Savings' },
    ],
  })
  const [busy, idle] = customer.balanceIds as [string, string]
  const made = await customer.client.post<Payment>('/payments', paymentBody(busy, customer.recipients.EUR, STAYS))
  t.equal(made.status, 201, made.text)
  const inFlight = async () => (await admin.get<ProviderConnectionView>(`${PATH}/${firstId}`)).body
  await until('the payment is at the bank', async () => (await inFlight()).oldestUnconfirmedAt !== null)
  t.equal((await inFlight()).inFlight, 1)

  const secondId = await replace(admin)
  const next = await customer.client.post<Payment>('/payments', paymentBody(busy, customer.recipients.EUR, 1_000))
  t.equal(next.status, 201, next.text)
  await until('new work goes to the new connection, before the balance has moved', async () => {
    const [row] = await world.query<{ connection_id: string; status: string }>(
      'select connection_id, status from payment where id = $1',
      [next.body.id],
    )
    return row?.status === 'completed' && row.connection_id === secondId
  })
  const jobId = await migrate([admin, second], firstId)
  await until('the idle balance has moved', async () => (await connectionOf(world, idle)) === secondId)
  await until('the job waits', async () => {
    const { processed, total } = (await jobOf(admin, jobId)).progress
    return total !== null && processed === total - 1
  })
  t.equal(await connectionOf(world, busy), firstId)
  t.match(await jobOf(admin, jobId), { finishedAt: null, result: null })
  const again = await second.post<ConnectionMigrationView>(`${PATH}/${firstId}/migrate`, {})
  t.match(again.body, { status: 'approved', job: { id: jobId } }, 'the job under way answers')
  const early = await proven(admin, `${PATH}/${firstId}/retire`)
  t.match(early.problem, { code: 'invalid-transition', inFlight: 1, balances: 1 })

  const transfer = await customer.client.post<{ id: string }>('/transfers', transferBody(idle, busy, 2_000))
  t.equal(transfer.status, 201, transfer.text)
  await until('money goes between the two connections meanwhile', async () => {
    const { body } = await customer.client.get<{ status: string }>(`/transfers/${transfer.body.id}`)
    return body.status === 'completed'
  })
  const settled = await customer.client.post(`/simulations/payments/${made.body.id}/status`, { status: 'completed' })
  t.equal(settled.status, 202, settled.text)
  await until('the payment is completed', async () => {
    const { body } = await customer.client.get<Payment>(`/payments/${made.body.id}`)
    return body.status === 'completed'
  })
  world.advance(60_000)
  await until('the job is done', async () => (await jobOf(admin, jobId)).status === 'succeeded')
  t.equal(await connectionOf(world, busy), secondId)
  t.strictSame(
    await world.query('select amount from connection_move where balance_id = $1', [busy]),
    [{ amount: String(50_000 - STAYS - 1_000 + 2_000) }],
    'what is left moves',
  )
  t.equal((await proven(admin, `${PATH}/${firstId}/retire`)).status, 200)
  await world.audit()
  await world.query('update connection_move set amount = amount + 1 where balance_id = $1', [busy])
  await t.rejects(world.audit(), /moves of balances/, 'the audit compares each move with its posting')
  await world.query('update connection_move set amount = amount - 1 where balance_id = $1', [busy])

  await t.test('a partner that opens no accounts: the old ones end, and payers are told at once', async (t) => {
    const [operator] = await world.query<{ id: string }>('select operator_id as id from balance where id = $1', [busy])
    const thirdId = randomUUID()
    await world.query(`update provider_connection set status = 'draining' where id = $1`, [secondId])
    await world.query(
      `insert into provider_connection (id, operator_id, provider, environment, role, status, name, created_at)
       values ($1, $2, 'no_such_adapter', 'sandbox', 'primary', 'active', 'Bank without accounts', now())`,
      [thirdId, operator!.id],
    )
    const balanceId = world.seeded.balances.EUR
    const details = async () =>
      (await world.seeded.client.get<PageBody<AccountDetails>>(`/balances/${balanceId}/details`)).body.data
    await until('no account is being opened or closed', async () => {
      const waiting = await world.query(
        `select id from account_details where connection_id = $1 and status in ('pending', 'closing')`,
        [secondId],
      )
      return waiting.length === 0
    })
    const before = (await details()).filter(({ status }) => status === 'active').length
    t.ok(before > 0)
    const job = await migrate([second, admin], secondId)
    await until('the balances have moved', async () => (await jobOf(admin, job)).status === 'succeeded')
    t.notOk((await details()).some(({ status }) => status === 'active'))
    const told = await world.query<{ status: string }>(
      `select status from outbox where type = 'balance.details_changed' and object_id = $1 order by created_at, id`,
      [balanceId],
    )
    t.equal(told.at(-1)?.status, 'provider_switch')
    t.equal((await proven(admin, `${PATH}/${secondId}/retire`)).status, 200)
    t.ok((await details()).every(({ status }) => status === 'closed'))
  })
})
