/**
 * A bank that fails under load and comes back, beside a second one that goes on, under two nodes that share the
 * customers: what the first has refused leaves through the second; what it may have taken is looked up at the first
 * until it tells, and never sent elsewhere.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { BankPartner, OrderStatus, PaymentOrder, RecallPartner, Submission } from '../../actors/providers/bank.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { ensureRedisServer } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { createWorld, paymentBody, type Customer, type World } from '../support/world.ts'

const NODES = 2
const BOTH = [0, 1]
const WAVE = 40
/** Customers at home on each node, at least, so that many balances pay at once. */
const PAYERS_OF_NODE = 2

/** How the first bank works: well, refusing for certain, or silent; then every other order of a node is lost on its way. */
type Mood = 'well' | 'refusing' | 'silent'

/** Notes what each bank was sent by all nodes, and what became of it. */
class Banks {
  mood: Mood = 'well'
  /** The connection of the first bank. */
  first = ''
  /** What arrived at a bank, by reference: one entry for each time, with its connection. */
  readonly arrived = new Map<string, string[]>()
  /** The first bank's orders of unknown outcome, and whether it has told since that it never had them. */
  readonly unknown = new Map<string, 'asked for' | 'never had'>()
  /** What must not happen. */
  readonly wrongs: string[] = []
  /** The nodes that sent orders to the first bank, by its mood, and those that asked it about unknown outcomes. */
  readonly senders: Readonly<Record<Mood, Set<number>>> = { well: new Set(), refusing: new Set(), silent: new Set() }
  readonly askers = new Set<number>()
  /** Orders about which the first bank was asked while it was silent. */
  readonly askedInVain = new Set<string>()
  refusals = 0
  lost = 0
  readonly #silenced = BOTH.map(() => 0)
  readonly #underWay = new Set<Promise<unknown>>()

  /** The banks as a node reaches them. */
  reachedBy(node: number, bank: BankPartner & RecallPartner): BankPartner & RecallPartner {
    return {
      recall: (requests) => bank.recall(requests),
      submit: (orders) => this.#submit(node, bank, orders),
      status: (references) => this.#status(node, bank, references),
    }
  }

  async #submit(
    node: number,
    bank: BankPartner,
    orders: readonly PaymentOrder[],
  ): Promise<ReadonlyMap<string, Submission>> {
    const answers = new Map<string, Submission>()
    const taken: PaymentOrder[] = []
    const quiet = new Set<string>()
    for (const order of orders) {
      const { reference, connectionId } = order
      const isFirst = connectionId === this.first
      if (this.unknown.get(reference) === 'asked for')
        this.wrongs.push(
          `${reference} was sent to ${isFirst ? 'the first' : 'the second'} while its outcome was unknown`,
        )
      if (this.unknown.has(reference) && !isFirst) this.wrongs.push(`${reference} was sent elsewhere`)
      if (isFirst) this.senders[this.mood].add(node)
      if (isFirst && this.mood === 'refusing') {
        this.refusals++
        answers.set(reference, { kind: 'refused', schemeCode: 'TECH', beforeAcceptance: true })
        continue
      }
      if (isFirst && this.mood === 'silent') {
        this.unknown.set(reference, 'asked for')
        quiet.add(reference)
        if (this.#silenced[node]!++ % 2 === 0) {
          this.lost++
          continue
        }
      }
      this.arrived.set(reference, [...(this.arrived.get(reference) ?? []), connectionId])
      taken.push(order)
    }
    const submission = bank.submit(taken)
    this.#underWay.add(submission)
    const told = await submission.finally(() => this.#underWay.delete(submission))
    for (const [reference, answer] of told) if (!quiet.has(reference)) answers.set(reference, answer)
    return answers
  }

  async #status(
    node: number,
    bank: BankPartner,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, OrderStatus>> {
    // A bank knows of an order from its arrival on; the sandbox's only when it has written it.
    await Promise.allSettled(this.#underWay)
    const told = new Map(await bank.status(references))
    for (const reference of references) {
      if (!this.unknown.has(reference)) continue
      this.askers.add(node)
      // While it is silent, it answers no questions either.
      if (this.mood === 'silent') {
        told.delete(reference)
        this.askedInVain.add(reference)
      } else if (told.get(reference)?.kind === 'unknown') this.unknown.set(reference, 'never had')
    }
    return told
  }
}

t.test(
  'nothing is sent twice by two nodes, and every unknown outcome is looked up, while a bank fails and comes back',
  async (t) => {
    const redis = await ensureRedisServer()
    await using cleanup = new AsyncDisposableStack()
    cleanup.defer(() => redis.stop())
    const banks = new Banks()
    let reached = 0
    await using world = await createWorld({
      nodes: NODES,
      redisUrl: redis.url,
      overrides: { bank: (bank) => banks.reachedBy(reached++, bank) },
    })
    const [home] = await world.query<{ id: string }>('select id from provider_connection')
    const first = home!.id
    banks.first = first
    const second = await addBank(world)
    const payers = await payersOfAllNodes(world)
    const paid: string[] = []
    const pay = async ({ client, balanceIds, recipients }: Customer, amount: number) => {
      const { id } = (await client.createPayment(paymentBody(balanceIds[0]!, recipients.EUR, amount))).body
      paid.push(id)
      return id
    }
    const wave = () =>
      Promise.all(Array.from({ length: WAVE }, (_, nth) => pay(payers[nth % payers.length]!, 1_000 + nth)))
    const handedOver = (ids: readonly string[]) =>
      until('the wave has left the queue', async () => {
        const rows = await world.query(
          `select from payment where id = any($1) and status = 'processing' and sent_at is null`,
          [ids],
        )
        return rows.length === 0
      })
    const connectionsOf = async (ids: readonly string[]) =>
      (
        await world.query<{ connection_id: string }>('select distinct connection_id from payment where id = any($1)', [
          ids,
        ])
      ).map(({ connection_id: connection }) => connection)
    // A probe, or an answer about an earlier payment, would change the health that the test has set.
    await world.query(
      'create function keep_health() returns trigger language plpgsql as $$ begin new.health := old.health; return new; end $$',
    )
    const health = async (state: 'down' | 'healthy') => {
      await world.query('drop trigger if exists kept_health on provider_connection')
      await world.query('update provider_connection set health = $2, version = version + 1 where id = $1', [
        first,
        state,
      ])
      await world.query(
        'create trigger kept_health before update of health on provider_connection for each row execute function keep_health()',
      )
      await until('both nodes were told', async () => {
        const taken = await connectionsOf(await Promise.all(payers.map((payer) => pay(payer, 777))))
        return taken.length === 1 && taken[0] === (state === 'down' ? second : first)
      })
    }

    await handedOver(await wave())
    await until('the first bank has the wave', () => banks.arrived.size >= WAVE)
    banks.mood = 'refusing'
    await handedOver(await wave())
    await until('the first bank has refused', () => banks.refusals >= WAVE)
    banks.mood = 'silent'
    await handedOver(await wave())
    await until('outcomes are unknown', () => banks.unknown.size >= WAVE)
    // The bank tells by itself what became of the others.
    await until('no answer was had about what was lost', () =>
      [...banks.unknown.keys()].every((reference) => banks.arrived.has(reference) || banks.askedInVain.has(reference)),
    )
    await health('down')
    const around = await wave()
    await handedOver(around)
    t.strictSame(
      await connectionsOf(around),
      [second],
      'while the first bank is down everything new leaves through the second',
    )
    banks.mood = 'well'
    await health('healthy')
    const back = await wave()
    await handedOver(back)
    await until(
      'every payment has ended',
      async () =>
        (await world.query(`select from payment where id = any($1) and status <> 'completed'`, [paid])).length === 0,
      { deadlineMs: 90_000 },
    )

    t.strictSame(
      banks.wrongs,
      [],
      'nothing was sent while its outcome was unknown, and nothing of unknown outcome elsewhere',
    )
    t.strictSame(await connectionsOf(back), [first], 'payments have returned to the first bank')
    for (const mood of ['well', 'refusing', 'silent'] as const)
      t.strictSame([...banks.senders[mood]].sort(), BOTH, `both nodes have sent to the first bank: ${mood}`)
    t.strictSame([...banks.askers].sort(), BOTH, 'both have asked it about unknown outcomes')
    t.ok(banks.lost >= WAVE / 2)
    t.equal(
      [...banks.unknown.values()].filter((known) => known === 'never had').length,
      banks.lost,
      'what was lost was looked up, and sent again when the bank had told that it never had it',
    )
    t.strictSame(
      [...banks.arrived].filter(([, places]) => places.length !== 1),
      [],
      'each arrived once, at one bank',
    )
    t.equal(banks.arrived.size, paid.length)
    const moved = await world.query<{ moves: number }>(
      `select count(distinct u.version)::int as moves from payment p
        join status_update u on u.object_id = p.id and u.message = 'Payment sent through another bank.'
        where p.connection_id = $1 and p.routing->>'reason' = '“Sandbox bank” has refused the payment.' group by p.id`,
      [second],
    )
    t.equal(moved.length, banks.refusals, 'each refused payment was moved')
    t.ok(
      moved.every(({ moves }) => moves === 1),
      'once, which its update log tells',
    )
    await world.audit()
  },
)

/** Creates customers until each node is the home of enough of them. */
async function payersOfAllNodes(world: World): Promise<readonly Customer[]> {
  const payers: Customer[] = []
  const isHome = ({ shards }: World['service']) =>
    payers.filter(({ id }) => shards.owns(shardOf(id))).length >= PAYERS_OF_NODE
  while (!world.services.every(isHome))
    payers.push(await world.customer({ balances: [{ currency: 'EUR', amount: 10_000_000n }] }))
  return payers
}

/** Adds a second sandbox connection, which serves euro when the first does not. */
async function addBank(world: World): Promise<string> {
  const id = randomUUID()
  await world.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, fallback_currencies, created_at)
    select $1, operator_id, provider, environment, 'fallback', 'active', 'Second bank', '{EUR}', created_at from provider_connection limit 1`,
    [id],
  )
  return id
}
