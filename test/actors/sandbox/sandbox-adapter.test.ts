/** The sandbox bank keeps the contract of adapters. */
import { createHmac } from 'node:crypto'
import t from 'tap'
import type { RawProviderEvent } from '../../../actors/providers/adapters/adapter.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { sandboxAdapter } from '../../../actors/sandbox/sandbox-adapter.ts'
import { createSandboxPartners } from '../../../actors/sandbox/sandbox-partners.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import { MONDAY } from '../../support/commands.ts'
import { openLedger, type Ledger } from '../../support/ledger.ts'
import { createWakes } from '../../support/wakes.ts'
import { runKit, type AdapterHarness, type ProviderOutcome, type Trouble } from '../providers/adapter-kit.ts'

const CONNECTION = '019ff000-0000-7000-8000-00000000c0de'
const KEY = Buffer.alloc(32, 7)
const SECRET = `whsec_${KEY.toString('base64')}`

const noWay = (): never => {
  throw new Error('The bank is in this process.')
}

/** The bank with a book in the database. Its calls are within the process, so it is they that are lost. */
function openHarness({ database, clock, read }: Ledger): AdapterHarness {
  const recorded: string[] = []
  const shards = new InProcessShards('kit')
  const partners = createSandboxPartners({
    database,
    snapshots: database,
    clock,
    shards,
    wakes: createWakes({ clock, shards }),
    onError: (error, what) => recorded.push(`${what}: ${String(error)}`),
  })
  const connection = sandboxAdapter(partners).open(
    { id: CONNECTION, operatorId: CONNECTION, environment: 'sandbox', config: {}, credentials: null },
    {
      http: noWay,
      files: { place: noWay, book: noWay, read: noWay },
    },
  )
  let next: Trouble | null = null
  let events = 0
  const eventOf = (reference: string, { kind, code }: ProviderOutcome): RawProviderEvent => {
    const id = `evt-${events++}`
    const type = `payment.${kind}`
    const data = { reference, schemeCode: code, ...(kind === 'returned' ? { amountMinor: '1000' } : {}) }
    return {
      source: 'webhook',
      eventId: id,
      type,
      body: Buffer.from(JSON.stringify({ id, type, occurredAt: '2026-05-04T09:30:00.000Z', data })),
      headers: {},
      occurredAt: MONDAY,
    }
  }
  return {
    connection: {
      ...connection,
      async submit(orders, now) {
        const trouble = next
        next = null
        if (trouble === 'request_lost') throw new Error('The call was lost.')
        const answer = (await connection.submit?.(orders, now)) ?? new Map()
        if (trouble === 'answer_lost') throw new Error('The answer was lost.')
        return answer
      },
    },
    now: clock.now(),
    order: (reference) => ({
      reference,
      shard: 0,
      connectionId: CONNECTION,
      rail: 'sepa',
      currency: 'EUR',
      amount: 1_000n,
      creditorName: 'Ada Lovelace',
      remittance: 'Invoice 1',
    }),
    troubles: new Set<Trouble>(['answer_lost', 'request_lost']),
    trouble(trouble) {
      next = trouble
    },
    carried: async (reference) => (await read('select from sandbox_order where reference = $1', [reference])).length,
    end: async (reference, outcome) => {
      const event = eventOf(reference, outcome)
      return [event, { ...event }]
    },
    sign(bytes, at) {
      const seconds = Math.floor(at / 1_000)
      const signature = createHmac('sha256', KEY).update(`msg_1.${seconds}.`).update(bytes).digest('base64')
      return {
        bytes,
        headers: {
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(seconds),
          'webhook-signature': `v1,${signature}`,
        },
      }
    },
    webhookSecret: SECRET,
    signsTime: true,
    largeBody: (bytes) =>
      Buffer.from(JSON.stringify({ id: 'evt-large', type: 'note', data: { note: 'x'.repeat(bytes) } })),
    secrets: [SECRET],
    recorded: async () => recorded,
    close: async () => undefined,
  }
}

t.test('the sandbox bank keeps the contract', async (t) => {
  const ledger = await openLedger(t, [0n], new ManualClock(MONDAY))
  await runKit(t, async () => openHarness(ledger))
})
