/**
 * The banking partner of HOOKS, in a process of its own: tells of payments by signed webhooks, each twice, in no order,
 * at a rate that does not wait for the answers.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { sign } from '../lib/webhooks/signature.ts'
import { Draw } from './draw.ts'
import { Histogram, type SparseHistogram } from './histogram.ts'
import { answerParent } from './process.ts'

export interface SenderPlan {
  readonly url: string
  readonly path: string
  readonly secret: string
  /** The webhooks, in the order of a partner that knows none. */
  readonly tellings: readonly { readonly reference: string; readonly type: string; readonly amountMinor?: string }[]
  readonly perSecond: number
  readonly connections: number
}

export interface SenderReport {
  readonly sent: number
  /** From the first webhook to the last answer. */
  readonly seconds: number
  readonly statuses: Readonly<Record<string, number>>
  /** From when a webhook fell due to its answer, microseconds. */
  readonly latencies: SparseHistogram
}

const TICK_MS = 5

/** Puts items into an order of their own. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const draw = new Draw(2 ** 32, items.length)
  return items
    .map((item) => ({ item, at: draw.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

async function send({ url, path, secret, tellings, perSecond, connections }: SenderPlan): Promise<SenderReport> {
  const events = tellings.map(({ type, ...data }) => {
    const id = randomUUID()
    return { id, body: JSON.stringify({ id, type, occurredAt: new Date().toISOString(), data }) }
  })
  const due = shuffled([...events, ...events])
  const pool = new Pool(url, { connections, pipelining: 1 })
  const statuses: Record<string, number> = {}
  const latencies = new Histogram()
  const start = performance.now()
  const deliver = async ({ id, body }: (typeof due)[number], dueAt: number): Promise<void> => {
    const timestamp = Math.floor(Date.now() / 1_000)
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign({ eventId: id, timestamp, body, secrets: [secret] }).standard,
    }
    const response = await pool.request({ method: 'POST', path, headers, body })
    await response.body.dump()
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1
    latencies.record(Math.round((performance.now() - dueAt) * 1_000))
  }
  const underWay: Promise<void>[] = []
  while (underWay.length < due.length) {
    const until = Math.min(due.length, Math.ceil(((performance.now() - start) / 1_000) * perSecond))
    while (underWay.length < until) {
      const nth = underWay.length
      underWay.push(deliver(due[nth] as (typeof due)[number], start + (nth / perSecond) * 1_000))
    }
    await pause(TICK_MS)
  }
  await Promise.all(underWay)
  const seconds = (performance.now() - start) / 1_000
  await pool.close()
  return { sent: due.length, seconds, statuses, latencies: latencies.sparse() }
}

answerParent<SenderPlan, SenderReport>(send)
