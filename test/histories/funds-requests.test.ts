/**
 * Funds requests at the hands of members, payers, banks and time, on two nodes at once: money that quotes a request in
 * full, in part, too much of it, too late, twice or beside others; requests that are given more time, reminded,
 * cancelled and declined at the moment the money comes. No request is ever in a state that its table does not have, all
 * money that came for it and no other is counted, once, and each change is told once.
 *
 *   SEED=123 npm test -- test/histories/funds-requests.test.ts
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import {
  createFundsRequestCommands,
  type FundsRequestCommands,
} from '../../actors/funds-requests/funds-request-operations.ts'
import type { FundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'
import { ManualClock, timestamp } from '../../lib/base/clock.ts'
import { printedReference } from '../../lib/funds-requests/creditor-reference.ts'
import { REMINDERS_MAX } from '../../lib/funds-requests/funds-request.ts'
import { ids, MONDAY } from '../support/commands.ts'
import { auditIsClean, openLedger } from '../support/ledger.ts'
import { Random } from '../support/random.ts'
import { until } from '../support/until.ts'
import { asked, faultsOf, hearers, SEEDS, tell, type Change } from './history.ts'
import { command, credited, freshKey, openNodes, Client, type Node } from './nodes.ts'

const WORDS = 700
const ASKERS = 12
const REQUESTS_MAX = 150
const HOUR_MS = 3_600_000

/** Every change of a status that there may be; from partly to partly is another sum that came. */
const LEGAL = new Set([
  '→open',
  'open→partially_paid',
  'open→paid',
  'open→expired',
  'open→cancelled',
  'open→declined',
  'partially_paid→partially_paid',
  'partially_paid→paid',
  'partially_paid→expired',
  'partially_paid→cancelled',
])
const LATE = ['invalid-transition', 'not-cancellable'] as const

type Hearer = Node & { readonly commands: FundsRequestCommands }
type Made = Pick<FundsRequest, 'id' | 'reference' | 'balanceId'> & { readonly link: string; readonly amount: number }

class Requests extends Client<Hearer> {
  readonly #made: Made[] = []
  /** Money that quotes nothing. */
  readonly #plain: { readonly id: string; readonly balanceId: string }[] = []

  async next(): Promise<void> {
    const random = this.random
    if (this.#made.length < 6 || (this.#made.length < REQUESTS_MAX && random.chance(0.12))) await this.#make()
    else if (random.chance(0.03)) this.clock.advance(random.int(1, 8) * HOUR_MS)
    else if (random.chance(0.2)) this.#look()
    else if (random.chance(0.45)) await this.#pay()
    else await this.#ask()
  }

  #look(): void {
    for (const { fundsRequests } of hearers(this.random, this.nodes)) fundsRequests.nudge()
  }

  /** Picks a recent request, or any: requests are mostly, but not only, about new ones. */
  #pick(): Made {
    return this.random.chance(0.6) ? this.random.pick(this.#made.slice(-12)) : this.random.pick(this.#made)
  }

  async #make(): Promise<void> {
    const random = this.random
    const amount = random.int(1, 1_000)
    const body = {
      balanceId: random.pick(this.ledger.balances),
      amount: { amountMinor: String(amount), currency: 'EUR' as const },
      description: 'Consulting in April',
      allowPartial: random.chance(0.5),
      payer: { name: 'Amsterdam Trading BV', ...(random.chance(0.7) ? { email: 'billing@example.com' } : {}) },
      ...(random.chance(0.5) ? { expiresAt: this.#soon() } : {}),
    }
    const sent = command(this.by, '/v1/funds-requests', body, this.clock)
    // Under one key, whoever hears it.
    const answers = await Promise.all(
      hearers(random, this.nodes).map(({ commands }) =>
        asked(this.tally, 'make', ['idempotency-key-in-use', 'validation-error'], () => commands.create(this.by, sent)),
      ),
    )
    const made = answers.filter((answer) => answer !== null).map((answer) => JSON.parse(answer!.body) as FundsRequest)
    if (new Set(made.map(({ id }) => id)).size > 1) throw new Error(`One key has made ${made.length}.`)
    const [one] = made
    if (one === undefined) return
    this.#made.push({ ...one, link: one.link!.split('/').at(-1)!, amount })
    this.tally.add('made')
  }

  #soon(): string {
    return timestamp(this.clock.now() + this.random.int(1, 48) * HOUR_MS)
  }

  /** Money comes in, as often as the bank says so; it quotes a request in one of many ways, or none. */
  async #pay(): Promise<void> {
    const random = this.random
    const request = this.#pick()
    const other = random.pick(this.#made)
    const remittance = random.pick([
      request.reference,
      request.reference,
      request.reference,
      `Part of ${printedReference(request.reference).toLowerCase()}`,
      `${other.reference} ${request.reference}`,
      `${request.reference.slice(0, -1)}0`,
      'Thanks',
      null,
      null,
    ])
    const amount = random.pick([
      request.amount,
      request.amount,
      random.int(1, request.amount),
      random.int(1, request.amount),
      request.amount + random.int(1, 100),
    ])
    const balanceId = random.chance(0.9) ? request.balanceId : random.pick(this.ledger.balances)
    const message = credited(this.ledger, { balanceId, amount, remittance })
    const taken = await Promise.all(hearers(random, this.nodes).map(({ incoming }) => incoming.inbox([message])))
    if (!taken.flat().includes(message.id)) return
    if (remittance === null) this.#plain.push({ id: message.reference, balanceId })
    this.tally.add('arrived')
    if (random.chance(0.5)) this.#look()
  }

  async #ask(): Promise<void> {
    const random = this.random
    const { tally } = this
    const { id, link, balanceId } = this.#pick()
    const by = this.by
    const from = { address: '127.0.0.1', requestId: ids.next() }
    const arrivals = this.#plain.filter((plain) => plain.balanceId === balanceId).slice(-10)
    const arrival = arrivals.length === 0 ? id : random.pick(arrivals).id
    const words: readonly ((commands: FundsRequestCommands) => Promise<unknown>)[] = [
      (commands) =>
        asked(tally, 'updated', [...LATE, 'validation-error'], () =>
          commands.update(by, id, { expiresAt: this.#soon() }, null),
        ),
      (commands) =>
        asked(tally, 'updated', LATE, () => commands.update(by, id, { description: `Consulting ${ids.next()}` }, null)),
      (commands) =>
        asked(tally, 'reminded', [...LATE, 'validation-error', 'limit-reached', 'rate-limited'], () =>
          commands.remind(by, id),
        ),
      (commands) =>
        asked(tally, 'allocated', [...LATE, 'not-found', 'validation-error'], () =>
          commands.allocate(by, arrival, { body: { fundsRequestId: id }, idempotency: null }),
        ),
      (commands) => asked(tally, 'declined', LATE, () => commands.decline(link, from)),
      (commands) =>
        asked(tally, 'cancelled', LATE, () =>
          commands.cancel(by, id, {
            idempotency: freshKey(),
            requestId: ids.next(),
            instance: `/v1/funds-requests/${id}/cancel`,
          }),
        ),
    ]
    const word = random.pick(words)
    if (word === words.at(-1) && random.chance(0.5)) return
    await Promise.all(hearers(random, this.nodes).map(({ commands }) => word(commands)))
  }

  /** Sends no more requests: money that has arrived is matched, requests past their end expire. */
  async settle(): Promise<void> {
    await until('all that has arrived is matched, and what is over has expired', async () => {
      for (const { fundsRequests } of this.nodes) fundsRequests.nudge()
      const [left] = await this.ledger.read<[number]>(
        `select (select count(*) from funds_request_matching f, outbox o where o.written_in >= f.position)::int
          + (select count(*) from funds_request where status in ('open', 'partially_paid') and expires_at <= $1)::int`,
        [new Date(this.clock.now())],
      )
      return left![0] === 0
    })
  }
}

async function run(t: Test, seed: number): Promise<void> {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [0n, 0n], clock)
  const { nodes, bugs } = await openNodes(t, ledger, 2)
  const log = {
    info: () => undefined,
    warn: (fields: object, message: string) => {
      bugs.push(`${message} ${JSON.stringify(fields)}`)
    },
    error: (_: object, message: string) => {
      bugs.push(message)
    },
  }
  const [linkKey, origin, hasFeature] = [randomBytes(32), () => 'http://127.0.0.1', async () => true]
  const history = new Requests(
    ledger,
    clock,
    new Random(seed),
    nodes.map((node) => ({
      ...node,
      commands: createFundsRequestCommands({ ...node.world, log, linkKey, origin, hasFeature }),
    })),
  )
  await tell({ words: WORDS, askers: ASKERS, clock }, () => history.next())
  await history.settle()
  await Promise.all(nodes.map(({ fundsRequests }) => fundsRequests.stop()))

  const { tally } = history
  t.ok(
    ['made', 'arrived', 'updated', 'reminded', 'allocated', 'declined', 'cancelled'].every(
      (what) => tally.of(what) > 0,
    ),
    `much was asked, and done: ${tally}`,
  )
  t.strictSame(bugs, [], 'and nothing was a bug')
  const { read } = ledger
  const now = new Map(await read<[string, string]>('select id, status from funds_request'))
  t.equal(now.size, tally.of('made'))
  const events = await read<[...Change]>(
    `select object_id, previous_status, status from outbox where type = 'funds_request.status_changed'`,
  )
  const made = [...now.keys()].map((id): Change => [id, '', 'open'])
  t.strictSame(faultsOf([...made, ...events], LEGAL, now), [], 'no status was reached from where it cannot be')
  const [counted] = await read<[number, number]>(
    `select (select count(*) from funds_request_payment)::int, (select count(*) from funds_request where status in ('expired', 'cancelled', 'declined'))::int`,
  )
  t.equal(events.length, counted![0] + counted![1], 'each sum that was counted is one event, and each end that is none')
  const done = new Map(
    await read<[string, number]>(
      `select action, count(*)::int from audit_event where object_type = 'funds_request' group by 1`,
    ),
  )
  for (const what of ['allocated', 'declined', 'cancelled', 'reminded'])
    t.equal(done.get(`funds_request.${what}`) ?? 0, tally.of(what), `what was answered with yes was ${what} once`)
  t.strictSame(
    await read(
      `select r.id, r.version from funds_request r where r.version <> 1 + (select count(*) from funds_request_payment p where p.funds_request_id = r.id)
      + (select count(*) from audit_event a where a.object_id = r.id and a.action not in ('funds_request.created', 'funds_request.allocated'))`,
    ),
    [],
    'each version has its reason',
  )
  t.strictSame(
    await read(
      `select id from funds_request r where reminders_sent > $1 or reminders_sent <> (select count(*) from audit_event a where a.object_id = r.id and a.action = 'funds_request.reminded')`,
      [REMINDERS_MAX],
    ),
    [],
  )
  t.strictSame(
    await read(
      `select i.id from incoming_payment i join funds_request r on r.balance_id = i.balance_id and position(r.reference in upper(replace(i.reference, ' ', ''))) > 0
      where i.status = 'received' and i.funds_request_id is null and r.status in ('open', 'partially_paid')`,
    ),
    [],
    'no money that quotes what still waits was left out',
  )
  const met = new Set(events.map(([, from, to]) => `${from}→${to}`))
  t.ok(met.size >= LEGAL.size - 3, `${[...met].join(' ')} were met`)
  await auditIsClean(t, ledger)
}

for (const seed of SEEDS) t.test(`funds requests while the money comes (SEED=${seed})`, (t) => run(t, seed))
