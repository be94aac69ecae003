/** What becomes of a collection that comes back: compensation, fees, reinstatement and the end of its mandate, over HTTP. */
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { createWorld } from '../../support/world.ts'
import { charge } from '../pricing/pricing.ts'

// Nothing is sent to the sandbox bank: people report.
const world = await createWorld({ dispatch: false, stillClock: true })
const { client, balances } = world.seeded
const staff = await world.person('operations').signIn()
await charge(world, [{ kind: 'collection_return', currency: 'EUR', fixed: money(350) }])
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

function money(amountMinor: number, currency = 'EUR') {
  return { amountMinor: String(amountMinor), currency }
}

const report = async (id: string, status: string, more: object = {}) =>
  await staff.post<Collection>(`/collections/${id}/status-reports`, {
    status,
    reportedAt: new Date(world.now()).toISOString(),
    ...more,
  })
const booked = async () => BigInt((await client.get<Balance>(`/balances/${balances.EUR}`)).body.bookBalance.amountMinor)

/** A collection of 25.00 that is collected. */
async function collected(balanceId = balances.EUR): Promise<Collection> {
  const mandate = await client.post<Mandate>('/mandates', {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    reference: '',
    balanceId,
    counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
    signedAt: '2026-01-05',
  })
  const made = await client.post<Collection>('/collections', {
    mandateId: mandate.body.id,
    amount: money(2_500),
    reference: 'Fee',
  })
  if (made.status !== 201) throw new Error(made.text)
  await report(made.body.id, 'submitted')
  return (await report(made.body.id, 'collected')).body
}

t.test('a refund with a compensation costs the customer its collection and its fee, and no more', async (t) => {
  const before = await booked()
  const { id } = await collected()
  const returned = await report(id, 'returned', { reasonCode: 'MD06', amount: money(2_612) })
  t.match(returned.body, {
    status: 'returned',
    returnedAmount: money(2_612),
    rTransactions: [{ type: 'refund_authorised', reasonCode: 'MD06', amount: money(2_612), fee: money(350) }],
  })
  t.equal(await booked(), before - 350n)
  const postings = await world.query<{ rule: string; amount: string }>(
    `select distinct rule, amount from posting where source_id = $1 and rule in ('L52', 'L16', 'L53') order by rule`,
    [id],
  )
  t.strictSame(
    postings.map(({ rule, amount }) => `${rule} ${amount}`),
    ['L16 112', 'L52 2500', 'L53 350'],
  )
})

t.test(
  'returned money that comes again is the customer’s again, also in parts, and may come back once more',
  async (t) => {
    const { id } = await collected()
    const before = await booked()
    await report(id, 'returned', { reasonCode: 'AM04' })
    t.equal((await report(id, 'collected')).status, 409, 'that would be a report of before')
    const part = await report(id, 'reinstated', { amount: money(1_000) })
    t.match(part.body, {
      status: 'collected',
      returnedAmount: money(1_500),
      rTransactions: [{ type: 'return' }, { type: 'reinstatement', amount: money(1_000) }],
    })
    t.equal(await booked(), before - 1_500n - 350n)
    t.match((await report(id, 'returned', { reasonCode: 'MD06' })).body, {
      status: 'returned',
      rTransactions: { length: 3 },
      returnedAmount: money(2_500),
    })
    t.equal(await booked(), before - 2_500n - 700n)
    t.match((await report(id, 'reinstated')).body, { status: 'collected', returnedAmount: money(0) })
    t.equal(await booked(), before - 700n)
  },
)

t.test('a return ends the mandate where its reason says so', async (t) => {
  const { id, mandateId } = await collected()
  await report(id, 'returned', { reasonCode: 'MD01' })
  t.match((await client.get<Mandate>(`/mandates/${mandateId}`)).body, { status: 'cancelled', statusReason: 'MD01' })
})

t.test('amounts of reports are refused where they mean nothing', async (t) => {
  const { id } = await collected()
  for (const [status, amount, field, code] of [
    ['returned', money(1, 'GBP'), '/amount/currency', 'currency_mismatch'],
    ['failed', money(1), '/amount', 'not_applicable'],
    ['returned', money(0), '/amount/amountMinor', 'too_small'],
  ] as const)
    t.match((await report(id, status, { amount })).problem, { status: 422, errors: [{ field, code }] }, field)
  t.match((await client.get(`/collections/${id}`)).body, { status: 'collected', returnedAmount: money(0) })
})

t.test('money that comes again for a closed balance waits in suspense, and what comes back then is owed', async (t) => {
  await charge(world, [])
  const owner = await world.person('owner').signIn()
  const { id: balanceId } = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Rent' })).body
  const { id, mandateId } = await collected(balanceId)
  const stateOf = async () => {
    const { status, bookBalance } = (await client.get<Balance>(`/balances/${balanceId}`)).body
    return `${status} ${bookBalance.amountMinor}`
  }
  await report(id, 'returned', { reasonCode: 'AM04' })
  t.equal((await owner.post(`/balances/${balanceId}/close`)).status, 409, 'its mandate is open')
  t.equal((await client.post(`/mandates/${mandateId}/cancel`, {})).status, 200)
  const closed = await owner.post<Balance>(`/balances/${balanceId}/close`)
  t.equal(closed.status, 200, JSON.stringify(closed.body))
  t.equal(await stateOf(), 'closed 0')
  t.match((await report(id, 'reinstated')).body, { status: 'collected' })
  t.equal(await stateOf(), 'closed 0')
  const suspended = await world.query<{ amount: string; suspense: string }>(
    'select amount, suspense from incoming_payment where origin_id = $1',
    [id],
  )
  t.match(suspended, [{ amount: '2500', suspense: 'open' }])
  t.match((await report(id, 'returned', { reasonCode: 'MD06' })).body, { status: 'returned' })
  t.equal(await stateOf(), 'closed -2500')
})
