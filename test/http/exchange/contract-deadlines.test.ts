/**
 * The deadlines of forwards and held rates, to the millisecond: deposits, the settlement day, the two business days of
 * grace, and the time for which a rate is held.
 */
import t from 'tap'
import type { Exchange } from '../../../lib/exchange/exchange-schema.ts'
import { addDays } from '../../../lib/base/clock.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, transferBody } from '../../support/world.ts'
import {
  activeForward,
  book,
  dayFromNow,
  DAY_MS,
  draw,
  drawdowns,
  eur,
  euros,
  events,
  forward,
  heldRate,
  read,
  rules,
  updates,
  type Customer,
} from './contracts-support.ts'

const SECOND_MS = 1_000
const MINOR = 2_000_000
/** The deposit of a forward of `MINOR`: a twentieth. */
const DEPOSIT = MINOR / 20

/** The moment of a wall-clock time where the partner is. */
const at = (date: string, time: string): number => Date.parse(`${date}T${time}Z`)

await using world = await createWorld({ stillClock: true, nodes: 2 })
const rich = await euros(world, 100_000_000n)

// At noon, so that what belongs together falls on one day.
world.advanceTo(at(dayFromNow(world, 1), '12:00'))

/** A customer with euros on the balance that pays, an empty balance in dollars, and euros that are not looked at. */
async function customerWith(amount: bigint, reserve = 0n): Promise<Customer & { readonly reserve: string }> {
  const { client, balanceIds } = await world.customer({
    balances: [
      { currency: 'EUR', amount },
      { currency: 'USD', amount: 0n },
      { currency: 'EUR', amount: reserve },
    ],
  })
  const [from, to, other] = balanceIds as [string, string, string]
  return { client, from, to, reserve: other }
}

const deposit = (of: Customer, { id }: Exchange, body: object = {}) =>
  of.client.post<Exchange>(`/forward-contracts/${id}/deposit`, { balanceId: of.from, ...body })
/** Waits until contracts that were due have been looked at; returns when each is due next. */
const lookedAt = (...contracts: readonly Exchange[]): Promise<readonly number[]> =>
  until('they have been looked at', async () => {
    const rows = await world.query<{ due_at: Date }>('select due_at from exchange where id = any($1) and due_at > $2', [
      contracts.map(({ id }) => id),
      new Date(world.now()),
    ])
    return rows.length === contracts.length ? rows.map((row) => row.due_at.getTime()) : null
  })
/**
 * The exchange when it has this status. What could not be moved because the machine is busy is tried again ten seconds
 * later, so that time passes when it takes long.
 */
async function becomes(client: Client, id: string, status: Exchange['status']): Promise<Exchange> {
  let reads = 0
  return await until(
    `${id} is ${status}`,
    async () => {
      const exchange = await read(client, id)
      if (exchange.status === status) return exchange
      reads += 1
      if (reads % 100 === 0) world.advance(10 * SECOND_MS)
      return null
    },
    { deadlineMs: 60_000 },
  )
}
/** Contracts are looked at with those of the same second: at its end. */
const secondEnds = (): void => world.advance(SECOND_MS)

await t.test('a deposit is taken until a millisecond before its deadline, and not from it on', async (t) => {
  const { client, from } = rich
  const [secured, missed] = [await forward(world, client), await forward(world, client)]
  const deadline = Date.parse(missed.deposit!.dueAt!)
  t.equal(deadline, Date.parse(missed.createdAt) + DAY_MS)
  t.equal((await deposit(rich, missed, { amount: eur(30_000) })).body.status, 'awaiting_deposit')
  const before = await book(client, from)
  world.advanceTo(deadline - 1)
  t.match((await deposit(rich, secured)).body, { status: 'active', deposit: { status: 'received' } })
  t.match(await read(client, missed.id), { status: 'awaiting_deposit' })
  world.advanceTo(deadline)
  t.match((await deposit(rich, missed)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
    allowed: ['awaiting_deposit'],
  })
  t.match((await client.post(`/exchanges/${missed.id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'cancelled',
  })
  secondEnds()
  t.match(await becomes(client, missed.id, 'cancelled'), { deposit: { status: 'released', dueAt: null } })
  t.strictSame(await rules(world, missed.id), ['L40 cust fx_deposit 30000', 'L42 fx_deposit cust 30000'])
  t.strictSame(await events(world, missed.id), [
    'exchange.status_changed null awaiting_deposit',
    'exchange.status_changed awaiting_deposit cancelled',
  ])
  t.strictSame(await updates(world, missed.id), ['awaiting_deposit', 'awaiting_deposit', 'cancelled'])
  t.equal(await book(client, from), before + 30_000n - BigInt(DEPOSIT))
  await world.audit()
})

await t.test('on its settlement day at 10:00 the rest is drawn, and not a millisecond earlier', async (t) => {
  const { client } = rich
  const contract = await activeForward(world, client, { days: 4 })
  const matures = at(contract.settlementDate!, '10:00')
  world.advanceTo(matures - 1)
  t.strictSame(await lookedAt(contract), [matures], 'looked at again at that time')
  const own = await draw(client, contract, { amount: eur(500_000) })
  t.equal(own.status, 201, 'its customer draws until then')
  t.match(await read(client, contract.id), { status: 'partially_drawn', drawdownCount: 1 })
  world.advanceTo(matures)
  secondEnds()
  t.match(await becomes(client, contract.id, 'completed'), {
    drawdownCount: 2,
    remainingSellAmount: eur(0),
    deposit: { status: 'applied' },
  })
  const [, rest] = (await drawdowns(client, contract)) as [Exchange, Exchange]
  t.match(rest, { createdVia: 'system', sellAmount: eur(1_500_000) })
  t.strictSame(await updates(world, contract.id), ['awaiting_deposit', 'active', 'partially_drawn', 'completed'])
  t.strictSame(await rules(world, rest.id), [
    `L43 fx_deposit fx_clearing ${DEPOSIT}`,
    `L43 cust fx_clearing ${1_500_000 - DEPOSIT}`,
  ])
  t.match((await draw(client, contract, { amount: eur(1) })).problem, {
    code: 'invalid-transition',
    currentStatus: 'completed',
  })
  await world.audit()
})

await t.test('without its money it is overdue, and has until the end of the second day after', async (t) => {
  const [saved, lost] = [await customerWith(50_000n, 1_000_000n), await customerWith(50_000n)]
  const open = ({ client }: Customer) => activeForward(world, client, { days: 4, amount: 1_000_000 })
  const [completed, closed] = [await open(saved), await open(lost)]
  const matures = at(completed.settlementDate!, '10:00')
  world.advanceTo(matures - 1)
  t.strictSame(await lookedAt(completed, closed), [matures, matures])
  t.equal((await read(saved.client, completed.id)).status, 'active')
  world.advanceTo(matures)
  secondEnds()
  await becomes(saved.client, completed.id, 'overdue')
  await becomes(lost.client, closed.id, 'overdue')
  const end = at(addDays(completed.settlementDate!, 3), '00:00')
  world.advanceTo(end - 1)
  await lookedAt(completed, closed)
  t.match((await deposit(saved, completed)).problem, { code: 'invalid-transition', currentStatus: 'overdue' })
  t.match((await draw(saved.client, completed, { amount: eur(1) })).problem, {
    code: 'invalid-transition',
    currentStatus: 'overdue',
    allowed: ['active', 'partially_drawn'],
  })
  const money = transferBody(saved.reserve, saved.from, 1_000_000)
  t.equal((await saved.client.createTransfer(money)).status, 201)
  for (const [{ client }, { id }] of [
    [saved, completed],
    [lost, closed],
  ] as const)
    t.equal((await read(client, id)).status, 'overdue')
  // Overdue contracts are looked at every ten seconds.
  world.advanceTo(end + 10 * SECOND_MS)
  secondEnds()
  await becomes(saved.client, completed.id, 'completed')
  await becomes(lost.client, closed.id, 'closed_out')
  t.strictSame(await updates(world, completed.id), ['awaiting_deposit', 'active', 'overdue', 'completed'])
  t.strictSame(await updates(world, closed.id), ['awaiting_deposit', 'active', 'overdue', 'closed_out'])
  t.equal((await drawdowns(saved.client, completed)).length, 1)
  t.strictSame(await drawdowns(lost.client, closed), [])
  const [paid, ...settled] = await rules(world, closed.id)
  t.equal(paid, 'L40 cust fx_deposit 50000')
  t.ok(settled.length > 0 && settled.every((rule) => /^L4[245] /.test(rule)), settled.join())
  await world.audit()
})

await t.test('a margin call is paid until it is closed out; at its deadline one of both happens', async (t) => {
  const call = async () => {
    const contract = await activeForward(world, rich.client, { amount: 1_602 })
    world.advance(31 * SECOND_MS)
    return await becomes(rich.client, contract.id, 'awaiting_deposit')
  }
  const [inTime, raced] = [await call(), await call()]
  const deadline = Date.parse(raced.deposit!.dueAt!)
  t.equal(deadline, at(addDays(new Date(world.now()).toISOString().slice(0, 10), 3), '00:00'))
  world.advanceTo(deadline - 1)
  t.equal((await deposit(rich, inTime)).body.status, 'active')
  t.equal((await read(rich.client, raced.id)).status, 'awaiting_deposit')
  world.advanceTo(deadline)
  secondEnds()
  const reply = await deposit(rich, raced)
  if (reply.status === 200) {
    t.equal(reply.body.status, 'active')
    t.strictSame((await updates(world, raced.id)).slice(-2), ['awaiting_deposit', 'active'])
  } else {
    t.match(reply.problem, { code: 'invalid-transition', currentStatus: 'closed_out', allowed: ['awaiting_deposit'] })
    t.strictSame((await updates(world, raced.id)).slice(-2), ['awaiting_deposit', 'closed_out'])
  }
  t.equal((await read(rich.client, inTime.id)).status, 'active')
  await world.audit()
})

await t.test('a margin call that nobody pays is closed out at its deadline', async (t) => {
  const contract = await activeForward(world, rich.client, { amount: 1_602 })
  world.advance(31 * SECOND_MS)
  const called = await becomes(rich.client, contract.id, 'awaiting_deposit')
  world.advanceTo(Date.parse(called.deposit!.dueAt!))
  secondEnds()
  await becomes(rich.client, contract.id, 'closed_out')
  t.match((await deposit(rich, contract)).problem, { code: 'invalid-transition', currentStatus: 'closed_out' })
  t.strictSame(await updates(world, contract.id), ['awaiting_deposit', 'active', 'awaiting_deposit', 'closed_out'])
  await world.audit()
})

await t.test('a rate is drawn from until a millisecond before it ends, and not from its end on', async (t) => {
  const { client } = rich
  const [drawn, kept] = [await heldRate(client, { holdMinutes: 5 }), await heldRate(client, { holdMinutes: 5 })]
  const end = Date.parse(kept.heldUntil!)
  t.equal(end, Date.parse(kept.createdAt) + 5 * 60 * SECOND_MS)
  world.advanceTo(end - 1)
  t.equal((await draw(client, drawn, { amount: eur(400) })).status, 201)
  t.equal((await read(client, kept.id)).status, 'active')
  world.advanceTo(end)
  for (const contract of [drawn, kept]) {
    t.match((await draw(client, contract, { amount: eur(400) })).problem, {
      status: 409,
      code: 'invalid-transition',
      currentStatus: 'expired',
      allowed: ['active', 'partially_drawn'],
    })
    t.match((await client.post(`/held-rates/${contract.id}/cancel`, {})).problem, {
      status: 409,
      code: 'not-cancellable',
      currentStatus: 'expired',
    })
  }
  secondEnds()
  t.match(await becomes(client, drawn.id, 'expired'), { drawdownCount: 1 })
  t.match(await becomes(client, kept.id, 'expired'), { drawdownCount: 0 })
  t.strictSame(await events(world, kept.id), [
    'exchange.status_changed null active',
    'exchange.status_changed active expired',
  ])
  t.strictSame(await rules(world, kept.id), [])
  await world.audit()
})

await t.test('a clock that jumps over all of it: each contract makes its next move, once', async (t) => {
  const short = await customerWith(50_000n)
  const unpaid = await forward(world, rich.client)
  const overdue = await activeForward(world, short.client, { days: 4, amount: 1_000_000 })
  const drawn = await activeForward(world, rich.client, { days: 4 })
  const held = await heldRate(rich.client)
  world.advance(6 * DAY_MS)
  secondEnds()
  await becomes(rich.client, unpaid.id, 'cancelled')
  await becomes(rich.client, drawn.id, 'completed')
  await becomes(rich.client, held.id, 'expired')
  await becomes(short.client, overdue.id, 'overdue')
  const now = world.now()
  world.advance(11 * SECOND_MS)
  t.equal((await read(short.client, overdue.id)).status, 'overdue', 'its two days begin when it is told of it')
  t.strictSame(await updates(world, unpaid.id), ['awaiting_deposit', 'cancelled'])
  t.strictSame(await updates(world, drawn.id), ['awaiting_deposit', 'active', 'completed'])
  t.strictSame(await updates(world, held.id), ['active', 'expired'])
  t.equal((await drawdowns(rich.client, drawn)).length, 1)
  world.advanceTo(at(addDays(new Date(now).toISOString().slice(0, 10), 3), '00:00') + 10 * SECOND_MS)
  secondEnds()
  await becomes(short.client, overdue.id, 'closed_out')
  t.strictSame(await updates(world, overdue.id), ['awaiting_deposit', 'active', 'overdue', 'closed_out'])
  await world.audit()
})
