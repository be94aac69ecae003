/**
 * Impatient integrators: several workers at once send payments, transfers and, where there is a balance in dollars,
 * exchanges against small balances, and repeat each command under its one key until it has an answer. Afterwards
 * `verify` compares the service with its answers.
 */
import { randomUUID } from 'node:crypto'

import type { Test } from 'tap'

import type { Exchange } from '../../lib/exchange/exchange-schema.ts'
import type { Payment } from '../../lib/payments/payment-schema.ts'
import type { Transfer } from '../../lib/transfers/transfer-schema.ts'
import type { AuditReport } from '../../storage/audit/audit.ts'
import type { Client, Reply } from './client.ts'
import { until } from './until.ts'
import { paymentBody, transferBody } from './world.ts'

export interface Sent {
  readonly kind: keyof typeof PATHS
  readonly key: string
  readonly body: { readonly externalId: string }
  /** Amount in minor units of the euro. */
  readonly amount: number
  readonly from: string
  readonly to: string | null
  readonly attempts: number
  readonly reply: Reply<Payment | Transfer | Exchange>
}

const PATHS = { payment: '/payments', transfer: '/transfers', exchange: '/exchanges' } as const

export interface Hammer {
  /** Commands that have been answered. */
  readonly sent: readonly Sent[]
  /** Answers that no fault excuses, such as a 500. */
  readonly unexpected: readonly string[]
  /** Waits until this many commands have been answered. @throws Error with the last answer when that takes too long */
  answered(count: number): Promise<void>
  /** Sends nothing new, and waits until every command that was begun has been answered. */
  stop(): Promise<void>
}

const RETRY_MS = 30
const REPEATED_TOGETHER = 16
/** A payment whose hand-over to the bank was interrupted is looked up after half a minute. */
const COMPLETED_DEADLINE_MS = 75_000
/** The service is not expected to survive a fault that lasts longer than this. */
const DECIDED_DEADLINE_MS = 60_000

/**
 * Starts sending. `balanceIds` are two balances of one customer, in euro. `dollars` is a balance of the same customer,
 * for exchanges.
 */
export function hammer(options: {
  readonly client: Client
  readonly balanceIds: readonly [string, string]
  readonly dollars?: string | undefined
  readonly recipientId: string
  readonly workers: number
}): Hammer {
  const { client, balanceIds, dollars, recipientId } = options
  const sent: Sent[] = []
  const unexpected: string[] = []
  let stopping = false
  let failure: unknown = null
  let lastWords = 'nothing yet'
  let nth = 0

  async function send(): Promise<void> {
    const number = nth++
    const key = randomUUID()
    const kind = number % 3 === 2 ? 'transfer' : number % 4 === 1 && dollars !== undefined ? 'exchange' : 'payment'
    const from = balanceIds[number % 2]!
    const to = kind === 'transfer' ? balanceIds[(number + 1) % 2]! : null
    const amount = 300 + ((number * 37) % 600)
    const asked =
      kind === 'exchange'
        ? { quoteId: await quote(amount), sellBalanceId: from, buyBalanceId: dollars }
        : to === null
          ? paymentBody(from, recipientId, amount)
          : transferBody(from, to, amount)
    const body = { ...asked, externalId: key }
    let attempts = 0
    const reply = await until(
      `${kind} ${key} is decided`,
      async () => {
        attempts++
        const answer = await client
          .post<Payment | Transfer | Exchange>(PATHS[kind], body, key)
          .catch((error: Error) => error)
        // There was no answer: the node or the connection was lost.
        if (answer instanceof Error) {
          lastWords = `${answer.message}: ${String(answer.cause)}`
          return null
        }
        if (answer.status === 201) return answer
        const { code } = answer.problem
        lastWords = answer.text
        if (code === 'insufficient-funds' || code === 'quote-expired') return answer
        if (code !== 'service-unavailable' && code !== 'idempotency-key-in-use')
          unexpected.push(`${answer.status} ${answer.text}`)
        return null
      },
      { deadlineMs: DECIDED_DEADLINE_MS, pollMs: RETRY_MS },
    )
    sent.push({ kind, key, body, amount, from, to, attempts, reply })
  }

  /**
   * Requests a quote to sell so many euro cents, until there is one; a quote changes nothing, so it may be repeated.
   */
  async function quote(amount: number): Promise<string> {
    return await until(
      'there is a quote',
      async () => {
        const body = {
          sellCurrency: 'EUR',
          buyCurrency: 'USD',
          amount: { amountMinor: String(amount), currency: 'EUR' },
          fixedSide: 'sell',
        }
        const answer = await client.post<{ id: string }>('/exchanges/quotes', body).catch(() => null)
        return answer?.status === 201 ? answer.body.id : null
      },
      { deadlineMs: DECIDED_DEADLINE_MS, pollMs: RETRY_MS },
    )
  }

  async function work(): Promise<void> {
    while (!stopping) await send()
  }
  const workers = Promise.all(Array.from({ length: options.workers }, work))
  // `stop` reports a worker's failure; until then it must not end the process.
  workers.catch((error: unknown) => {
    failure = error
  })
  return {
    sent,
    unexpected,
    async answered(count) {
      await until(`${count} answers`, () => failure !== null || sent.length >= count).catch((error: unknown) => {
        throw new Error(`${sent.length} of ${count} answers; the service says: ${lastWords}`, { cause: error })
      })
      if (failure !== null) throw failure
    },
    async stop() {
      stopping = true
      await workers
    },
  }
}

/** Asserts that every acknowledged command took effect once, that nothing else did, and that the books are right. */
export async function verify(
  t: Test,
  { sent, unexpected }: Hammer,
  world: {
    readonly client: Client
    readonly balanceIds: readonly [string, string]
    readonly opening: bigint
    query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>
    audit(): Promise<AuditReport>
  },
): Promise<void> {
  const { client, balanceIds } = world
  const done = sent.filter(({ reply }) => reply.status === 201)
  const refused = sent.filter(({ reply }) => reply.status !== 201)
  t.comment(
    `${done.length} done, ${refused.length} refused, ${sent.filter(({ attempts }) => attempts > 1).length} sent more than once`,
  )
  t.strictSame(unexpected, [], 'a fault is answered with 503 or not at all, never with a bug')
  t.ok(done.length > 0)
  t.ok(
    sent.some(({ attempts }) => attempts > 1),
    'the fault was noticed',
  )

  const rows = await world.query<{ id: string; external_id: string }>(
    `select id, external_id from payment where customer_id = $1 union all select id, external_id from transfer where customer_id = $1
     union all select id, external_id from exchange where customer_id = $1`,
    [client.tenantId],
  )
  t.strictSame(
    new Map(rows.map(({ external_id, id }) => [external_id, id])).size,
    rows.length,
    'no key has had two effects',
  )
  t.strictSame(
    rows.map(({ id }) => id).sort(),
    done.map(({ reply }) => reply.body.id).sort(),
    'what was acknowledged is there, and nothing else',
  )

  const again: Reply<unknown>[] = []
  // Sent in groups: all at once would rightly be refused as too many.
  for (let from = 0; from < sent.length; from += REPEATED_TOGETHER) {
    again.push(
      ...(await Promise.all(
        sent.slice(from, from + REPEATED_TOGETHER).map(({ kind, body, key }) => client.post(PATHS[kind], body, key)),
      )),
    )
  }
  again.forEach((reply, index) => {
    const { key, reply: first } = sent[index]!
    if (reply.text !== first.text || reply.headers.get('idempotency-replayed') !== 'true')
      t.fail(`the key ${key} has another answer now: ${reply.status} ${reply.text}, not ${first.text}`)
  })
  t.equal(again.length, sent.length, 'every key still has its first answer')

  let open: object[] = []
  await until(
    'all payments and exchanges are completed',
    async () => {
      open = [
        ...(await world.query('select id, status, exception from exchange where customer_id = $1 and status <> $2', [
          client.tenantId,
          'completed',
        ])),
        ...(await world.query(
          `select p.id, p.status, p.sent_at, p.exception, i.attention_at, i.attempts, o.state as at_the_bank, o.due_at
      from payment p left join partner_instruction i on i.payment_id = p.id left join sandbox_order o on o.reference = p.id
      where p.customer_id = $1 and p.status <> 'completed'`,
          [client.tenantId],
        )),
      ]
      return open.length === 0
    },
    { deadlineMs: COMPLETED_DEADLINE_MS, pollMs: 100 },
  ).catch(() => {
    t.fail(`${open.length} payments and exchanges are not completed: ${JSON.stringify(open.slice(0, 5))}`)
  })
  for (const id of balanceIds) {
    const change = done.reduce(
      (sum, { from, to, amount }) => sum + (to === id ? BigInt(amount) : 0n) - (from === id ? BigInt(amount) : 0n),
      0n,
    )
    const { bookBalance, heldBalance } = await client.balance(id)
    t.equal(
      bookBalance.amountMinor,
      String(world.opening + change),
      'the balance is what the acknowledged commands make of it',
    )
    t.ok(BigInt(bookBalance.amountMinor) >= 0n)
    t.equal(heldBalance.amountMinor, '0')
  }
  const report = await world.audit()
  t.strictSame(
    report.checks.filter(({ disagreeing }) => disagreeing > 0),
    [],
    'the books are right',
  )
}
