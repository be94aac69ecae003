/** Transfers by the partner when the partner, or a node, is not at its best. */
import t from 'tap'

import type {
  BookOrder,
  BookStatus,
  BookSubmission,
  BookTransferPartner,
} from '../../../actors/providers/book-transfers.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { TransferOrders } from '../../../actors/transfers/transfer-orders.ts'
import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { Database } from '../../../storage/db/database.ts'
import { InternalAccountCache } from '../../../storage/journal/internal-account-cache.ts'
import { apart, becomes, events } from '../../http/transfers/support.ts'
import { createWakes } from '../../support/wakes.ts'
import { until } from '../../support/until.ts'
import { createWorld, transferBody, type World } from '../../support/world.ts'

/** A partner that does what it is told to, and remembers what it was asked. */
class Partner implements BookTransferPartner {
  readonly booked: string[] = []
  asked = 0
  book: (order: BookOrder) => Promise<BookSubmission> = async ({ reference }) => {
    this.booked.push(reference)
    return 'accepted'
  }
  status: (order: BookOrder) => Promise<BookStatus | null> = async () => {
    this.asked += 1
    return { kind: 'pending' }
  }
}

/** Looks after the transfers of a world whose service does not. */
async function orders(world: World, partner: BookTransferPartner, nodes: number) {
  const database = new Database(world.databaseUrl, 4)
  const ids = createIdSource(systemClock)
  const errors: unknown[] = []
  const clock = { now: () => world.now() }
  const wakes = createWakes({ clock, shards: new InProcessShards('all') })
  // The transfers are made by the service of the world, which does not tell these.
  const timer = setInterval(() => wakes.wakeAll(), 100)
  const running = Array.from(
    { length: nodes },
    (_, nth) =>
      new TransferOrders({
        database,
        accounts: new InternalAccountCache(database, ids),
        partner,
        gate: { screen: async () => new Map() },
        clock,
        wakes,
        ids,
        shards: new InProcessShards(`node ${nth}`),
        onError: (error) => {
          errors.push(error)
        },
      }),
  )
  for (const each of running) each.start()
  return {
    errors,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await Promise.all(running.map((each) => each.stop()))
      await database.close()
    },
  }
}

t.test('two nodes tell the partner once, and book its word once', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, from, to } = await apart(world)
  const made = await Promise.all(
    Array.from(
      { length: 20 },
      async (_, nth) => (await client.createTransfer(transferBody(from, to, 100 + nth))).body.id,
    ),
  )
  const partner = new Partner()
  await using running = await orders(world, partner, 3)
  await until('all are told', () => partner.booked.length >= made.length)
  partner.status = async () => ({ kind: 'settled' })
  for (const id of made) await becomes(client, id, 'completed')
  t.same([...partner.booked].sort(), [...made].sort(), 'each once')
  for (const id of made) t.equal((await events(world, id)).length, 2)
  t.same(running.errors, [])
})

t.test('an order that may have arrived is asked about before it is sent again', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, from, to } = await apart(world)
  const { id } = (await client.createTransfer(transferBody(from, to, 100))).body
  // A node has taken it and died.
  await world.query(`update transfer_order set sent_at = now(), due_at = now() where transfer_id = $1`, [id])
  const partner = new Partner()
  partner.status = async () => (partner.booked.length === 0 ? { kind: 'unknown' } : { kind: 'settled' })
  await using _running = await orders(world, partner, 1)
  await becomes(client, id, 'completed')
  t.same(partner.booked, [id])
})

t.test('when nobody knows whether an order arrived it is an exception, and is never sent again', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, from, to } = await apart(world)
  const { id } = (await client.createTransfer(transferBody(from, to, 100))).body
  const partner = new Partner()
  let calls = 0
  partner.book = async () => {
    calls += 1
    throw new Error('connection reset')
  }
  partner.status = async () => {
    partner.asked += 1
    return { kind: 'unknown' }
  }
  await using running = await orders(world, partner, 2)
  await becomes(client, id, 'exception')
  await until('it was asked about', () => partner.asked >= 2)
  t.equal(calls, 1)
  t.equal((await client.get<Transfer>(`/transfers/${id}`)).body.status, 'exception')
  partner.status = async () => ({ kind: 'rejected', schemeCode: 'XYZ9' })
  t.match(await becomes(client, id, 'failed'), { failure: { code: 'unknown', schemeCode: 'XYZ9' } })
  t.match(running.errors, [{ message: 'connection reset' }])
})
