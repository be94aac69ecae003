/** The follower of transactions, pass by pass: its clock moves by 10 ms each time that it is read. */
import { PENDING_AFTER_MS } from '../../../storage/transactions/transactions.ts'
import t from 'tap'
import { TransactionFollower } from '../../../actors/transactions/transaction-follower.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { timestamp, type Clock } from '../../../lib/base/clock.ts'
import { MONDAY } from '../../support/commands.ts'
import { eventsSeen } from '../../support/events-seen.ts'
import { openLedger, type Ledger } from '../../support/ledger.ts'
import { createWakes } from '../../support/wakes.ts'

const PASS = 128
const FLOOD = 1_000_000

/** A clock that also moves by itself, and a follower that reads it. */
async function openFollower(t: Parameters<typeof openLedger>[0]) {
  let ms = MONDAY
  const clock: Clock = { now: () => (ms += 10) }
  const ledger = await openLedger(t, [1_000n], clock)
  let [commands, perReading] = [0, 0]
  const follower = new TransactionFollower({
    database: ledger.database,
    clock,
    wakes: createWakes({ clock, shards: new InProcessShards('node') }),
    commands: () => (commands += perReading),
    onError: (error) => t.fail(String(error)),
  })
  const seen = () => eventsSeen(async (sql) => (await ledger.read<[boolean]>(sql))[0]![0])
  // The events of the ledger itself.
  await seen()
  await follower.runOnce()
  return {
    ledger,
    follower,
    advance: (by: number) => {
      ms += by
    },
    /** Commands that the node commits between two passes. */
    committing: (each: number) => {
      perReading = each
    },
    write: async (count: number) => {
      await writeEvents(ledger, timestamp(ms), count)
      await seen()
    },
    /** Writes the event of a payment that goes to the bank. */
    writeUnderWay: async () => {
      await writeEvents(ledger, timestamp(ms), 1, 'processing')
      await seen()
    },
    left: async () =>
      Number(
        (
          await ledger.read<[string]>(
            'select count(*) from outbox where written_in >= (select position from transaction_following)',
          )
        )[0]![0],
      ),
  }
}

/** Writes events of this time, each in a transaction of its own. */
async function writeEvents(
  { read, operatorId, customerId, shard }: Ledger,
  at: string,
  count: number,
  status = 'pending',
): Promise<void> {
  for (let nth = 0; nth < count; nth++)
    await read(
      `insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status)
       values (uuidv7(), $1, $2, $3, $4, 'payment.created', 'payment', uuidv7(), $5)`,
      [at, customerId, operatorId, shard, status],
    )
}

t.test('without a flood all events are followed at once', async (t) => {
  const { follower, write, left } = await openFollower(t)
  await write(3 * PASS)
  await follower.runOnce()
  t.equal(await left(), 0)
})

t.test('in a flood the follower rests after a pass, until an event is a second old', async (t) => {
  const { follower, write, left, committing, advance } = await openFollower(t)
  committing(FLOOD)
  await write(8 * PASS)
  await follower.runOnce()
  t.equal(await left(), 7 * PASS, 'one pass')
  await follower.runOnce()
  t.equal(await left(), 7 * PASS, 'the rest is eight times as long as the pass')
  advance(60)
  await follower.runOnce()
  t.equal(await left(), 6 * PASS, 'then it makes another one')
  advance(1_000)
  await follower.runOnce()
  t.equal(await left(), 0, 'what is older than a second is followed without rests')
  t.ok(follower.lagSeconds > 1)
  t.ok(follower.lagSeconds < 2)
})

t.test('payments under way that wait for the slower cursor are a lag, too', async (t) => {
  const { follower, advance, writeUnderWay } = await openFollower(t)
  await writeUnderWay()
  await follower.runOnce()
  t.ok(follower.lagSeconds < 1, 'they are due in the list after a while')
  advance(PENDING_AFTER_MS + 7_000)
  await follower.runOnce()
  t.ok(follower.lagSeconds >= 7 && follower.lagSeconds < 8, `${follower.lagSeconds} s`)
  await follower.runOnce()
  t.equal(follower.lagSeconds, 0, 'it has caught up')
})

t.test('a clock that is set back ends the rest', async (t) => {
  const { follower, write, left, committing, advance } = await openFollower(t)
  committing(FLOOD)
  await write(3 * PASS)
  await follower.runOnce()
  t.equal(await left(), 2 * PASS)
  advance(-3_600_000)
  await follower.runOnce()
  t.equal(await left(), PASS)
})
