/** Reversals and ends of mandates on their way to a bank: what is sent, once, and what becomes of unknown outcomes. */
import t from 'tap'
import { LaterDebitOrders } from '../../../actors/direct-debits/later-debit-orders.ts'
import type { DebitPartner, DebitStatus, DebitSubmission } from '../../../actors/providers/debits.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { ManualClock, timestamp } from '../../../lib/base/clock.ts'
import type { DebitMessage } from '../../../lib/direct-debits/debit-messages.ts'
import { ids, MONDAY } from '../../support/commands.ts'
import { openLedger } from '../../support/ledger.ts'
import { createWakes } from '../../support/wakes.ts'

const ledger = await openLedger(t, [0n], new ManualClock(MONDAY))
const { read, database, customerId, operatorId, shard, balances } = ledger
const [connectionId] = (
  await read<[string]>(`select id from provider_connection where provider = 'sandbox' limit 1`)
)[0] as [string]

async function mandate(endDueAt: number | null = null): Promise<string> {
  const id = ids.next()
  await read(
    `insert into mandate (id, customer_id, operator_id, connection_id, shard, direction, scheme, status, version, reference, balance_id,
       currency, counterparty, management, sequence_type, provider_ref, history, end_due_at, created_by, created_via, created_at, updated_at)
     values ($1::uuid, $2, $3, $4, $5, 'collect', 'sepa_dd_core', 'cancelled', 1, $1::uuid::text, $6, 'EUR', '{"name":"Ada","kind":"consumer"}', 'client', 'recurring', 'B', '[]', $7, $1::uuid, 'system', $8, $8)`,
    [
      id,
      customerId,
      operatorId,
      connectionId,
      shard,
      balances[0],
      endDueAt === null ? null : timestamp(endDueAt),
      timestamp(MONDAY),
    ],
  )
  return id
}

/** A reversed collection. @returns its id and the reference of its order */
async function reversal(): Promise<readonly [string, string]> {
  const [id, order] = [ids.next(), ids.next()]
  const details = { id: order, reasonCode: 'DUPL', note: null, amountMinor: '900', requestedAt: timestamp(MONDAY) }
  await read(
    `insert into collection (id, customer_id, operator_id, connection_id, shard, number, mandate_id, balance_id, scheme, currency, amount, status, version,
       due_date, submission_deadline, sequence_type, reference, end_to_end_id, attempts, provider_ref, reversal, reversal_status, reversed_at, created_by, created_via, created_at, updated_at)
     values ($1::uuid, $2, $3, $4, $5, $1::uuid::text, $6, $7, 'sepa_dd_core', 'EUR', 1000, 'reversed', 3, '2026-06-01', $8, 'first', 'May', 'E2E', '[{"number":1}]', 'BC', $9, 'pending', $8, $1::uuid, 'system', $8, $8)`,
    [
      id,
      customerId,
      operatorId,
      connectionId,
      shard,
      await mandate(),
      balances[0],
      timestamp(MONDAY),
      JSON.stringify(details),
    ],
  )
  return [id, order]
}

async function open() {
  await read('delete from collection')
  await read('delete from mandate')
  const clock = new ManualClock(MONDAY)
  const shards = new InProcessShards('debits')
  const known = new Set<string>()
  const sent: unknown[] = []
  const ended: string[] = []
  const told: DebitMessage[] = []
  const errors: unknown[] = []
  const bank = { next: 'answer' as 'answer' | 'answer_lost' | 'request_lost' | 'refuse' }
  const trouble = () => {
    const { next } = bank
    bank.next = 'answer'
    return next
  }
  const partner: Pick<DebitPartner, 'reverse' | 'cancel' | 'status'> = {
    async reverse(orders): Promise<ReadonlyMap<string, DebitSubmission>> {
      const what = trouble()
      sent.push(...orders)
      if (what === 'request_lost') throw new Error('The request was lost.')
      if (what === 'refuse')
        return new Map(orders.map(({ reference }) => [reference, { kind: 'refused', reasonCode: 'AG01' }]))
      for (const { reference } of orders) known.add(reference)
      if (what === 'answer_lost') throw new Error('The answer was lost.')
      return new Map(orders.map(({ reference }) => [reference, { kind: 'accepted', providerRef: `B${reference}` }]))
    },
    async cancel(mandates) {
      if (trouble() === 'request_lost') throw new Error('The request was lost.')
      ended.push(...mandates.map(({ reference }) => reference))
      return new Set(mandates.map(({ reference }) => reference))
    },
    status: async (questions) =>
      new Map(
        questions.map(({ reference }): [string, DebitStatus] => [
          reference,
          known.has(reference) ? { kind: 'taken', providerRef: `B${reference}` } : { kind: 'unknown' },
        ]),
      ),
  }
  const orders = new LaterDebitOrders({
    database,
    clock,
    shards,
    wakes: createWakes({ clock, shards }),
    partner,
    carriers: ['sandbox sepa_dd_core'],
    inbox: async (messages) => {
      told.push(...messages)
      return messages.map(({ id }) => id)
    },
    onError: (error) => errors.push(error),
  })
  orders.start()
  t.teardown(() => orders.stop())
  const after = async (ms: number) => {
    clock.advance(ms)
    await orders.runOnce()
  }
  return { bank, sent, ended, told, errors, after }
}

const refOf = async (id: string) =>
  (
    await read<[string | null, boolean]>(
      'select reversal_ref, reversal_sent_at is not null from collection where id = $1',
      [id],
    )
  )[0]

t.test('a reversal is sent once, with what the bank needs', async (t) => {
  const { sent, after } = await open()
  const [id, reference] = await reversal()
  await after(0)
  await after(60_000)
  t.match(sent, { length: 1 })
  t.match(sent[0], {
    reference,
    collectionId: id,
    presentation: id,
    providerRef: 'BC',
    amount: 900n,
    reasonCode: 'DUPL',
    endToEndId: 'E2E',
    counterparty: { name: 'Ada' },
  })
  t.strictSame(await refOf(id), [`B${reference}`, true])
})

t.test('an answer that was lost is found by the status; a request that was lost is sent again', async (t) => {
  for (const [trouble, times] of [
    ['answer_lost', 1],
    ['request_lost', 2],
  ] as const) {
    const { bank, sent, errors, after } = await open()
    const [id, reference] = await reversal()
    bank.next = trouble
    await after(0)
    t.equal(errors.length, 1, trouble)
    t.strictSame(await refOf(id), [null, true], 'it is noted as sent before the call')
    await after(10_000)
    t.equal(sent.length, 1, 'the call may still be under way')
    await after(10_000)
    t.equal(sent.length, times, trouble)
    t.strictSame(await refOf(id), [`B${reference}`, true])
  }
})

t.test('a refusal becomes a message', async (t) => {
  const { bank, told, after } = await open()
  const [id] = await reversal()
  bank.next = 'refuse'
  await after(0)
  t.match(told, [{ type: 'collection.reversal_refused', collectionId: id, reasonCode: 'AG01' }])
})

t.test('a bank is told of the end of a mandate until it knows', async (t) => {
  const { bank, ended, errors, after } = await open()
  const [now, later] = [await mandate(MONDAY), await mandate(MONDAY + 20_000)]
  bank.next = 'request_lost'
  await after(0)
  t.strictSame([ended, errors.length], [[], 1])
  await after(30_000)
  t.strictSame(ended, [later])
  await after(30_000)
  await after(600_000)
  t.strictSame(ended, [later, now])
})
