/**
 * A flood of webhooks at two nodes, each sent twice and in no order: no payment gets a wrong status, and no money moves
 * twice. The world compares the books when it ends.
 */
import t from 'tap'
import { Random } from '../../support/random.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { bySandbox } from '../kyc/support.ts'
import { deliver, eventBody, seededConnection, TestPartners } from './inbox-support.ts'

/** An amount with which the sandbox bank says nothing by itself. */
const STUCK = 1701
const PAYMENTS = 510
/** Webhooks that are sent at a time. */
const AT_ONCE = 40
/** Enough for all of it on a machine that is busy with other tests. */
const DEADLINE_MS = 120_000
/** The partner's messages about a payment, and the only status in which it may end. */
const STORIES = [
  { types: ['settled'], ends: 'completed' },
  { types: ['settled', 'returned'], ends: 'returned' },
  { types: ['pending', 'settled', 'pending'], ends: 'completed' },
  { types: ['rejected'], ends: 'failed' },
  { types: ['pending', 'settled', 'returned', 'recall_rejected'], ends: 'returned' },
  { types: ['pending'], ends: 'processing' },
] as const

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}

t.test('webhooks that come doubled and in no order leave every payment as it should be', async (t) => {
  const partners = new TestPartners()
  await using world = await createWorld({ nodes: 2, overrides: { inboxPartners: partners } })
  const { id, operatorId } = await seededConnection(world)
  partners.add({ id, operatorId })
  const { client, balances, recipients } = world.seeded
  const payments: { readonly id: string; readonly story: (typeof STORIES)[number] }[] = []
  await inTurns([...Array(PAYMENTS).keys()], async (nth) => {
    const amount = { amountMinor: String(STUCK), currency: 'EUR' as const }
    const body = { sourceBalanceId: balances.EUR, recipientId: recipients.EUR, amount, reference: 'Invoice 42' }
    payments.push({ id: (await client.createPayment(body)).body.id, story: STORIES[nth % STORIES.length]! })
  })
  await until(
    'the bank has all payments',
    async () => {
      const [row] = await world.query<{ count: number }>('select count(*)::int as count from sandbox_order')
      return row?.count === PAYMENTS
    },
    { deadlineMs: DEADLINE_MS },
  )

  const random = new Random(22)
  const bodies = payments.flatMap(({ id: reference, story }, nth) =>
    story.types.flatMap((type) => {
      const more = type === 'returned' ? { amountMinor: String(STUCK), schemeCode: 'AC04' } : {}
      // Of every other payment two events say the same; each event comes twice.
      const events = Array.from({ length: 1 + (nth % 2) }, () => eventBody(`payment.${type}`, { reference, ...more }))
      return [...events, ...events]
    }),
  )
  for (let last = bodies.length - 1; last > 0; last--) {
    const other = random.int(0, last)
    ;[bodies[last], bodies[other]] = [bodies[other]!, bodies[last]!]
  }
  const statuses = new Set<number>()
  await inTurns(bodies, async (body) => {
    statuses.add((await deliver(world, id, body, bySandbox(body, { at: world.now() }))).status)
  })
  t.strictSame([...statuses], [202], `${bodies.length} webhooks are taken`)
  await until(
    'all events were used',
    async () => {
      const [row] = await world.query<{ open: number }>(
        'select count(*)::int as open from provider_inbox where due_at is not null',
      )
      return row?.open === 0
    },
    { deadlineMs: DEADLINE_MS },
  )

  const found = await world.query<{ id: string; status: string }>('select id, status from payment')
  const statusOf = new Map(found.map((row) => [row.id, row.status]))
  const wrong = payments.filter(({ id: payment, story }) => statusOf.get(payment) !== story.ends)
  t.strictSame(
    wrong.map(({ id: payment, story }) => [story.types, statusOf.get(payment)]),
    [],
    'no wrong status',
  )
  const [kept] = await world.query<{ events: number; open: number }>(
    `select count(*)::int as events, count(*) filter (where status not in ('processed', 'duplicate'))::int as open from provider_inbox`,
  )
  t.strictSame(kept, { events: bodies.length / 2, open: 0 }, 'each event once')
  const moves = await world.query<{ rule: string; count: number }>(
    `select rule, count(*)::int as count from posting where source_object = 'payment' and ordinal = 0 group by rule order by rule`,
  )
  const ended = (status: string) => payments.filter(({ story }) => story.ends === status).length
  t.strictSame(
    Object.fromEntries(moves.map(({ rule, count }) => [rule, count])),
    { L10: PAYMENTS, L11: ended('completed') + ended('returned'), L12: ended('failed'), L13: ended('returned') },
    'and money moves once',
  )
})
