/**
 * Scheduled payments at the hands of people, of time and of two nodes that look at once: made, paused, resumed,
 * changed, cancelled and run at any moment, days that pass while an occurrence is being made, recipients that are
 * blocked, balances that have no money for a while, and payments that end well and badly. Whatever happens, no schedule
 * is ever in a state that its table does not have, no occurrence is made twice or left lying, and each change is told
 * once.
 *
 *   SEED=123 npm test -- test/histories/schedules.test.ts
 */
import t from 'tap'
import type { Test } from 'tap'
import { paymentActor } from '../../actors/payments/payment.ts'
import {
  createScheduledPaymentCommands,
  type ScheduledPaymentCommands,
} from '../../actors/scheduled-payments/schedule-operations.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ScheduledPayment, ScheduledPaymentUpdate } from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import { addDays, dateIn, ManualClock } from '../../lib/base/clock.ts'
import type { PaymentMoveContext, PaymentCommand } from '../../lib/payments/payment-state.ts'
import { FAILURES_MAX, type ScheduleStatus } from '../../lib/scheduled-payments/schedule.ts'
import { ids, MONDAY } from '../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../support/ledger.ts'
import { Random } from '../support/random.ts'
import { until } from '../support/until.ts'
import { asked, faultsOf, hearers, overloaded, SEEDS, tell, type Change } from './history.ts'
import { command, credited, freshKey, openNodes, Client, type Node } from './nodes.ts'

const WORDS = 700
const ASKERS = 12
const SCHEDULES_MAX = 50
const OPENINGS = [6_000n, 1_500n]
const DAY_MS = 86_400_000
const ZONE = 'Europe/Brussels'
/** Words between one night and the next, so that no request lasts for two. */
const WORDS_A_DAY = 30

/**
 * Every change of a status that there may be. One that has nothing left to come is completed, also when it is changed
 * or resumed.
 */
const LEGAL = new Set([
  '→active',
  'active→paused',
  'paused→active',
  'active→completed',
  'paused→completed',
  'active→cancelled',
  'paused→cancelled',
  'active→failed',
])
const LEGAL_OF_PAYMENTS = new Set([
  '→processing',
  '→scheduled',
  'scheduled→processing',
  'scheduled→failed',
  'scheduled→cancelled',
  'processing→processing',
  'processing→cancelled',
  'processing→completed',
  'processing→failed',
  'processing→returned',
  'completed→returned',
])

const ALL_MOVES = ['pause', 'resume', 'run', 'change', 'cancel'] as const
/** The requests for each status, the likely ones more often. */
const MOVES: Readonly<Record<ScheduleStatus, readonly (typeof ALL_MOVES)[number][]>> = {
  active: ['run', 'run', 'run', 'run', 'run', 'change', 'change', 'change', 'pause', 'pause', 'cancel'],
  paused: ['resume', 'resume', 'resume', 'resume', 'resume', 'resume', 'resume', 'resume', 'change', 'cancel'],
  completed: [],
  cancelled: [],
  failed: [],
}

type Commands = ScheduledPaymentCommands
type Hearer = Node & { readonly commands: Commands }

class Schedules extends Client<Hearer> {
  readonly #context: PaymentMoveContext
  #made = 0
  #isBlocked = false
  #wordsToday = 0

  constructor(
    ledger: Ledger,
    clock: ManualClock,
    random: Random,
    nodes: readonly Hearer[],
    accounts: PaymentMoveContext['accounts'],
  ) {
    super(ledger, clock, random, nodes)
    this.#context = { accounts, ids, valueDate: '2026-05-04' }
  }

  async next(): Promise<void> {
    this.#wordsToday += 1
    const chance = (share: number): boolean => this.random.chance(share)
    if (this.#wordsToday > WORDS_A_DAY && chance(0.2)) this.#sleep()
    else if (this.#made < 6 || (this.#made < SCHEDULES_MAX && chance(0.06))) await this.#make()
    else if (chance(0.25)) this.#look()
    else if (chance(0.35)) await this.#sayOfPayment()
    else if (chance(0.04)) await this.#block()
    else if (chance(0.06)) await this.#payIn()
    else await this.#ask()
  }

  /** The night passes: whatever is under way at this moment is found a day later. */
  #sleep(): void {
    this.clock.advance(DAY_MS - this.random.int(0, 3_600_000))
    this.#wordsToday = 0
  }

  #look(): void {
    for (const node of hearers(this.random, this.nodes)) {
      node.schedules.nudge()
      node.due.nudge()
    }
  }

  async #make(): Promise<void> {
    const random = this.random
    const { balances, recipient, customerId } = this.ledger
    const frequency = random.pick(['once', 'daily', 'daily', 'weekly', 'fortnightly', 'monthly'] as const)
    const startDate = addDays(dateIn(this.clock.now(), ZONE), random.int(0, 3))
    const ends =
      frequency === 'once'
        ? {}
        : random.pick([{}, { maxOccurrences: random.int(1, 6) }, { endDate: addDays(startDate, random.int(0, 30)) }])
    const body = {
      recipientId: recipient.id,
      sourceBalanceId: random.pick(balances),
      amount: { amountMinor: String(random.int(1, 900)), currency: 'EUR' as const },
      reference: 'Rent',
      frequency,
      startDate,
      ...ends,
    }
    const sent = command(this.by, '/v1/scheduled-payments', body, this.clock)
    // Under one key, whoever hears it.
    const answers = await Promise.all(
      hearers(random, this.nodes).map(({ commands }) =>
        asked(this.tally, 'make', ['validation-error', 'recipient-not-approved', 'idempotency-key-in-use'], () =>
          commands.create(this.by, sent),
        ),
      ),
    )
    const made = answers
      .filter((answer) => answer !== null)
      .map((answer) => (JSON.parse(answer!.body) as ScheduledPayment).id)
    if (new Set(made).size > 1) throw new Error(`One key has made ${made.join(' and ')} for ${customerId}.`)
    const isMade = made.length > 0 ? 1 : 0
    this.#made += isMade
    this.tally.add('made', isMade)
  }

  /** Sends a request about a schedule; the same request to both nodes at once counts as two. */
  async #ask(): Promise<void> {
    // Mostly what can be, of schedules that go on.
    const schedules = await this.ledger.read<[string, ScheduleStatus]>(
      'select id, status from scheduled_payment order by id',
    )
    const open = schedules.filter(([, status]) => MOVES[status].length > 0)
    const [id, status] = this.random.pick(open.length > 0 && this.random.chance(0.85) ? open : schedules)
    const move = this.random.pick(MOVES[status].length > 0 && this.random.chance(0.85) ? MOVES[status] : ALL_MOVES)
    const { tally } = this
    const late = ['invalid-transition'] as const
    const change = this.#change()
    const words: Readonly<Record<typeof move, (commands: Commands) => Promise<unknown>>> = {
      pause: (commands) => asked(tally, 'paused', late, () => commands.pause(this.by, id)),
      resume: (commands) =>
        asked(tally, 'resumed', [...late, 'recipient-not-approved'], () => commands.resume(this.by, id)),
      run: (commands) =>
        asked(tally, 'run', ['simulation-not-possible'], () => commands.runNow(this.by, id, freshKey())),
      change: (commands) =>
        asked(tally, 'changed', [...late, 'validation-error'], () => commands.update(this.by, id, change, null)),
      cancel: (commands) => asked(tally, 'cancelled', late, () => commands.cancel(this.by, id, freshKey())),
    }
    await Promise.all(hearers(this.random, this.nodes).map(({ commands }) => words[move](commands)))
  }

  #change(): ScheduledPaymentUpdate {
    const random = this.random
    return random.pick<ScheduledPaymentUpdate>([
      { amount: { amountMinor: String(random.int(1, 900)), currency: 'EUR' } },
      { amount: { amountMinor: '999999', currency: 'EUR' } },
      { reference: `Rent ${random.int(1, 9)}` },
      { maxOccurrences: random.int(1, 12), endDate: null },
      { endDate: addDays(dateIn(this.clock.now(), ZONE), random.int(0, 40)), maxOccurrences: null },
    ])
  }

  /** The bank, time or the customer says something of a payment that a schedule has made. */
  async #sayOfPayment(): Promise<void> {
    const rows = await this.ledger.read<[string, number, string]>(
      `select id, amount::int, status from payment where status in ('processing', 'scheduled') or (status = 'completed' and $1) order by id`,
      [this.random.chance(0.2)],
    )
    if (rows.length === 0) return
    const [id, amount] = this.random.pick(rows)
    const context = this.#context
    const event = () => ({ id: ids.next(), type: 'settled' as const })
    const words: readonly (() => PaymentCommand)[] = [
      () => ({ kind: 'hand_over', context }),
      () => ({ kind: 'hand_over', context }),
      () => ({ kind: 'settled', context, schemeCode: null, event: event() }),
      () => ({ kind: 'settled', context, schemeCode: null, event: event() }),
      () => ({ kind: 'rejected', context, schemeCode: 'AC04', event: event() }),
      () => ({ kind: 'rejected', context, schemeCode: 'AC04', event: event() }),
      () => ({ kind: 'returned', context, amount: BigInt(amount), schemeCode: 'AC04', event: event() }),
      () => ({
        kind: 'withdraw',
        from: 'processing',
        withdrawal: {
          status: 'cancelled',
          reason: { code: 'cancelled_by_user', message: 'The payment was cancelled.' },
          by: 'member',
        },
        context,
      }),
    ]
    const word = this.random.pick(words)
    for (const outcome of await Promise.all(
      hearers(this.random, this.nodes).map(({ system }) =>
        system.ask(paymentActor, id, this.ledger.shard, { ...word(), seed: ids.next() }).catch(overloaded),
      ),
    )) {
      if (outcome === null) continue
      if (outcome.kind !== 'decided') throw new Error(`a word met ${outcome.kind}`)
      this.tally.add(`payment ${outcome.reply.kind}`)
    }
  }

  /** Staff stop the recipient of all schedules from being paid, or let it be paid again. */
  async #block(): Promise<void> {
    const { operatorId, recipient } = this.ledger
    const staff: Caller = { ...this.by, tenant: { id: operatorId, kind: 'operator' } }
    // Never twice in a row: while the recipient is blocked no schedule pays, and a history of refusals proves little.
    const blocked = !this.#isBlocked && this.random.chance(0.3)
    this.#isBlocked = blocked
    const { recipientCommands } = this.random.pick(this.nodes)
    await asked(this.tally, blocked ? 'blocked' : 'unblocked', ['invalid-transition'], () =>
      recipientCommands.block(staff, recipient.id, { blocked, reason: 'Fraud reported.' }),
    )
  }

  /** Money comes in. */
  async #payIn(): Promise<void> {
    const message = credited(this.ledger, {
      balanceId: this.random.pick(this.ledger.balances),
      amount: this.random.int(100, 2_000),
      remittance: null,
    })
    await Promise.all(hearers(this.random, this.nodes).map(({ incoming }) => incoming.inbox([message])))
  }

  /** Sends no more requests: work that was begun ends. */
  async settle(): Promise<void> {
    await until('nothing is left lying', async () => {
      this.clock.advance(61_000)
      for (const { schedules } of this.nodes) schedules.nudge()
      const [left] = await this.ledger.read<[number]>(
        `select (select count(*) from scheduled_occurrence where status = 'due')::int + (select count(*) from scheduled_payment where status = 'active' and next_occurrence_at <= $1)::int
          + (select count(*) from scheduled_payment_follow_up f, outbox o where o.written_in >= f.position)::int`,
        [new Date(this.clock.now())],
      )
      return left![0] === 0
    })
  }
}

async function run(t: Test, seed: number): Promise<void> {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, OPENINGS, clock)
  const { nodes, bugs } = await openNodes(t, ledger, 2)
  const { operatorId, connectionId } = ledger
  const history = new Schedules(
    ledger,
    clock,
    new Random(seed),
    nodes.map((node) => ({ ...node, commands: createScheduledPaymentCommands(node.world) })),
    await ledger.accounts.accounts({ operatorId, connectionId, currency: 'EUR' }),
  )
  await tell({ words: WORDS, askers: ASKERS, clock }, () => history.next())
  await history.settle()
  await Promise.all(nodes.map(({ schedules, due }) => Promise.all([schedules.stop(), due.stop()])))

  const { tally } = history
  t.ok(
    ['made', 'paused', 'resumed', 'run', 'changed', 'cancelled'].every((what) => tally.of(what) > 0) &&
      tally.of('payment moved') > 0,
    `much was asked, and done: ${tally}`,
  )
  t.strictSame(bugs, [], 'and nothing was a bug')
  const { read } = ledger
  const now = new Map(await read<[string, string]>('select id, status from scheduled_payment'))
  const events = await read<[...Change]>(
    `select object_id, coalesce(previous_status, ''), status from outbox where type = 'scheduled_payment.status_changed' and object = 'scheduled_payment'`,
  )
  t.strictSame(
    faultsOf(events, LEGAL, now),
    [],
    'no status was reached from where it cannot be, and each change is one event',
  )
  t.strictSame(
    faultsOf(
      await read<[...Change]>(
        `select object_id, coalesce(before::jsonb->>'status', ''), after::jsonb->>'status' from audit_event where object_type = 'scheduled_payment' and before::jsonb->>'status' is distinct from after::jsonb->>'status'`,
      ),
      LEGAL,
      now,
    ),
    [],
    'and one line of the trail',
  )
  t.equal(now.size, tally.of('made'))
  const done = new Map(
    await read<[string, number]>(
      `select action, count(*)::int from audit_event where object_type = 'scheduled_payment' and actor_type = 'key' group by 1`,
    ),
  )
  for (const what of ['paused', 'resumed', 'cancelled'])
    t.equal(done.get(`scheduled_payment.${what}`) ?? 0, tally.of(what), `what was answered with yes was ${what} once`)
  t.strictSame(
    await read(
      `select id from scheduled_payment where max_occurrences < occurrences_begun or (status = 'active') <> (next_occurrence_at is not null) or next_occurrence_at <= $1`,
      [new Date(clock.now())],
    ),
    [],
    'only an active one goes on, no further than it may',
  )
  t.strictSame(
    await read(
      `select object_id from audit_event where action = 'scheduled_payment.failed' and (after::jsonb->>'consecutiveFailures')::int < $1`,
      [FAILURES_MAX],
    ),
    [],
    'none was stopped before its time',
  )
  t.strictSame(
    await read(
      `select * from (select scheduled_payment_id, number, lag(number, 1, 0) over w as before, index - lag(index) over w as further, execution_date - lag(execution_date) over w as days
      from scheduled_occurrence window w as (partition by scheduled_payment_id order by number)) o where number <> before + 1 or further < 1 or days < 1`,
    ),
    [],
    'one occurrence after the other, no day twice',
  )
  const payments = await read<[string]>(
    `select distinct coalesce(u.previous_status, '') || '→' || u.status from status_update u join payment p on p.id = u.object_id`,
  )
  t.strictSame(
    payments.flat().filter((change) => !LEGAL_OF_PAYMENTS.has(change)),
    [],
  )
  const met = new Set(events.map(([, from, to]) => `${from}→${to}`))
  t.ok(met.size >= LEGAL.size - 3, `${[...met].join(' ')} were met`)
  await auditIsClean(t, ledger)
}

for (const seed of SEEDS) t.test(`schedules through nights and days (SEED=${seed})`, (t) => run(t, seed))
