/**
 * A bank that fails under load and comes back, beside a second one that goes on: what the first has refused leaves
 * through the second; what it may have taken is looked up at the first until it tells, and never sent elsewhere.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { BankPartner, PaymentOrder, Submission } from '../../actors/providers/bank.ts'
import { until } from '../support/until.ts'
import { createWorld, paymentBody, type World } from '../support/world.ts'

const WAVE = 40
/** Waves of customers beside the first, so that many balances pay at once. */
const PAYERS = 4

/** How the first bank works: well, refusing for certain, or not answering; then every other order is lost on its way. */
type Mood = 'well' | 'refusing' | 'silent'

/** Notes what each bank was sent, and what became of it. */
class Banks implements BankPartner {
  mood: Mood = 'well'
  /** What arrived at a bank, by reference: one entry for each time, with its connection. */
  readonly arrived = new Map<string, string[]>()
  /** The first bank's orders of unknown outcome, and whether it has told since that it never had them. */
  readonly unknown = new Map<string, 'asked for' | 'never had'>()
  /** What must not happen. */
  readonly wrongs: string[] = []
  refusals = 0
  lost = 0
  #silenced = 0
  readonly #bank: BankPartner
  readonly #first: string

  constructor(bank: BankPartner, first: string) {
    this.#bank = bank
    this.#first = first
  }

  async submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>> {
    const answers = new Map<string, Submission>()
    const taken: PaymentOrder[] = []
    const quiet = new Set<string>()
    for (const order of orders) {
      const { reference, connectionId } = order
      const isFirst = connectionId === this.#first
      if (this.unknown.get(reference) === 'asked for')
        this.wrongs.push(
          `${reference} was sent to ${isFirst ? 'the first' : 'the second'} while its outcome was unknown`,
        )
      if (this.unknown.has(reference) && !isFirst) this.wrongs.push(`${reference} was sent elsewhere`)
      if (isFirst && this.mood === 'refusing') {
        this.refusals++
        answers.set(reference, { kind: 'refused', schemeCode: 'TECH', beforeAcceptance: true })
        continue
      }
      if (isFirst && this.mood === 'silent') {
        this.unknown.set(reference, 'asked for')
        quiet.add(reference)
        if (this.#silenced++ % 2 === 0) {
          this.lost++
          continue
        }
      }
      this.arrived.set(reference, [...(this.arrived.get(reference) ?? []), connectionId])
      taken.push(order)
    }
    const told = await this.#bank.submit(taken)
    for (const [reference, answer] of told) if (!quiet.has(reference)) answers.set(reference, answer)
    return answers
  }

  async status(references: readonly string[]) {
    const told = new Map(await this.#bank.status(references))
    for (const reference of references) {
      // While it is silent, it answers no questions either.
      if (this.mood === 'silent' && this.unknown.has(reference)) told.delete(reference)
      else if (this.unknown.has(reference) && told.get(reference)?.kind === 'unknown')
        this.unknown.set(reference, 'never had')
    }
    return told
  }
}

t.test(
  'nothing is sent twice, and every unknown outcome is looked up, while a bank fails and comes back',
  async (t) => {
    let banks: Banks | undefined
    let first = ''
    await using world = await createWorld({
      // Nodes that know nothing of each other send the same orders, which is not what this is about.
      nodes: 1,
      overrides: {
        bank: (bank) => ({
          recall: (requests) => bank.recall(requests),
          submit: (orders) => (banks ??= new Banks(bank, first)).submit(orders),
          status: (references) => (banks ??= new Banks(bank, first)).status(references),
        }),
      },
    })
    const [home] = await world.query<{ id: string }>('select id from provider_connection')
    first = home!.id
    const second = await addBank(world)
    const payers = await Promise.all(
      Array.from({ length: PAYERS }, () => world.customer({ balances: [{ currency: 'EUR', amount: 10_000_000n }] })),
    )
    const paid: string[] = []
    const wave = async () => {
      const made = await Promise.all(
        Array.from({ length: WAVE }, async (_, nth) => {
          const { client, balanceIds, recipients } = payers[nth % PAYERS]!
          return (await client.createPayment(paymentBody(balanceIds[0]!, recipients.EUR, 1_000 + nth))).body.id
        }),
      )
      paid.push(...made)
      return made
    }
    const handedOver = (ids: readonly string[]) =>
      until('the wave has left the queue', async () => {
        const rows = await world.query(
          `select from payment where id = any($1) and status = 'processing' and sent_at is null`,
          [ids],
        )
        return rows.length === 0
      })
    const health = async (state: string) => {
      await world.query('update provider_connection set health = $2, version = version + 1 where id = $1', [
        first,
        state,
      ])
      await until('the node was told', async () => {
        const { client, balanceIds, recipients } = payers[0]!
        const { id } = (await client.createPayment(paymentBody(balanceIds[0]!, recipients.EUR, 777))).body
        paid.push(id)
        const [row] = await world.query<{ connection_id: string }>('select connection_id from payment where id = $1', [
          id,
        ])
        return row!.connection_id === (state === 'down' ? second : first)
      })
    }

    await handedOver(await wave())
    banks!.mood = 'refusing'
    await handedOver(await wave())
    t.ok(banks!.refusals >= WAVE, 'the first bank has refused')
    banks!.mood = 'silent'
    await handedOver(await wave())
    await until('outcomes are unknown', async () => {
      const rows = await world.query(`select from payment where status = 'exception' and connection_id = $1`, [first])
      return rows.length >= WAVE
    })
    await health('down')
    const around = await wave()
    await handedOver(around)
    const lefts = await world.query<{ connection_id: string }>(
      'select distinct connection_id from payment where id = any($1)',
      [around],
    )
    t.strictSame(
      lefts,
      [{ connection_id: second }],
      'while the first bank is down everything new leaves through the second',
    )
    banks!.mood = 'well'
    await health('healthy')
    await handedOver(await wave())
    await until(
      'every payment has ended',
      async () =>
        (await world.query(`select from payment where id = any($1) and status <> 'completed'`, [paid])).length === 0,
      { deadlineMs: 90_000 },
    )

    t.strictSame(banks!.wrongs, [])
    t.ok(banks!.lost >= WAVE / 2)
    t.equal(
      [...banks!.unknown.values()].filter((known) => known === 'never had').length,
      banks!.lost,
      'what was lost was sent again when the bank had told that it never had it',
    )
    t.strictSame(
      [...banks!.arrived].filter(([, places]) => places.length !== 1),
      [],
      'each arrived once, at one bank',
    )
    t.equal(banks!.arrived.size, paid.length)
    const moved = await world.query<{ moves: number }>(
      `select count(distinct u.version)::int as moves from payment p
        join status_update u on u.object_id = p.id and u.message = 'Payment sent through another bank.'
        where p.connection_id = $1 and p.routing->>'reason' = '“Sandbox bank” has refused the payment.' group by p.id`,
      [second],
    )
    t.equal(moved.length, banks!.refusals, 'each refused payment was moved')
    t.ok(
      moved.every(({ moves }) => moves === 1),
      'once, which its update log tells',
    )
  },
)

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
