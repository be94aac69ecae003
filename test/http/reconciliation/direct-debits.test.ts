/** A day of collections at the sandbox bank: what it books is what the ledger has. */
import t from 'tap'
import { DAY_MS, dateIn, HOUR_MS } from '../../../lib/base/clock.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { createWorld } from '../../support/world.ts'
import { breaksOf, endDay, reconcile } from './support.ts'

const world = await createWorld({ stillClock: true })
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances } = world.seeded

async function made<Body>(path: string, body: object): Promise<Body> {
  const reply = await client.post<Body>(path, body)
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body
}

async function collection(name: string): Promise<Collection> {
  const { id: mandateId } = await made<Mandate>('/mandates', {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    reference: '',
    balanceId: balances.EUR,
    counterparty: { name, iban: 'NL77SBOX0100000001' },
  })
  const amount = { amountMinor: '4990', currency: 'EUR' }
  return await made<Collection>('/collections', { mandateId, amount, reference: 'Fee' })
}

t.test('collections, their returns and their reversals are matched line by line', async (t) => {
  // A whole day lies before midnight, whatever the hour is now.
  world.advanceTo(Date.parse(dateIn(world.now(), 'UTC')) + DAY_MS + 9 * HOUR_MS)
  for (let round = 0; round < 2; round++) await world.pollOnce()
  const begun = world.now()
  const [paid, late, insists, back] = [
    await collection('Jane Payer'),
    await collection('Late Payer'),
    await collection('Insists Payer'),
    await collection('Jane Payer'),
  ]
  const to = async (seconds: number) => {
    world.advanceTo(begun + seconds * 1_000)
    for (let round = 0; round < 4; round++) await world.pollOnce()
  }
  for (const seconds of [0, 5, 10]) await to(seconds)
  const reversed = await client.post(`/collections/${back.id}/reverse`, { reasonCode: 'DUPL' })
  t.equal(reversed.status, 200, reversed.text)
  for (const seconds of [15, 20, 40, 70, 80]) await to(seconds)
  const statusOf = async ({ id }: Collection) => (await client.get<Collection>(`/collections/${id}`)).body.status
  t.strictSame(
    [await statusOf(paid), await statusOf(late), await statusOf(insists), await statusOf(back)],
    ['collected', 'returned', 'collected', 'reversed'],
  )
  const done = await reconcile(world, endDay(world))
  t.strictSame(await breaksOf(world, done), [])
  // Four credits, one of them again; two returns, a reversal.
  t.ok((done.matched ?? 0) >= 8, `${done.matched} lines are matched`)
  t.match(done, { timing: 0, breaks: 0, unexplained: { amountMinor: '0' } })
})
