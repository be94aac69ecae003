/**
 * The queue of direct debits: what is sent and when, and what becomes of orders whose outcome is unknown. The rows are
 * real; the inbox moves them as the mandates' actors do.
 */
import t from 'tap'
import { DebitQueue } from '../../../actors/direct-debits/debit-queue.ts'
import type {
  CollectionOrder,
  DebitPartner,
  DebitStatus,
  DebitSubmission,
  MandateOrder,
} from '../../../actors/providers/debits.ts'
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

/** Inserts a mandate and returns its id. */
async function mandate(scheme: string, status = 'pending', more: { readonly ref?: string } = {}): Promise<string> {
  const id = ids.next()
  await read(
    `insert into mandate (id, customer_id, operator_id, connection_id, shard, direction, scheme, status, version, reference, balance_id,
       currency, counterparty, management, sequence_type, provider_ref, history, created_by, created_via, created_at, updated_at)
     values ($1::uuid, $2, $3, $4, $5, 'collect', $6, $7, 1, $1::uuid::text, $8, 'EUR', '{"name":"Ada","kind":"consumer"}', 'client', 'recurring', $9, '[]', $1::uuid, 'system', $10, $10)`,
    [id, customerId, operatorId, connectionId, shard, scheme, status, balances[0], more.ref ?? null, timestamp(MONDAY)],
  )
  return id
}

async function collection(mandateId: string, more: { readonly status?: string; readonly attempts?: string } = {}) {
  const id = ids.next()
  await read(
    `insert into collection (id, customer_id, operator_id, connection_id, shard, number, mandate_id, balance_id, scheme, currency, amount, status, version,
       due_date, submission_deadline, sequence_type, reference, end_to_end_id, attempts, created_by, created_via, created_at, updated_at)
     values ($1::uuid, $2, $3, $4, $5, $1::uuid::text, $6, $7, 'sepa_dd_core', 'EUR', 1000, $8, 1, '2026-06-01', $9, 'first', 'May', $1::uuid::text, $10, $1::uuid, 'system', $11, $11)`,
    [
      id,
      customerId,
      operatorId,
      connectionId,
      shard,
      mandateId,
      balances[0],
      more.status ?? 'pending',
      timestamp(MONDAY + 86_400_000),
      more.attempts ?? '[]',
      timestamp(MONDAY),
    ],
  )
  return id
}

/** A bank that does as it is told for each call: answers, loses the answer, or never gets the request. */
class Bank implements DebitPartner {
  readonly orders = new Map<string, number>()
  readonly sent: string[] = []
  next: 'answer' | 'answer_lost' | 'request_lost' | 'refuse' = 'answer'
  asked = 0

  async #take(orders: readonly (MandateOrder | CollectionOrder)[]): Promise<ReadonlyMap<string, DebitSubmission>> {
    const what = this.next
    this.next = 'answer'
    for (const { reference } of orders) this.sent.push(reference)
    if (what === 'request_lost') throw new Error('The request was lost.')
    if (what === 'refuse')
      return new Map(orders.map(({ reference }) => [reference, { kind: 'refused', reasonCode: 'AG01' }]))
    for (const { reference } of orders) this.orders.set(reference, (this.orders.get(reference) ?? 0) + 1)
    if (what === 'answer_lost') throw new Error('The answer was lost.')
    return new Map(orders.map(({ reference }) => [reference, { kind: 'accepted', providerRef: `B${reference}` }]))
  }
  lodge = (orders: readonly MandateOrder[]) => this.#take(orders)
  submit = (orders: readonly CollectionOrder[]) => this.#take(orders)
  reverse = async () => new Map()
  cancel = async () => new Set<string>()
  status: DebitPartner['status'] = async (questions) => {
    this.asked += questions.length
    return new Map(
      questions.map(({ reference }): [string, DebitStatus] => [
        reference,
        this.orders.has(reference) ? { kind: 'taken', providerRef: `B${reference}` } : { kind: 'unknown' },
      ]),
    )
  }
}

/** Makes a queue. `meanwhile` runs before the inbox moves anything. */
async function open(meanwhile: () => Promise<unknown> = async () => undefined) {
  await read('delete from collection')
  await read('delete from mandate')
  const clock = new ManualClock(MONDAY)
  const shards = new InProcessShards('debits')
  const bank = new Bank()
  const told: DebitMessage[] = []
  const errors: unknown[] = []
  const queue = new DebitQueue({
    database,
    clock,
    shards,
    wakes: createWakes({ clock, shards }),
    partner: bank,
    carriers: ['sandbox sepa_dd_core'],
    inbox: async (messages) => {
      await meanwhile()
      told.push(...messages)
      for (const message of messages) {
        if (message.type === 'mandate.submitted')
          await read(
            `update mandate set status = 'submitted', submitted_at = $2 where id = $1 and status = 'pending'`,
            [message.mandateId, timestamp(clock.now())],
          )
        if (message.type === 'collection.submitted')
          await read(
            `update collection set status = 'submitted', submitted_at = $2, attempts = (attempts::jsonb || '[{}]')::text where id = $1 and status = 'pending'`,
            [message.collectionId, timestamp(clock.now())],
          )
        if (message.type === 'mandate.failed')
          await read(`update mandate set status = 'failed' where id = $1`, [message.mandateId])
        if (message.type === 'collection.rejected')
          await read(`update collection set status = 'failed' where id = $1`, [message.collectionId])
      }
      return messages.map(({ id }) => id)
    },
    onError: (error) => errors.push(error),
  })
  queue.start()
  await queue.runOnce()
  t.teardown(() => queue.stop())
  const after = async (ms: number) => {
    clock.advance(ms)
    await queue.runOnce()
  }
  return { queue, bank, told, errors, after }
}

const refOf = async (table: 'mandate' | 'collection', id: string) =>
  (await read<[string, string | null]>(`select status, provider_ref from ${table} where id = $1`, [id]))[0]

t.test('a mandate is submitted before it is sent, and sent once', async (t) => {
  const { bank, told, queue } = await open()
  const id = await mandate('sepa_dd_core')
  const other = await mandate('bacs_dd')
  await queue.runOnce()
  await queue.runOnce()
  t.strictSame(bank.sent, [id], 'only schemes that travel by orders')
  t.strictSame(
    told.map(({ type }) => type),
    ['mandate.submitted'],
  )
  t.strictSame(await refOf('mandate', id), ['submitted', `B${id}`])
  t.strictSame(await refOf('mandate', other), ['pending', null])
})

t.test('an answer that was lost is found by the status, and nothing is sent again', async (t) => {
  const { bank, errors, queue, after } = await open()
  const id = await mandate('sepa_dd_core')
  bank.next = 'answer_lost'
  await queue.runOnce()
  t.equal(errors.length, 1)
  t.strictSame(await refOf('mandate', id), ['submitted', null])
  await after(10_000)
  t.equal(bank.asked, 0, 'the call may still be under way')
  await after(10_000)
  t.strictSame([bank.asked, bank.sent.length, bank.orders.get(id)], [1, 1, 1])
  t.strictSame(await refOf('mandate', id), ['submitted', `B${id}`])
})

t.test('what the bank never got is sent again, when the bank has said so', async (t) => {
  const { bank, queue, after } = await open()
  const id = await mandate('sepa_dd_core')
  bank.next = 'request_lost'
  await queue.runOnce()
  await after(20_000)
  t.strictSame([bank.asked, bank.sent, bank.orders.get(id)], [1, [id, id], 1])
  t.strictSame(await refOf('mandate', id), ['submitted', `B${id}`])
})

t.test('a refusal fails the mandate or the collection', async (t) => {
  const { bank, told, queue, after } = await open()
  const refused = await mandate('sepa_dd_core')
  bank.next = 'refuse'
  await queue.runOnce()
  t.strictSame(await refOf('mandate', refused), ['failed', null])
  const active = await mandate('sepa_dd_core', 'active', { ref: 'B' })
  const its = await collection(active)
  bank.next = 'refuse'
  await after(5_000)
  t.strictSame(await refOf('collection', its), ['failed', null])
  t.match(told.at(-1), { type: 'collection.rejected', reasonCode: 'AG01', rType: 'reject' })
})

t.test('a collection leaves after five seconds, when its mandate is active', async (t) => {
  const { bank, queue, after } = await open()
  const [pending, active] = [
    await mandate('sepa_dd_core', 'suspended', { ref: 'A' }),
    await mandate('sepa_dd_core', 'active', { ref: 'B' }),
  ]
  const [waits, leaves] = [await collection(pending), await collection(active)]
  await queue.runOnce()
  t.strictSame(bank.sent, [], 'too early')
  await after(5_000)
  t.strictSame(bank.sent, [leaves])
  t.strictSame(await refOf('collection', leaves), ['submitted', `B${leaves}`])
  await read(`update mandate set status = 'active' where id = $1`, [pending])
  await after(1)
  t.strictSame(bank.sent, [leaves, waits])
})

t.test('each presentation is an order of its own', async (t) => {
  const { bank, after } = await open()
  const its = await collection(await mandate('sepa_dd_core', 'active', { ref: 'B' }), { attempts: '[{"number":1}]' })
  await after(5_000)
  t.equal(bank.sent.length, 1)
  t.not(bank.sent[0], its)
  t.strictSame(await refOf('collection', its), ['submitted', `B${bank.sent[0]}`])
})

t.test('what is cancelled meanwhile is not sent', async (t) => {
  const { bank, after } = await open(() => read(`update collection set status = 'cancelled'`))
  await collection(await mandate('sepa_dd_core', 'active', { ref: 'B' }))
  await after(5_000)
  t.strictSame(bank.sent, [])
})
