/** What becomes due on mandates and collections by the clock of the service: dormancy, silence, reserves, retries, exposure. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const world: World = await createWorld({ dispatch: false })
const { client, balances } = world.seeded
// Sessions end with the days that these tests let pass, so each step signs in anew.
const staff = () => world.person('operations').signIn()
const admin = () => world.person('operator_admin').signIn()
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

const euros = (amountMinor: number) => ({ amountMinor: String(amountMinor), currency: 'EUR' })

async function signed(): Promise<Mandate> {
  const body = {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    reference: '',
    balanceId: balances.EUR,
    counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
    signedAt: new Date(world.now() - DAY_MS).toISOString().slice(0, 10),
  }
  const reply = await client.post<Mandate>('/mandates', body, randomUUID())
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}
const make = async (mandateId: string, change: object = {}) =>
  await client.post<Collection>(
    '/collections',
    { mandateId, amount: euros(2_500), reference: 'Invoice 42', ...change },
    randomUUID(),
  )
const report = async (path: string, status: string, change: object = {}) => {
  const reply = await (await staff()).post(`${path}/status-reports`, {
    status,
    reportedAt: new Date(world.now()).toISOString(),
    ...change,
  })
  if (reply.status !== 200) throw new Error(reply.text)
}
const read = async <Body>(path: string): Promise<Body> => (await client.get<Body>(path)).body
const settings = async (collections: object) => {
  const reply = await (await admin()).send('PATCH', '/operator/settings', { collections }, { 'if-match': '*' })
  if (reply.status !== 200) throw new Error(reply.text)
}

t.test('collected money is reserved for the days of the operator, and then free', async (t) => {
  await settings({ reserveDays: 3 })
  const { id: mandateId } = await signed()
  const { id } = (await make(mandateId)).body
  const available = async () => BigInt((await read<Balance>(`/balances/${balances.EUR}`)).availableBalance.amountMinor)
  const before = await available()
  await report(`/collections/${id}`, 'submitted')
  await report(`/collections/${id}`, 'collected')
  t.equal(await available(), before, 'the money is there, and held')
  world.advance(5 * DAY_MS)
  await until('the end of the reserve', async () => (await available()) === before + 2_500n)
  await settings({ reserveDays: 0 })
})

t.test('a collection that its bank has not told of becomes an exception, and staff end it', async (t) => {
  const { id: mandateId } = await signed()
  const { id, dueDate } = (await make(mandateId)).body
  await report(`/collections/${id}`, 'submitted')
  world.advanceTo(Date.parse(`${dueDate}T00:00:00Z`) + 12 * DAY_MS)
  await until('the exception', async () => (await read<Collection>(`/collections/${id}`)).status === 'exception')
  await report(`/collections/${id}`, 'collected')
  t.equal((await read<Collection>(`/collections/${id}`)).status, 'collected')
})

t.test('a collection without funds is presented again while its client allows it', async (t) => {
  const { id: mandateId } = await signed()
  const { id } = (await make(mandateId, { retry: { enabled: true, maxAttempts: 1, withinDays: 14 } })).body
  await report(`/collections/${id}`, 'submitted')
  await report(`/collections/${id}`, 'failed', { reasonCode: 'AM04' })
  t.match(await read(`/collections/${id}`), { status: 'failed', willRetry: true, nextAttemptAt: String })
  world.advance(60_000)
  await until('the next presentation', async () => (await read<Collection>(`/collections/${id}`)).status === 'pending')
  await report(`/collections/${id}`, 'submitted')
  await report(`/collections/${id}`, 'failed', { reasonCode: 'AM04' })
  t.match(await read(`/collections/${id}`), { status: 'failed', willRetry: false, attempts: { length: 2 } })
})

t.test('a mandate expires 36 months after its last collection, and not before', async (t) => {
  const { id } = await signed()
  world.advance(1_090 * DAY_MS)
  t.equal((await read<Mandate>(`/mandates/${id}`)).status, 'active')
  world.advance(10 * DAY_MS)
  await until('the end of the mandate', async () => (await read<Mandate>(`/mandates/${id}`)).status === 'expired')
  t.equal((await make(id)).status, 409)
})

t.test('beyond the largest exposure no collection is made, until the payers can have nothing back', async (t) => {
  await settings({ maxExposure: [euros(6_000)] })
  const { id: mandateId } = await signed()
  t.equal((await make(mandateId)).status, 201)
  t.equal((await make(mandateId)).status, 201)
  t.match((await make(mandateId)).problem, { code: 'limit-exceeded', limit: { kind: 'exposure' } })
  await settings({ maxExposure: [] })
  t.equal((await make(mandateId)).status, 201)
})
