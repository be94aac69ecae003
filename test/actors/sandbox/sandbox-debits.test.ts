/** Direct debits of the sandbox bank: the contract of the port, and the plan of each word as reports in its order. */
import t from 'tap'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { SandboxDebits } from '../../../actors/sandbox/sandbox-debits.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import type { DebitMessage } from '../../../lib/direct-debits/debit-messages.ts'
import { MONDAY } from '../../support/commands.ts'
import { openLedger, type Ledger } from '../../support/ledger.ts'
import { createWakes } from '../../support/wakes.ts'
import { collectionOrder, mandateOrder, runDebitKit, type DebitTrouble } from '../providers/debit-kit.ts'

function openBank({ database }: Ledger, clock: ManualClock) {
  const shards = new InProcessShards('debits')
  const errors: unknown[] = []
  const bank = new SandboxDebits({
    database,
    clock,
    shards,
    wakes: createWakes({ clock, shards }),
    onError: (error) => errors.push(error),
  })
  return { bank, errors }
}

const ledger = await openLedger(t, [0n], new ManualClock(MONDAY))

t.test('the sandbox bank keeps the contract of direct debits', async (t) => {
  await runDebitKit(t, async () => {
    await ledger.read('delete from sandbox_debit')
    const clock = new ManualClock(MONDAY)
    const { bank } = openBank(ledger, clock)
    let next: DebitTrouble | null = null
    const troubled =
      <Orders, Answer>(call: (orders: Orders) => Promise<Answer>) =>
      async (orders: Orders): Promise<Answer> => {
        const trouble = next
        next = null
        if (trouble === 'request_lost') throw new Error('The call was lost.')
        const answer = await call(orders)
        if (trouble === 'answer_lost') throw new Error('The answer was lost.')
        return answer
      }
    return {
      debits: {
        lodge: troubled((orders: Parameters<SandboxDebits['lodge']>[0]) => bank.lodge(orders)),
        submit: troubled((orders: Parameters<SandboxDebits['submit']>[0]) => bank.submit(orders)),
        reverse: troubled((orders: Parameters<SandboxDebits['reverse']>[0]) => bank.reverse(orders)),
        cancel: (mandates) => bank.cancel(mandates),
        status: (questions) => bank.status(questions),
      },
      trouble(trouble) {
        next = trouble
      },
      carried: async (reference) =>
        (await ledger.read('select from sandbox_debit where reference = $1', [reference])).length,
      async reports() {
        const told: DebitMessage[] = []
        clock.advance(20_000)
        bank.start(async (messages) => {
          told.push(...messages)
          return []
        })
        await bank.runOnce()
        await bank.runOnce()
        await bank.stop()
        return told
      },
    }
  })
})

/** Sends orders with this name of the counterparty, lets 100 s pass, and returns the reports with their seconds. */
async function plan(name: string, amount = 1_000n): Promise<readonly string[]> {
  await ledger.read('delete from sandbox_debit')
  const clock = new ManualClock(MONDAY)
  const { bank, errors } = openBank(ledger, clock)
  const told: string[] = []
  bank.start(async (messages) => {
    for (const message of messages)
      told.push(
        [
          `${(clock.now() - MONDAY) / 1_000} ${message.type}`,
          message.reasonCode,
          'rType' in message ? message.rType : null,
          'amendment' in message ? (message.amendment?.iban ?? null) : null,
        ]
          .filter((word) => word !== null)
          .join(' '),
      )
    return messages.map(({ id }) => id)
  })
  const { counterparty, ...collection } = collectionOrder(2, MONDAY, amount)
  await bank.lodge([mandateOrder(1, MONDAY, name)])
  await bank.submit([{ ...collection, counterparty: { ...counterparty, name } }])
  for (let second = 0; second < 100; second += 5) {
    await bank.runOnce()
    clock.advance(5_000)
  }
  await bank.stop()
  t.strictSame(errors, [])
  return told
}

t.test('each word is told in its time', async (t) => {
  const active = '5 mandate.active'
  const collected = '10 collection.collected'
  t.strictSame(await plan('Ada'), [active, collected])
  t.strictSame(await plan('Invalid'), ['5 mandate.failed AC01', collected])
  t.strictSame(await plan('Penniless'), [active, '10 collection.rejected AM04 reject'])
  t.strictSame(await plan('Late'), [active, collected, '30 collection.returned AM04 return'])
  t.strictSame(await plan('Fickle'), [active, collected, '30 collection.returned MD06 refund_authorised'])
  t.strictSame(await plan('Cancels'), [active, collected, '30 mandate.cancelled MD16'])
  t.strictSame(await plan('Slow'), [])
  t.strictSame(await plan('Transferred'), [active, collected, '35 mandate.amended MD20 GB48SBOX99000112345678'])
  t.strictSame(await plan('Insists'), [
    active,
    collected,
    '40 collection.returned MD06 refund_authorised',
    '70 collection.reinstated',
  ])
  t.strictSame(await plan('Ada', 1_307n), [active, '10 collection.rejected RC01 reject'])
})

t.test('money is booked once, though its report comes again', async (t) => {
  await ledger.read('delete from sandbox_booking')
  await plan('Insists')
  const bookings = await ledger.read('select direction, amount from sandbox_booking order by booked_at')
  t.strictSame(bookings, [
    ['CRDT', '1000'],
    ['DBIT', '1000'],
    ['CRDT', '1000'],
  ])
})

t.test('a simulation replaces what was planned', async (t) => {
  await ledger.read('delete from sandbox_debit')
  const clock = new ManualClock(MONDAY)
  const { bank } = openBank(ledger, clock)
  const told: DebitMessage[] = []
  const order = collectionOrder(7, MONDAY)
  await bank.submit([order])
  const known = {
    reference: order.reference,
    kind: 'collection',
    objectId: order.collectionId,
    shard: order.shard,
    connectionId: order.connectionId,
    scheme: order.scheme,
    currency: order.currency,
    amount: order.amount,
    account: {},
    receivedAt: MONDAY,
  } as const
  const id = await bank.simulate(ledger.database, known, [
    { event: 'collection.rejected', reasonCode: 'AC06', type: 'reject' },
  ])
  bank.start(async (messages) => {
    told.push(...messages)
    return messages.map((message) => message.id)
  })
  clock.advance(60_000)
  await bank.runOnce()
  await bank.runOnce()
  await bank.stop()
  t.match(told, [{ id, type: 'collection.rejected', reasonCode: 'AC06' }])
  t.equal(told.length, 1)
})
