import { mock } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { balanceActor, type BalanceCommand, type BalanceReply } from '../../../actors/balances/balance.ts'
import type { ActorKind, Outcome } from '../../../actors/runtime/actor.ts'
import { Overloaded } from '../../../actors/runtime/lane.ts'
import { ActorSystem } from '../../../actors/runtime/system.ts'
import { ManualClock, systemClock, type Clock } from '../../../lib/base/clock.ts'
import { entry } from '../../../lib/ledger/entry.ts'
import { LIMITS } from '../../../lib/base/limits.ts'
import type { CreatePayment } from '../../../lib/payments/create-payment-command.ts'
import { movePayment } from '../../../lib/payments/payment-moves.ts'
import type { PaymentReply, PaymentState } from '../../../lib/payments/payment-state.ts'
import { commit } from '../../../storage/sections/commit.ts'
import { loadPayments } from '../../../storage/payments/payment-states.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { readConnectionCalendar, writeConnectionCalendar } from '../../../storage/providers/connection-calendars.ts'
import { Connection, DatabaseUnavailable, OutcomeUnknown } from '../../../storage/db/connection.ts'
import { ids, MONDAY, newKey, paymentCommand, problemRequest, transferCommand } from '../../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../../support/ledger.ts'
import { DatabaseProxy } from '../../support/proxy.ts'
import { Random } from '../../support/random.ts'
import { until } from '../../support/until.ts'

interface Node {
  readonly system: ActorSystem
  readonly bugs: string[]
  ask(balanceId: string, command: BalanceCommand, deadline?: number): Promise<Outcome<BalanceReply>>
  readonly backlog: number
}

/** An actor system that is closed, idle and without an unexpected bug when the test ends. */
function openNode(
  t: Test,
  ledger: Ledger,
  options: {
    readonly url?: string
    readonly clock?: Clock
    readonly monotonic?: () => number
    readonly lanes?: number
  } = {},
): Node {
  const bugs: string[] = []
  const system = new ActorSystem({
    databaseUrl: options.url ?? ledger.url,
    lanes: options.lanes ?? 1,
    clock: options.clock ?? systemClock,
    ...(options.monotonic === undefined ? {} : { monotonic: options.monotonic }),
    onBug: (error) => bugs.push((error as Error).message),
  })
  t.teardown(() => system.close())
  return {
    system,
    bugs,
    ask: (balanceId, command, deadline) => system.ask(balanceActor, balanceId, ledger.shard, command, deadline),
    get backlog() {
      return system.lanes.reduce((sum, lane) => sum + lane.backlog, 0)
    },
  }
}

const pay = (ledger: Ledger, amount: bigint, overrides: Partial<CreatePayment> = {}): CreatePayment =>
  paymentCommand({
    customerId: ledger.customerId,
    amount,
    recipient: ledger.recipient,
    createdBy: ledger.apiKeyId,
    ...overrides,
  })

/** The result of an ask, as text that a test can compare. */
function wordOf(outcome: Outcome<BalanceReply>): string {
  if (outcome.kind !== 'decided') return outcome.kind
  return outcome.reply.kind === 'refused'
    ? (outcome.reply.problem.errors?.[0]?.code ?? outcome.reply.problem.slug)
    : outcome.reply.kind
}
const outcomeOf = (settled: PromiseSettledResult<Outcome<BalanceReply>>): string =>
  settled.status === 'fulfilled' ? wordOf(settled.value) : (settled.reason as Error).name

/** A lock on one row, held until it is let go: a commit that wants it waits. */
const lockBalance = (t: Test, ledger: Ledger, balanceId: string) => lockRow(t, ledger, 'balance', balanceId)

async function lockRow(
  t: Test,
  ledger: Ledger,
  table: 'balance' | 'payment',
  id: string,
): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: ledger.url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin')
  await client.query(`select from ${table} where id = $1 for update`, [id])
  return async () => {
    await client.query('rollback')
  }
}

/** The lanes' backends that wait for a lock. */
async function waitingBackends(ledger: Ledger): Promise<number[] | false> {
  const rows = await ledger.read<[number]>(
    `select pid from pg_stat_activity where datname = current_database() and application_name like 'vostro lane%' and wait_event_type = 'Lock'`,
  )
  return rows.length > 0 && rows.map(([pid]) => pid)
}

/** Money that arrives while nobody looks. */
async function creditBehind(ledger: Ledger, balanceId: string, amount: bigint): Promise<void> {
  const connection = await Connection.open(ledger.url, 'test credit')
  const incoming = ids.next()
  await ledger.read(
    `insert into incoming_payment (id, customer_id, operator_id, connection_id, shard, balance_id, status, currency, amount, value_date, received_at, credited_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, 'received', 'EUR', $7, now(), now(), now(), now())`,
    [incoming, ledger.customerId, ledger.operatorId, ledger.connectionId, ledger.shard, balanceId, amount],
  )
  const result = await commit(
    connection,
    [
      {
        fence: null,
        commands: [
          {
            effects: {
              postings: entry({
                rule: 'L01',
                amounts: { A: amount },
                currency: 'EUR',
                accounts: await ledger.accounts.accounts({ ...ledger, currency: 'EUR' }),
                balances: { from: balanceId, to: { id: balanceId, fence: 'open' } },
                entryId: ids.next(),
                customerId: ledger.customerId,
                source: { object: 'incoming_payment', id: incoming },
                description: 'In',
                bookedAt: MONDAY,
                valueDate: '2026-05-04',
              }),
              events: [
                {
                  id: ids.next(),
                  createdAt: MONDAY,
                  customerId: ledger.customerId,
                  operatorId: ledger.operatorId,
                  shard: ledger.shard,
                  type: 'incoming_payment.received',
                  object: 'incoming_payment',
                  objectId: incoming,
                  status: 'received',
                  previousStatus: null,
                  amount,
                  currency: 'EUR',
                },
              ],
              credits: [{ balanceId, currency: 'EUR' }],
            },
          },
        ],
      },
    ],
    MONDAY,
  )
  await connection.close()
  if (!result.ok) throw new Error('the credit was refused')
}

t.test('a command that throws while it is decided fails alone', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger)
  const poisoned = pay(ledger, 1_000n, {
    problemRequest: {
      ...problemRequest,
      get instance(): string {
        throw new Error('poison')
      },
    },
  })
  const settled = await Promise.allSettled(
    [pay(ledger, 10n), poisoned, pay(ledger, 20n), poisoned, pay(ledger, 30n)].map((command) =>
      node.ask(ledger.balances[0]!, command),
    ),
  )
  t.strictSame(settled.map(outcomeOf), ['payment_created', 'Error', 'payment_created', 'Error', 'payment_created'])
  t.strictSame(node.bugs, ['poison', 'poison'])
  t.match(await ledger.funds(ledger.balances[0]!), { posted: 100n, held: 60n })
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test('the commands after a shared commit gather for the next one', async (t) => {
  const ledger = await openLedger(t, [1_000n])
  const node = openNode(t, ledger, { monotonic: () => 0 })
  const [balance] = ledger.balances as [string]
  const { counters } = node.system.lanes[0]!
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  await Promise.all([1n, 2n, 3n].map((amount) => node.ask(balance, pay(ledger, amount))))
  t.equal(counters.commits, 1)
  const first = node.ask(balance, pay(ledger, 4n))
  await immediate()
  await immediate()
  const second = node.ask(balance, pay(ledger, 5n))
  await immediate()
  t.equal(counters.commits, 1, 'both wait')
  mock.timers.tick(6)
  t.strictSame((await Promise.all([first, second])).map(wordOf), ['payment_created', 'payment_created'])
  t.equal(counters.commits, 2)
  mock.timers.reset()
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test('a no from memory is decided again on what Postgres holds', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger)
  const [a] = ledger.balances as [string]
  t.equal(wordOf(await node.ask(a, pay(ledger, 100n))), 'payment_created')
  await creditBehind(ledger, a, 50n)
  t.equal(wordOf(await node.ask(a, pay(ledger, 50n))), 'payment_created', 'money that came behind its back')
  t.equal(wordOf(await node.ask(a, pay(ledger, 1n))), 'insufficient-funds', 'and a no that stays one')
  await creditBehind(ledger, a, 5n)
  t.strictSame(
    (await Promise.all([3n, 9n, 2n].map((amount) => node.ask(a, pay(ledger, amount))))).map(wordOf),
    ['payment_created', 'insufficient-funds', 'payment_created'],
    'one no decides its whole turn again',
  )
  await ledger.read(`update balance set status = 'frozen', version = version + 1 where id = $1`, [a])
  t.equal(wordOf(await node.ask(a, pay(ledger, 1n))), 'inactive')
  await ledger.read(`update balance set status = 'active' where id = $1`, [a])
  await creditBehind(ledger, a, 1n)
  t.equal(wordOf(await node.ask(a, pay(ledger, 1n))), 'payment_created', 'frozen is not remembered as a reason either')
  t.equal(node.backlog, 0)
  t.strictSame(node.bugs, [])
  await auditIsClean(t, ledger)
})

t.test('settings that were changed beside a credit are read before the next decision', async (t) => {
  const ledger = await openLedger(t, [1_000n, 1_000n])
  const [a, b] = ledger.balances as [string, string]
  const node = openNode(t, ledger)
  t.equal(wordOf(await node.ask(b, pay(ledger, 1n))), 'payment_created', 'the balance is in memory')
  await inTransaction(ledger.database, async (client) => {
    const calendar = (await readConnectionCalendar(client, ledger.operatorId, ledger.connectionId, true))!
    await writeConnectionCalendar(client, ledger.operatorId, {
      ...calendar,
      kept: true,
      by: ids.next(),
      now: systemClock.now(),
    })
  })
  const transfer = transferCommand({
    customerId: ledger.customerId,
    amount: 1n,
    toBalanceId: b,
    toConnectionId: ledger.connectionId,
    createdBy: ledger.apiKeyId,
  })
  t.equal(wordOf(await node.ask(a, transfer)), 'transfer_created', 'the balance is credited')
  t.equal(wordOf(await node.ask(b, pay(ledger, 1n))), 'payment_created')
  t.match(node.system.recall(balanceActor, b)?.calendar, { realCalendar: true })
  t.strictSame(node.bugs, [])
  await auditIsClean(t, ledger)
})

t.test('that there is no such balance is not remembered', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger)
  const later = ids.next()
  t.equal(wordOf(await node.ask(later, pay(ledger, 1n))), 'not_found')
  await ledger.read(
    `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, status, is_default, created_at, updated_at)
    select $1, customer_id, operator_id, connection_id, shard, currency, name, type, status, false, created_at, updated_at from balance where id = $2`,
    [later, ledger.balances[0]],
  )
  t.equal(wordOf(await node.ask(later, pay(ledger, 1n))), 'insufficient-funds')
  t.equal(node.backlog, 0)
})

t.test('a full mailbox refuses instead of growing, and what it took is answered', async (t) => {
  const ledger = await openLedger(t, [5_000n])
  const node = openNode(t, ledger)
  const asked = Array.from({ length: LIMITS.mailboxMax + 5 }, () => node.ask(ledger.balances[0]!, pay(ledger, 1n)))
  t.equal(node.backlog, LIMITS.mailboxMax)
  const settled = await Promise.allSettled(asked)
  t.strictSame(
    settled.slice(LIMITS.mailboxMax).map(outcomeOf),
    Array.from({ length: 5 }, () => 'Overloaded'),
  )
  t.ok(settled.slice(0, LIMITS.mailboxMax).every((each) => outcomeOf(each) === 'payment_created'))
  t.equal(
    (await ledger.funds(ledger.balances[0]!)).held,
    BigInt(LIMITS.mailboxMax),
    'nothing of the refused was queued',
  )
  t.equal(node.backlog, 0)
  t.equal(
    wordOf(await node.ask(ledger.balances[0]!, pay(ledger, 1n))),
    'payment_created',
    'afterwards there is room again',
  )
  await auditIsClean(t, ledger)
})

t.test('a full lane refuses whatever mailbox there is room in', async (t) => {
  const ledger = await openLedger(t, [10n])
  const node = openNode(t, ledger)
  const asked: Promise<unknown>[] = []
  while (node.backlog < LIMITS.laneBacklogMax) {
    const nobody = ids.next()
    for (let i = 0; i < 512; i++) asked.push(node.ask(nobody, pay(ledger, 1n)))
  }
  await t.rejects(node.ask(ledger.balances[0]!, pay(ledger, 1n)), Overloaded)
  await Promise.all(asked)
  t.equal(node.backlog, 0)
  t.equal(wordOf(await node.ask(ledger.balances[0]!, pay(ledger, 1n))), 'payment_created')
})

t.test('of commands that change one row, the second learns of it only when the first is written', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger)
  const command = pay(ledger, 10n)
  await node.ask(ledger.balances[0]!, command)
  const accounts = await ledger.accounts.accounts({ ...ledger, currency: 'EUR' })
  const connection = await Connection.open(ledger.url, 'test')
  t.teardown(() => connection.close())
  const load = async () => (await loadPayments(connection, [command.paymentId], false)).get(command.paymentId)!
  const readFirst = await load()
  // As with the moves of a contract: what was read travels with the command, and balances decide.
  const mover: ActorKind<PaymentState, PaymentState, PaymentReply> = {
    name: 'payment',
    lockRank: 1,
    onStale: 'reload',
    fence: () => null,
    load: async (_, asked) => new Map(asked.map((id) => [id, readFirst])),
    decide: (_, read, now) =>
      movePayment(read, { kind: 'hand_over', context: { accounts, ids, valueDate: '2026-05-04' } }, now),
  }
  const release = await lockRow(t, ledger, 'payment', command.paymentId)
  const asks = ['a', 'b', 'c'].map((id) => node.system.ask(mover, id, ledger.shard, readFirst))
  await until('the commit waits', () => waitingBackends(ledger))
  t.equal(node.backlog, 3, 'none has been told to read the payment as it still is')
  await release()
  t.strictSame(
    (await Promise.all(asks)).map(({ kind }) => kind),
    ['decided', 'payment_stale', 'payment_stale'],
  )
  t.equal((await load()).version, readFirst.version + 1)
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test('an ask that waited too long is dropped undecided', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [100n], clock)
  const node = openNode(t, ledger, { clock })
  const [a] = ledger.balances as [string]
  await node.ask(a, pay(ledger, 1n))
  const release = await lockBalance(t, ledger, a)
  const underWay = node.ask(a, pay(ledger, 2n))
  await until('the commit waits', () => waitingBackends(ledger))
  const late = [node.ask(a, pay(ledger, 4n)), node.ask(a, pay(ledger, 8n))]
  clock.advance(LIMITS.requestDeadlineMs)
  const fresh = node.ask(a, pay(ledger, 16n))
  const settled = Promise.allSettled([underWay, ...late, fresh])
  await release()
  t.strictSame((await settled).map(outcomeOf), ['payment_created', 'Overloaded', 'Overloaded', 'payment_created'])
  t.equal((await ledger.funds(a)).held, 19n)
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test(
  'an ask whose caller has given up by the time it could be decided is refused, and its key stays free',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [100n], clock)
    const node = openNode(t, ledger, { clock })
    const [a] = ledger.balances as [string]
    const command = pay(ledger, 60n)
    await t.rejects(node.ask(a, command, clock.now()), Overloaded)
    t.equal((await ledger.funds(a)).held, 0n)
    t.equal(
      wordOf(await node.ask(a, command, clock.now() + 1)),
      'payment_created',
      'nothing was recorded, so the key can be used again',
    )
    const release = await lockBalance(t, ledger, a)
    const underWay = node.ask(a, pay(ledger, 10n))
    await until('the commit waits', () => waitingBackends(ledger))
    const impatient = node.ask(a, pay(ledger, 1n), clock.now() + 500)
    const patient = node.ask(a, pay(ledger, 2n), clock.now() + 1_500)
    const settled = Promise.allSettled([underWay, impatient, patient])
    clock.advance(1_000)
    await release()
    t.strictSame((await settled).map(outcomeOf), ['payment_created', 'Overloaded', 'payment_created'])
    t.equal((await ledger.funds(a)).held, 72n)
    t.equal(node.backlog, 0)
    await auditIsClean(t, ledger)
  },
)

t.test(
  'a backend that ends while a commit waits: the outcome is unknown, and the same key finds that it did not happen',
  async (t) => {
    const ledger = await openLedger(t, [100n, 100n])
    const node = openNode(t, ledger)
    const [a, b] = ledger.balances as [string, string]
    const release = await lockBalance(t, ledger, a)
    const command = pay(ledger, 10n)
    const neighbour = pay(ledger, 20n)
    const asked = Promise.allSettled([node.ask(a, command), node.ask(b, neighbour)])
    for (const pid of await until('the commit waits', () => waitingBackends(ledger)))
      await ledger.read('select pg_terminate_backend($1)', [pid])
    t.strictSame((await asked).map(outcomeOf), ['OutcomeUnknown', 'OutcomeUnknown'])
    t.equal(node.backlog, 0)
    await release()
    t.strictSame(
      [
        wordOf(await node.ask(a, pay(ledger, 10n, { key: command.key }))),
        wordOf(await node.ask(b, pay(ledger, 20n, { key: neighbour.key }))),
      ],
      ['payment_created', 'payment_created'],
    )
    t.equal(node.backlog, 0)
    t.strictSame(node.bugs, [])
    await auditIsClean(t, ledger)
  },
)

t.test(
  'an answer to a commit that is lost: the outcome is unknown, and the same key finds that it did happen',
  async (t) => {
    const ledger = await openLedger(t, [100n])
    const proxy = await DatabaseProxy.open(ledger.url)
    t.teardown(() => proxy.close())
    const node = openNode(t, ledger, { url: proxy.url })
    const [a] = ledger.balances as [string]
    await node.ask(a, pay(ledger, 1n))
    proxy.cutNextAnswer()
    const command = pay(ledger, 10n)
    await t.rejects(node.ask(a, command), OutcomeUnknown)
    t.equal(node.backlog, 0)
    await until(
      'the commit has happened',
      async () => (await ledger.read('select from payment where id = $1', [command.paymentId])).length === 1,
    )
    const again = await node.ask(a, pay(ledger, 10n, { key: command.key }))
    t.match(again, { kind: 'recorded', outcome: { status: 201, resourceId: command.paymentId } })
    t.equal((await ledger.funds(a)).held, 11n)
    await auditIsClean(t, ledger)
  },
)

t.test('a connection lost before anything was sent is no unknown outcome', async (t) => {
  const ledger = await openLedger(t, [100n])
  const proxy = await DatabaseProxy.open(ledger.url)
  t.teardown(() => proxy.close())
  const node = openNode(t, ledger, { url: proxy.url })
  const [a] = ledger.balances as [string]
  const command = pay(ledger, 1n)
  proxy.cut()
  await t.rejects(node.ask(a, command), DatabaseUnavailable, 'no connection at all')
  proxy.mend()
  t.equal(wordOf(await node.ask(a, command)), 'payment_created')
  node.system.forget('balance', a)
  proxy.cutNextAnswer()
  await t.rejects(node.ask(a, pay(ledger, 2n)), DatabaseUnavailable, 'lost while it was loaded')
  t.equal(wordOf(await node.ask(a, pay(ledger, 2n))), 'payment_created')
  for (const pid of await ledger.read<[number]>(
    `select pid from pg_stat_activity where datname = current_database() and application_name like 'vostro lane%'`,
  )) {
    await ledger.read('select pg_terminate_backend($1)', pid)
  }
  // The node learns of it when the socket says so; until then a commit would be sent, and its outcome be unknown.
  await until(
    'it works again',
    async () =>
      await node.ask(a, pay(ledger, 4n)).then(
        (outcome) => wordOf(outcome) === 'payment_created',
        (error: unknown) => {
          if (error instanceof OutcomeUnknown || error instanceof DatabaseUnavailable) return false
          throw error
        },
      ),
  )
  t.equal((await ledger.funds(a)).held, 7n)
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test('what was remembered of a server that has lost its last commits is forgotten with the connection', async (t) => {
  const ledger = await openLedger(t, [100n, 100n])
  const node = openNode(t, ledger)
  const [a, b] = ledger.balances as [string, string]
  t.equal(wordOf(await node.ask(a, pay(ledger, 10n))), 'payment_created')
  t.equal(wordOf(await node.ask(b, pay(ledger, 10n))), 'payment_created')
  // The server that took over has given the same version to something else, which took more.
  await ledger.read('update balance set held = 90 where id = $1', [a])
  for (const pid of await ledger.read<[number]>(
    `select pid from pg_stat_activity where datname = current_database() and application_name like 'vostro lane%'`,
  )) {
    await ledger.read('select pg_terminate_backend($1)', pid)
  }
  await until(
    'another balance of the lane is served again',
    async () =>
      await node.ask(b, pay(ledger, 1n)).then(
        (outcome) => wordOf(outcome) === 'payment_created',
        (error: unknown) => {
          if (error instanceof OutcomeUnknown || error instanceof DatabaseUnavailable) return false
          throw error
        },
      ),
  )
  t.equal(wordOf(await node.ask(a, pay(ledger, 50n))), 'insufficient-funds')
  t.equal((await ledger.funds(a)).held, 90n)
})

t.test('a server that says that the connection broke is unavailable, not a bug', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger)
  const load = mock.method(balanceActor, 'load', async () => {
    throw Object.assign(new Error('connection failure'), { code: '08006' })
  })
  t.teardown(() => load.mock.restore())
  await t.rejects(node.ask(ledger.balances[0]!, pay(ledger, 1n)), DatabaseUnavailable)
  t.strictSame(node.bugs, [])
})

t.test('a database that is not there answers quickly, and nothing is left waiting', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger, { url: 'postgres://nobody@127.0.0.1:1/nothing' })
  const settled = await Promise.allSettled(
    Array.from({ length: 300 }, () => node.ask(ledger.balances[0]!, pay(ledger, 1n))),
  )
  t.ok(settled.every((each) => outcomeOf(each) === 'DatabaseUnavailable'))
  t.equal(node.backlog, 0)
})

t.test('of many commands in one commit only the one that collides fails', async (t) => {
  const ledger = await openLedger(t, [1_000n, 1_000n])
  const node = openNode(t, ledger)
  const [a, b] = ledger.balances as [string, string]
  const first = pay(ledger, 1n)
  await node.ask(a, first)
  for (const place of [0, 25, 49]) {
    const culprit = pay(ledger, 1n, { number: first.number })
    const asked = Array.from({ length: 50 }, (_, nth) => node.ask(a, nth === place ? culprit : pay(ledger, 1n)))
    const others = Array.from({ length: 20 }, () => node.ask(b, pay(ledger, 1n)))
    const words = (await Promise.allSettled([...asked, ...others])).map(outcomeOf)
    t.equal(
      words.filter((word) => word === 'payment_created').length,
      69,
      `with the culprit in place ${place} its neighbours go through`,
    )
    t.equal(words[place], 'error', 'and it is told that it is wrong, not to try again')
  }
  t.equal(node.bugs.length, 3, 'which is reported as the bug it is')
  t.equal(node.backlog, 0)
  t.match([(await ledger.funds(a)).held, (await ledger.funds(b)).held], [148n, 60n])
  t.equal(wordOf(await node.ask(a, pay(ledger, 1n))), 'payment_created')
  await auditIsClean(t, ledger)
})

t.test('text that Postgres cannot keep fails alone', async (t) => {
  const ledger = await openLedger(t, [1_000n])
  const node = openNode(t, ledger)
  const words = (
    await Promise.allSettled(
      Array.from({ length: 30 }, (_, nth) =>
        node.ask(ledger.balances[0]!, pay(ledger, 1n, nth === 7 ? { externalId: 'a\u0000b' } : {})),
      ),
    )
  ).map(outcomeOf)
  t.strictSame(
    words,
    Array.from({ length: 30 }, (_, nth) => (nth === 7 ? 'error' : 'payment_created')),
  )
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test('twins under one key that arrive together are one command', async (t) => {
  const ledger = await openLedger(t, [1_000n, 0n])
  const node = openNode(t, ledger)
  const [a, b] = ledger.balances as [string, string]
  const keys = Array.from({ length: 20 }, newKey)
  const asked = [...keys, ...keys, ...keys].map((key, nth) =>
    node.ask(
      a,
      nth % 2 === 0
        ? pay(ledger, 1n, { key })
        : transferCommand({
            customerId: ledger.customerId,
            amount: 1n,
            toBalanceId: b,
            toConnectionId: ledger.connectionId,
            key,
          }),
    ),
  )
  const words = (await Promise.allSettled(asked)).map(outcomeOf)
  t.equal(words.filter((word) => word === 'payment_created' || word === 'transfer_created').length, 20)
  t.equal(words.filter((word) => word === 'recorded').length, 40)
  const { posted, held } = await ledger.funds(a)
  t.equal(1_000n - posted + held, 20n)
  t.equal(node.backlog, 0)
  t.strictSame(node.bugs, [])
  await auditIsClean(t, ledger)
})

t.test('twins with one external id that arrive together: the second is told whose it is', async (t) => {
  const ledger = await openLedger(t, [1_000n])
  const node = openNode(t, ledger)
  const commands = Array.from({ length: 4 }, () => pay(ledger, 1n, { externalId: 'order-1' }))
  const outcomes = await Promise.all(commands.map((command) => node.ask(ledger.balances[0]!, command)))
  t.strictSame(outcomes.map(wordOf), ['payment_created', 'external_id_used', 'external_id_used', 'external_id_used'])
  t.match(outcomes[3], { existingId: commands[0]!.paymentId })
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test(
  'two nodes without leases on one balance: every caller is answered, exactly what is there is spent',
  async (t) => {
    const ledger = await openLedger(t, [1_000n])
    const nodes = [openNode(t, ledger), openNode(t, ledger)]
    const words: string[] = []
    await Promise.all(
      nodes.map(async (node) => {
        let left = 1_500
        await Promise.all(
          Array.from({ length: 300 }, async () => {
            while (left > 0) {
              left -= 1
              words.push(...(await Promise.allSettled([node.ask(ledger.balances[0]!, pay(ledger, 1n))])).map(outcomeOf))
            }
          }),
        )
      }),
    )
    t.equal(words.filter((word) => word === 'payment_created').length, 1_000)
    t.equal(words.filter((word) => word === 'insufficient-funds').length, 2_000)
    t.match(await ledger.funds(ledger.balances[0]!), { posted: 1_000n, held: 1_000n, available: 0n })
    t.strictSame(
      nodes.map(({ backlog }) => backlog),
      [0, 0],
    )
    await auditIsClean(t, ledger)
  },
)

t.test(
  'two nodes that send money to and fro between the same balances never wait for a deadlock to be noticed',
  async (t) => {
    const ledger = await openLedger(t, [50n, 50n, 50n])
    const nodes = [openNode(t, ledger), openNode(t, ledger)]
    const words = new Map<string, number>()
    const random = new Random(5)
    const before = await ledger.read<[string]>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 30 }, async () => {
          for (let round = 0; round < 20; round++) {
            const [from, to] = random.chance(0.5)
              ? [ledger.balances[0]!, ledger.balances[1]!]
              : [random.pick(ledger.balances.slice(1)), ledger.balances[0]!]
            const [settled] = await Promise.allSettled([
              node.ask(
                from,
                transferCommand({
                  customerId: ledger.customerId,
                  amount: BigInt(random.int(1, 20)),
                  toBalanceId: to,
                  toConnectionId: ledger.connectionId,
                }),
              ),
            ])
            const word = outcomeOf(settled!)
            words.set(word, (words.get(word) ?? 0) + 1)
          }
        }),
      ),
    )
    t.strictSame([...words.keys()].sort(), ['insufficient-funds', 'transfer_created'])
    await ledger.read('select pg_stat_force_next_flush()')
    t.strictSame(await ledger.read('select deadlocks from pg_stat_database where datname = current_database()'), before)
    t.equal(
      (await Promise.all(ledger.balances.map((id) => ledger.funds(id)))).reduce((sum, { posted }) => sum + posted, 0n),
      150n,
    )
    t.strictSame(
      nodes.map(({ backlog }) => backlog),
      [0, 0],
    )
    await auditIsClean(t, ledger)
  },
)

t.test('an actor that nobody asks is forgotten, and comes back as Postgres has it', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [100n], clock)
  const node = openNode(t, ledger, { clock })
  const [a] = ledger.balances as [string]
  await node.ask(a, pay(ledger, 10n))
  t.equal(node.system.size.balance, 1)
  clock.advance(LIMITS.activationIdleMs / 2)
  mock.timers.tick(LIMITS.activationIdleMs / 2)
  t.equal(node.system.size.balance, 1, 'not before its time')
  clock.advance(LIMITS.activationIdleMs)
  mock.timers.tick(LIMITS.activationIdleMs)
  t.equal(node.system.size.balance, 0)
  // Written without a new version, so only a reload can see it.
  await ledger.read(`update balance set name = 'Renamed' where id = $1`, [a])
  const outcome = await node.ask(a, pay(ledger, 90n))
  t.match(outcome, {
    kind: 'decided',
    reply: { kind: 'payment_created', payment: { details: { sourceBalanceName: 'Renamed' } } },
  })
  t.equal((await ledger.funds(a)).available, 0n)
  await auditIsClean(t, ledger)
})

t.test('an actor that is at work is not forgotten', async (t) => {
  const ledger = await openLedger(t, [100n])
  const node = openNode(t, ledger)
  const [a] = ledger.balances as [string]
  const release = await lockBalance(t, ledger, a)
  const asked = node.ask(a, pay(ledger, 1n))
  await until('the commit waits', () => waitingBackends(ledger))
  node.system.forget('balance', a)
  t.equal(node.system.size.balance, 1)
  await release()
  t.equal(wordOf(await asked), 'payment_created')
  node.system.forget('balance', a)
  t.equal(node.system.size.balance, 0)
  await auditIsClean(t, ledger)
})

t.test('closing answers what was accepted', async (t) => {
  const ledger = await openLedger(t, [1_000n])
  const node = openNode(t, ledger, { lanes: 2 })
  const asked = Array.from({ length: 400 }, () => node.ask(ledger.balances[0]!, pay(ledger, 1n)))
  await node.system.close()
  t.equal((await Promise.allSettled(asked)).filter((each) => outcomeOf(each) === 'payment_created').length, 400)
  t.equal(node.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test(
  'a command whose rows cannot be written down fails alone, and nobody is told that the outcome is unknown',
  async (t) => {
    const ledger = await openLedger(t, [100n])
    const node = openNode(t, ledger)
    const [balance] = ledger.balances as [string]
    // A decision is typed; only a bug gives a date where a time belongs.
    const broken = {
      ...pay(ledger, 1n),
      executionDate: {
        toString: () => {
          throw new TypeError('not a date')
        },
      } as unknown as string,
    }
    const asks = [pay(ledger, 2n), broken, pay(ledger, 3n)].map((command) => node.ask(balance, command))
    const settled = await Promise.allSettled(asks)
    t.same(settled.map(outcomeOf), ['payment_created', 'TypeError', 'payment_created'])
    t.same(node.bugs, ['not a date'])
    node.bugs.length = 0
    t.equal(node.backlog, 0)
  },
)
