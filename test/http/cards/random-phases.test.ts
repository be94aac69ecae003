/**
 * Random phases in any order, each delivered up to three times at once, on two nodes: what is held and what is booked is
 * what the sums of the transactions say, and no hold is above what is left of its authorisation.
 */
import t from 'tap'

import { CARD_PHASES, type CardPhase } from '../../../lib/cards/card-transaction.ts'
import type { Card } from '../../../lib/cards/card-schema.ts'
import { Random } from '../../support/random.ts'
import { createWorld, type World } from '../../support/world.ts'

const SEEDS = [1, 2, 3]
const ACTS = 60
const OPENING: readonly CardPhase[] = ['authorisation', 'force_post', 'atm', 'refund', 'decline']
const FOLLOWING = CARD_PHASES.filter((phase) => phase === 'refund' || !OPENING.includes(phase))

interface Sums {
  readonly id: string
  readonly bound: string
  readonly held: string
  readonly paid: string
  readonly reserved: string
  readonly booked: string
}

/** The sums of every card transaction beside its holds and its lines, minor units as text. */
const SUMS = `select t.id, greatest(t.authorised - t.reversed - t.cleared, 0)::text as bound, t.held::text,
  (t.cleared - t.refunded - t.disputed - t.recovered)::text as paid,
  coalesce((select sum(h.amount) from hold h where h.subject_id = t.id and h.status = 'active'), 0)::text as reserved,
  coalesce((select sum(case when p.debit_account = t.balance_id then p.amount else -p.amount end) from posting p
    where p.source_object = 'card_transaction' and p.source_id = t.id), 0)::text as booked
  from card_transaction t`

async function issue(world: World): Promise<Card> {
  const owner = await world.person('owner').signIn()
  const { user } = (await owner.get<{ user: { id: string } }>('/sessions/current')).body
  await owner.stepUp('card.manage')
  return (
    await owner.send<Card>('POST', '/cards', {
      balanceId: world.seeded.balances.EUR,
      holderUserId: user.id,
      type: 'virtual',
    })
  ).body
}

await t.test('random phases, doubled, on two nodes', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const { client } = world.seeded
  const card = await issue(world)
  for (const seed of SEEDS) {
    const random = new Random(seed)
    const refs: string[] = []
    let decided = 0
    for (let act = 0; act < ACTS; act++) {
      const begins = refs.length === 0 || random.chance(0.2)
      const phase = random.pick(begins ? OPENING : FOLLOWING)
      const body = {
        phase,
        amount: { amountMinor: String(random.int(1, 1_000)), currency: 'EUR' },
        ...(begins ? {} : { relatedRef: random.pick(refs) }),
        ...(phase === 'settlement' ? { final: random.chance(0.5) } : {}),
      }
      const replies = await Promise.all(
        Array.from({ length: random.int(1, 3) }, () =>
          client.post<{ details: { ref: string } }>(
            `/simulations/cards/${card.id}/transactions`,
            body,
            `seed-${seed}-act-${act}`,
          ),
        ),
      )
      const done = replies.filter(({ status }) => status === 202)
      for (const { status, text } of replies) if (![202, 409].includes(status)) t.fail(`${status}: ${text}`)
      t.ok(new Set(done.map(({ text }) => text)).size <= 1, 'each delivery gets the answer of the first')
      if (done.length > 0) decided += 1
      if (begins && done[0] !== undefined) refs.push(done[0].body.details.ref)
    }
    t.ok(decided > ACTS / 3, `seed ${seed}: ${decided} messages fitted`)
  }
  const sums = await world.query<Sums>(SUMS)
  t.ok(sums.length > SEEDS.length)
  for (const { id, bound, held, paid, reserved, booked } of sums) {
    t.ok(BigInt(held) >= 0n && BigInt(held) <= BigInt(bound), `${id}: ${held} is held of ${bound}`)
    t.equal(reserved, held, `${id}: the hold`)
    t.equal(booked, paid, `${id}: the lines`)
  }
})
