import t from 'tap'
import type { Test } from 'tap'
import { timestamp } from '../../../lib/base/clock.ts'
import type { BalanceState } from '../../../lib/balances/balance.ts'
import type { BalanceDecision } from '../../../lib/balances/decision.ts'
import type { Effects } from '../../../lib/decisions/effects.ts'
import { entry } from '../../../lib/ledger/entry.ts'
import { createPayment } from '../../../lib/payments/create-payment.ts'
import type { CreatePayment } from '../../../lib/payments/create-payment-command.ts'
import { movePayment } from '../../../lib/payments/payment-moves.ts'
import type { PaymentCommand } from '../../../lib/payments/payment-state.ts'
import { createTransfer, type CreateTransfer } from '../../../lib/transfers/transfer.ts'
import { commitOf } from '../../../storage/commit/commit.ts'
import { commit, SECTIONS, type CommitResult } from '../../../storage/sections/commit.ts'
import type { CommitCommand, CommitConnection, CommitTurn } from '../../../storage/commit/turn.ts'
import { Connection } from '../../../storage/db/connection.ts'
import { provesRollback, sqlState } from '../../../storage/db/sqlstates.ts'
import { maintainPartitions } from '../../../storage/db/partitions.ts'
import { loadBalances } from '../../../storage/balances/balance-states.ts'
import { loadPayments } from '../../../storage/payments/payment-states.ts'
import {
  ids,
  MONDAY,
  newKey,
  paymentCommand,
  problemRequest,
  problemStatus,
  transferCommand,
} from '../../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../../support/ledger.ts'
import { until } from '../../support/until.ts'
import { Random } from '../../support/random.ts'

const DAY_MS = 86_400_000

async function connect(t: Test, ledger: Ledger): Promise<Connection> {
  const connection = await Connection.open(ledger.url, 'commit test')
  t.teardown(() => connection.close())
  return connection
}

async function balanceOf(connection: Connection, id: string): Promise<BalanceState> {
  return (await loadBalances(connection, [id], false)).get(id)!
}

const fenceOf = ({ id, version }: BalanceState) => ({ balanceId: id, version })
const only = (effects: Effects | null): CommitCommand => ({ effects: effects! })
const credits = (effects: Effects): CommitTurn => ({ fence: null, commands: [{ effects }] })

/** The commands of one balance, decided one after the other. */
function turnOf(balance: BalanceState, commands: readonly (CreatePayment | CreateTransfer)[], now: number): CommitTurn {
  let state: BalanceState | null = balance
  const decided = commands.map((command) => {
    const decision: BalanceDecision<unknown> =
      command.kind === 'create_payment' ? createPayment(state, command, now) : createTransfer(state, command, now)
    state = decision.state
    return only(decision.effects)
  })
  return { fence: fenceOf(balance), commands: decided }
}

const pay = (ledger: Ledger, amount: bigint, overrides: Partial<CreatePayment> = {}): CreatePayment =>
  paymentCommand({
    customerId: ledger.customerId,
    amount,
    recipient: ledger.recipient,
    createdBy: ledger.apiKeyId,
    ...overrides,
  })
const move = (ledger: Ledger, to: string, amount: bigint, overrides: Partial<CreateTransfer> = {}): CreateTransfer =>
  transferCommand({
    customerId: ledger.customerId,
    amount,
    toBalanceId: to,
    toConnectionId: ledger.connectionId,
    createdBy: ledger.apiKeyId,
    ...overrides,
  })

/** Every row that a commit could have written, counted. */
async function rowCounts(ledger: Ledger): Promise<unknown[]> {
  const tables = [
    'posting',
    'hold',
    'payment',
    'transfer',
    'status_update',
    'outbox',
    'idempotency',
    'provider_event',
    'partner_instruction',
  ]
  const [counts] = await ledger.read(`select ${tables.map((table) => `(select count(*) from ${table})`).join(', ')}`)
  const balances = await ledger.read('select id, version, posted, held, sequence from balance order by id')
  const hands = await ledger.read('select id, version, status from payment order by id')
  return [counts, balances, hands]
}

/** A commit that must be refused, and must not have written anything. */
async function refused(
  t: Test,
  ledger: Ledger,
  work: () => Promise<CommitResult>,
): Promise<Extract<CommitResult, { ok: false }>> {
  const before = await rowCounts(ledger)
  const result = await work()
  t.strictSame(await rowCounts(ledger), before, 'nothing was written')
  if (result.ok) throw new Error('the commit went through')
  return result
}

async function committed(t: Test, work: Promise<CommitResult>): Promise<Extract<CommitResult, { ok: true }>> {
  const result = await work
  if (!result.ok) throw new Error(`the commit was refused: ${result.conflicts.map(({ kind }) => kind).join()}`)
  t.ok(result.ok, 'the commit went through')
  return result
}

async function moveContext(ledger: Ledger) {
  return { accounts: await ledger.accounts.accounts({ ...ledger, currency: 'EUR' }), ids, valueDate: '2026-05-04' }
}

/** A payment in Postgres that waits for the bank; `sent` hands it over. */
async function payment(t: Test, ledger: Ledger, connection: Connection, balanceId: string, sent: boolean) {
  const command = pay(ledger, 10n)
  await committed(t, commit(connection, [turnOf(await balanceOf(connection, balanceId), [command], MONDAY)], MONDAY))
  const context = await moveContext(ledger)
  const load = async () => (await loadPayments(connection, [command.paymentId], false)).get(command.paymentId)!
  if (sent) {
    const handOver: CommitTurn = {
      fence: null,
      commands: [only(movePayment(await load(), { kind: 'hand_over', context }, MONDAY).effects)],
    }
    await committed(t, commit(connection, [handOver], MONDAY))
  }
  return { command, context, load }
}

t.test(
  'a turn decided on an older version of its balance writes nothing, neither do its neighbours, and it is named',
  async (t) => {
    const ledger = await openLedger(t, [100n, 100n])
    const connection = await connect(t, ledger)
    const [a, b] = await Array.fromAsync(ledger.balances, (id) => balanceOf(connection, id))
    await committed(t, commit(connection, [turnOf(a!, [pay(ledger, 1n)], MONDAY)], MONDAY))
    const late = turnOf(a!, [pay(ledger, 1n)], MONDAY)
    const sound = turnOf(b!, [pay(ledger, 1n), pay(ledger, 2n)], MONDAY)
    t.strictSame((await refused(t, ledger, () => commit(connection, [sound, late], MONDAY))).conflicts, [
      { kind: 'balance_stale', turn: 1 },
    ])
    t.strictSame((await refused(t, ledger, () => commit(connection, [late, sound], MONDAY))).conflicts, [
      { kind: 'balance_stale', turn: 0 },
    ])
    await committed(t, commit(connection, [sound], MONDAY))
    const unknown = { ...late, fence: { balanceId: ids.next(), version: 1n } }
    t.strictSame(
      (await refused(t, ledger, () => commit(connection, [unknown], MONDAY))).conflicts,
      [{ kind: 'balance_stale', turn: 0 }],
      'so is one whose balance does not exist',
    )
    await auditIsClean(t, ledger)
  },
)

t.test('credits leave the version alone, so they make nobody stale', async (t) => {
  const ledger = await openLedger(t, [100n, 100n])
  const connection = await connect(t, ledger)
  const [a, b] = await Array.fromAsync(ledger.balances, (id) => balanceOf(connection, id))
  await committed(t, commit(connection, [turnOf(a!, [move(ledger, b!.id, 40n)], MONDAY)], MONDAY))
  await committed(t, commit(connection, [turnOf(b!, [pay(ledger, 100n)], MONDAY)], MONDAY))
  t.match(await ledger.funds(b!.id), { posted: 140n, held: 100n })
  await auditIsClean(t, ledger)
})

t.test('a move decided on an older version of its payment writes nothing', async (t) => {
  const ledger = await openLedger(t, [100n])
  const connection = await connect(t, ledger)
  const { context, load } = await payment(t, ledger, connection, ledger.balances[0]!, false)
  const before = await load()
  const handOver = () => only(movePayment(before, { kind: 'hand_over', context }, MONDAY).effects)
  await committed(t, commit(connection, [{ fence: null, commands: [handOver()] }], MONDAY))
  const late = handOver()
  const { conflicts } = await refused(t, ledger, () => commit(connection, [{ fence: null, commands: [late] }], MONDAY))
  t.strictSame(
    conflicts.map(({ kind }) => kind),
    ['payment_stale'],
  )
  t.equal((conflicts[0] as { command?: CommitCommand }).command, late, 'it is the very command')
  await auditIsClean(t, ledger)
})

t.test('a debit on a hold waits while its balance is frozen; what the balance owes does not', async (t) => {
  const ledger = await openLedger(t, [100n, 100n])
  const connection = await connect(t, ledger)
  const [frozen, other] = ledger.balances as [string, string]
  const sent = await payment(t, ledger, connection, frozen, true)
  const waiting = [
    await payment(t, ledger, connection, frozen, false),
    await payment(t, ledger, connection, frozen, false),
    await payment(t, ledger, connection, other, false),
  ]
  const set = (status: string) =>
    ledger.database.pool.query('update balance set status = $1 where id = $2', [status, frozen])
  await set('frozen')
  const handOvers: CommitCommand[] = []
  for (const { context, load } of waiting)
    handOvers.push(only(movePayment(await load(), { kind: 'hand_over', context }, MONDAY).effects))
  const turns = (...commands: readonly CommitCommand[]) =>
    commands.map((command) => ({ fence: null, commands: [command] }))
  const [first, second, third] = handOvers as [CommitCommand, CommitCommand, CommitCommand]
  t.strictSame(
    (await refused(t, ledger, () => commit(connection, turns(third, first, second), MONDAY))).conflicts,
    [{ kind: 'debit_refused', command: first }],
    'the first one of the balance is named',
  )
  t.strictSame((await refused(t, ledger, () => commit(connection, turns(second, third), MONDAY))).conflicts, [
    { kind: 'debit_refused', command: second },
  ])
  await committed(t, commit(connection, turns(third), MONDAY))
  const settled = movePayment(
    await sent.load(),
    { kind: 'settled', context: sent.context, schemeCode: null, event: null },
    MONDAY,
  )
  await committed(t, commit(connection, turns(only(settled.effects)), MONDAY))
  await set('active')
  await committed(t, commit(connection, turns(first, second), MONDAY))
  await auditIsClean(t, ledger)
})

t.test('two moves of one payment in one commit: the second would be lost, so neither is written', async (t) => {
  const ledger = await openLedger(t, [100n])
  const connection = await connect(t, ledger)
  const { context, load } = await payment(t, ledger, connection, ledger.balances[0]!, false)
  const before = await load()
  const move = () => only(movePayment(before, { kind: 'hand_over', context }, MONDAY).effects)
  const second = move()
  const { conflicts } = await refused(t, ledger, () =>
    commit(
      connection,
      [
        { fence: null, commands: [move()] },
        { fence: null, commands: [second] },
      ],
      MONDAY,
    ),
  )
  t.strictSame(
    conflicts.map(({ kind }) => kind),
    ['payment_stale'],
  )
  t.equal((conflicts[0] as { command?: CommitCommand }).command, second, 'the first may stand')
  await auditIsClean(t, ledger)
})

t.test('a payment that rests on an older recipient writes nothing', async (t) => {
  const ledger = await openLedger(t, [100n])
  const connection = await connect(t, ledger)
  const balance = await balanceOf(connection, ledger.balances[0]!)
  await ledger.read('update recipient set version = version + 1 where id = $1', [ledger.recipient.id])
  const turn = turnOf(
    balance,
    [pay(ledger, 1n), pay(ledger, 1n, { recipient: { ...ledger.recipient, version: 2n } })],
    MONDAY,
  )
  const { conflicts } = await refused(t, ledger, () => commit(connection, [turn], MONDAY))
  t.strictSame(conflicts, [{ kind: 'fact_stale', command: turn.commands[0] }])
  const missing = turnOf(balance, [pay(ledger, 1n, { recipient: { ...ledger.recipient, id: ids.next() } })], MONDAY)
  t.strictSame((await refused(t, ledger, () => commit(connection, [missing], MONDAY))).conflicts, [
    { kind: 'fact_stale', command: missing.commands[0] },
  ])
  await auditIsClean(t, ledger)
})

const BEFORE_MIDNIGHT = Date.UTC(2026, 4, 4, 23, 59)
const AFTER_MIDNIGHT = Date.UTC(2026, 4, 5, 0, 10)

for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles']) {
  t.test(`a key that was used before midnight is found after it, in a session of ${zone}`, async (t) => {
    const ledger = await openLedger(t, [100n])
    await maintainPartitions(ledger.database, BEFORE_MIDNIGHT)
    const connection = await connect(t, ledger)
    await connection.run(`set timezone = '${zone}'`)
    const balance = () => balanceOf(connection, ledger.balances[0]!)
    const first = pay(ledger, 10n)
    await committed(t, commit(connection, [turnOf(await balance(), [first], BEFORE_MIDNIGHT)], BEFORE_MIDNIGHT))
    for (const now of [BEFORE_MIDNIGHT, AFTER_MIDNIGHT, BEFORE_MIDNIGHT + DAY_MS - 1]) {
      const again = turnOf(await balance(), [pay(ledger, 10n, { key: first.key })], now)
      const { conflicts } = await refused(t, ledger, () => commit(connection, [again], now))
      t.strictSame(
        conflicts,
        [
          {
            kind: 'recorded',
            command: again.commands[0],
            outcome: {
              fingerprint: first.key!.fingerprint,
              status: 201,
              resourceType: 'payment',
              resourceId: first.paymentId,
              answer: null,
              decidedAt: timestamp(BEFORE_MIDNIGHT),
            },
          },
        ],
        `repeated at ${timestamp(now)}`,
      )
    }
    const dayAfter = BEFORE_MIDNIGHT + DAY_MS
    await committed(
      t,
      commit(connection, [turnOf(await balance(), [pay(ledger, 10n, { key: first.key })], dayAfter)], dayAfter),
    )
    t.equal((await ledger.read('select from payment')).length, 2, 'a day later the key is new')
    await auditIsClean(t, ledger)
  })
}

t.test('one key at two nodes about midnight is decided once, also as a no', async (t) => {
  const [before, after] = [AFTER_MIDNIGHT - 11 * 60_000, AFTER_MIDNIGHT - 9 * 60_000]
  for (const [amount, word] of [
    [10n, 'yes'],
    [1_000n, 'no'],
  ] as const) {
    const ledger = await openLedger(t, [100n])
    await maintainPartitions(ledger.database, before)
    const [one, other] = [await connect(t, ledger), await connect(t, ledger)]
    const command = pay(ledger, amount)
    // Both have read the balance; the second one's has grown meanwhile, so that it decides otherwise.
    const [first, second] = [
      await balanceOf(one, ledger.balances[0]!),
      { ...(await balanceOf(other, ledger.balances[0]!)), available: 5_000n },
    ]
    await one.run('begin')
    await committed(t, commit(one, [turnOf(first, [command], before)], before))
    const waiting = commit(other, [turnOf(second, [pay(ledger, amount, { key: command.key })], after)], after)
    await until(
      'the second waits',
      async () =>
        (
          await ledger.read(
            `select from pg_stat_activity where application_name = 'commit test' and wait_event_type = 'Lock'`,
          )
        ).length > 0,
    )
    await one.run('commit')
    t.match(await waiting, { ok: false, conflicts: [{ kind: 'balance_stale' }] }, `after a ${word}`)
    const again = turnOf(
      await balanceOf(other, ledger.balances[0]!),
      [pay(ledger, amount, { key: command.key })],
      after,
    )
    t.match(
      await commit(other, [again], after),
      { ok: false, conflicts: [{ kind: 'recorded' }] },
      'and the key is found',
    )
    await auditIsClean(t, ledger)
  }
})

t.test('a no comes back word for word, also when its command would be a yes by now', async (t) => {
  const ledger = await openLedger(t, [100n])
  const connection = await connect(t, ledger)
  const balance = () => balanceOf(connection, ledger.balances[0]!)
  const instance = 'a "quoted" \\ back-slash, {brace}, NULL, \n line and é 汉字 🏦'
  const command = pay(ledger, 500n, { problemRequest: { ...problemRequest, instance } })
  const turn = turnOf(await balance(), [command], MONDAY)
  const text = turn.commands[0]?.effects.idempotency?.answer
  t.equal(JSON.parse(text as string).instance, instance)
  await committed(t, commit(connection, [turn], MONDAY))
  t.match(await ledger.funds(ledger.balances[0]!), { posted: 100n, held: 0n })
  const repeat = turnOf(await balance(), [pay(ledger, 5n, { key: command.key }), pay(ledger, 6n)], MONDAY)
  const { conflicts } = await refused(t, ledger, () => commit(connection, [repeat], MONDAY))
  t.match(conflicts, [
    {
      kind: 'recorded',
      command: repeat.commands[0],
      outcome: { status: problemStatus({ slug: 'insufficient-funds', detail: '' }), resourceId: null },
    },
  ])
  t.equal(conflicts.length, 1, 'only the repeat is reported')
  t.equal((conflicts[0] as { outcome?: { answer: string } }).outcome?.answer, text)
  await auditIsClean(t, ledger)
})

t.test('an external id belongs to one payment and one transfer of a customer', async (t) => {
  const ledger = await openLedger(t, [100n, 0n])
  const connection = await connect(t, ledger)
  const [a, b] = ledger.balances as [string, string]
  const balance = () => balanceOf(connection, a)
  const first = {
    payment: pay(ledger, 1n, { externalId: 'order, "1" {\\}' }),
    transfer: move(ledger, b, 1n, { externalId: 'order, "1" {\\}' }),
  }
  await committed(t, commit(connection, [turnOf(await balance(), [first.payment, first.transfer], MONDAY)], MONDAY))
  const second = turnOf(
    await balance(),
    [
      pay(ledger, 1n, { externalId: first.payment.externalId }),
      pay(ledger, 1n, { externalId: 'another' }),
      move(ledger, b, 1n, { externalId: first.transfer.externalId }),
    ],
    MONDAY,
  )
  const { conflicts } = await refused(t, ledger, () => commit(connection, [second], MONDAY))
  t.strictSame(
    conflicts.toSorted(
      (left, right) =>
        Number((left as { existingId?: string }).existingId === first.transfer.transferId) -
        Number((right as { existingId?: string }).existingId === first.transfer.transferId),
    ),
    [
      { kind: 'external_id_used', command: second.commands[0], existingId: first.payment.paymentId },
      { kind: 'external_id_used', command: second.commands[2], existingId: first.transfer.transferId },
    ],
  )
  await auditIsClean(t, ledger)
})

t.test('a credit needs a balance that is open and of its currency', async (t) => {
  const ledger = await openLedger(t, [100n, 0n, { currency: 'USD', amount: 5n }])
  const connection = await connect(t, ledger)
  const [a, b, dollars] = ledger.balances as [string, string, string]
  const attempt = async (to: string) => {
    const turn = turnOf(await balanceOf(connection, a), [move(ledger, to, 1n)], MONDAY)
    return { turn, commit: () => commit(connection, [turn], MONDAY) }
  }
  for (const status of ['closed', 'closing']) {
    await ledger.read('update balance set status = $2 where id = $1', [b, status])
    const { turn, commit } = await attempt(b)
    t.strictSame(
      (await refused(t, ledger, commit)).conflicts,
      [{ kind: 'credit_refused', command: turn.commands[0] }],
      `${status} takes no money`,
    )
  }
  for (const to of [dollars, ids.next()]) {
    const { turn, commit } = await attempt(to)
    t.strictSame(
      (await refused(t, ledger, commit)).conflicts,
      [{ kind: 'credit_refused', command: turn.commands[0] }],
      'nor does another currency, or nobody',
    )
  }
  await ledger.read(`update balance set status = 'frozen' where id = $1`, [b])
  await committed(t, (await attempt(b)).commit())
  t.match(await ledger.funds(b), { posted: 1n }, 'a frozen balance does')
  await auditIsClean(t, ledger)
})

t.test('a decision rests on the connection of the balance that it credits', async (t) => {
  const ledger = await openLedger(t, [100n, 0n])
  const connection = await connect(t, ledger)
  const [a, b] = ledger.balances as [string, string]
  const turn = turnOf(await balanceOf(connection, a), [move(ledger, b, 1n)], MONDAY)
  await ledger.read('update balance set connection_id = $2 where id = $1', [b, ids.next()])
  t.strictSame((await refused(t, ledger, () => commit(connection, [turn], MONDAY))).conflicts, [
    { kind: 'fact_stale', command: turn.commands[0] },
  ])
  t.match(await ledger.funds(b), { posted: 0n })
})

t.test('every reason is reported at once, each with its command', async (t) => {
  const ledger = await openLedger(t, [100n, 100n])
  const connection = await connect(t, ledger)
  const [a, b] = await Array.fromAsync(ledger.balances, (id) => balanceOf(connection, id))
  const first = pay(ledger, 1n, { externalId: 'x' })
  await committed(t, commit(connection, [turnOf(a!, [first], MONDAY)], MONDAY))
  const fresh = await balanceOf(connection, a!.id)
  const mixed = turnOf(
    fresh,
    [
      pay(ledger, 1n, { key: first.key }),
      pay(ledger, 1n, { externalId: 'x' }),
      move(ledger, ids.next(), 1n),
      pay(ledger, 1n, { recipient: { ...ledger.recipient, version: 9n } }),
      pay(ledger, 1n),
    ],
    MONDAY,
  )
  const { conflicts } = await refused(t, ledger, () =>
    commit(
      connection,
      [{ ...turnOf(b!, [pay(ledger, 1n)], MONDAY), fence: { balanceId: b!.id, version: 99n } }, mixed],
      MONDAY,
    ),
  )
  const nth = (command: CommitCommand) => mixed.commands.indexOf(command)
  t.strictSame(
    conflicts
      .map(
        (conflict) =>
          `${conflict.kind} ${conflict.kind === 'balance_stale' ? `turn ${conflict.turn}` : nth(conflict.command)}`,
      )
      .sort(),
    ['balance_stale turn 0', 'credit_refused 2', 'external_id_used 1', 'fact_stale 3', 'recorded 0'],
  )
  await auditIsClean(t, ledger)
})

t.test(
  'lines are numbered without a gap and each continues from the one before, however many a batch has',
  async (t) => {
    const ledger = await openLedger(t, [1_000n, 1_000n, 1_000n])
    const connection = await connect(t, ledger)
    const random = new Random(1)
    for (let batch = 0; batch < 8; batch++) {
      const balances = await Array.fromAsync(ledger.balances, (id) => balanceOf(connection, id))
      const turns = balances.map((balance) =>
        turnOf(
          balance,
          Array.from({ length: random.int(1, 30) }, () =>
            move(ledger, random.pick(ledger.balances.filter((id) => id !== balance.id)), BigInt(random.int(1, 9))),
          ),
          MONDAY,
        ),
      )
      const { balances: after } = await committed(t, commit(connection, turns, MONDAY))
      for (const each of after) {
        const { posted, held, version, sequence } = await ledger.funds(each.id)
        t.strictSame(each, { id: each.id, posted, held, version, sequence }, 'the commit says what Postgres holds')
      }
    }
    // Replayed here from the journal, in the order of the numbers, beside what the audit says.
    for (const id of ledger.balances) {
      const lines = await ledger.read<[string, string, string]>(
        `
      select debit_sequence, -amount, debit_balance from posting where debit_account = $1
      union all select credit_sequence, amount, credit_balance from posting where credit_account = $1 order by 1`,
        [id],
      )
      let running = 0n
      const wrong = lines.filter(([sequence, change, balance], at) => {
        running += BigInt(change)
        return BigInt(sequence) !== BigInt(at + 1) || BigInt(balance) !== running
      })
      t.strictSame(wrong, [], `${lines.length} lines`)
      t.equal((await ledger.funds(id)).posted, running)
    }
    await auditIsClean(t, ledger)
  },
)

t.test('batches of two connections over the same balances and payments never lock each other out', async (t) => {
  const BATCHES = 120
  const ledger = await openLedger(
    t,
    Array.from({ length: 12 }, () => 1_000_000n),
  )
  const context = await moveContext(ledger)
  const setUp = await connect(t, ledger)
  const payments: string[] = []
  for (const id of ledger.balances) {
    const commands = Array.from({ length: 20 }, () => pay(ledger, 1n))
    payments.push(...commands.map(({ paymentId }) => paymentId))
    await committed(t, commit(setUp, [turnOf(await balanceOf(setUp, id), commands, MONDAY)], MONDAY))
  }
  let commands = 0
  let stale = 0
  async function work(seed: number): Promise<void> {
    const random = new Random(seed)
    const connection = await connect(t, ledger)
    for (let batch = 0; batch < BATCHES; batch++) {
      const turns: CommitTurn[] = []
      // Payments move with balances that decide, with balances that are only credited, and alone.
      const shape = random.pick(['all', 'moves', 'transfers', 'credits'] as const)
      if (shape !== 'moves') {
        const payers = [...new Set(Array.from({ length: 4 }, () => random.pick(ledger.balances)))]
        const states = await loadBalances(connection, payers, false)
        for (const id of payers) {
          const turn = turnOf(
            states.get(id)!,
            Array.from({ length: 5 }, () => move(ledger, random.pick(ledger.balances.filter((to) => to !== id)), 1n)),
            MONDAY,
          )
          // Without a fence nothing is ever stale, so that both connections write all the time.
          turns.push(shape === 'credits' ? { ...turn, fence: null } : turn)
        }
      }
      if (shape === 'all' || shape === 'moves') {
        const chosen = [...new Set(Array.from({ length: 6 }, () => random.pick(payments)))]
        const states = await loadPayments(connection, chosen, false)
        for (const state of states.values()) {
          const command: PaymentCommand = state.sent
            ? { kind: random.pick(['settled', 'rejected'] as const), context, schemeCode: 'AC04', event: null }
            : { kind: 'hand_over', context }
          const { effects } = movePayment(state, command, MONDAY)
          if (effects !== null) turns.push(credits(effects))
        }
      }
      if (turns.length === 0) continue
      const result = await commit(connection, turns, MONDAY)
      if (result.ok) commands += turns.reduce((sum, turn) => sum + turn.commands.length, 0)
      else stale += 1
    }
  }
  await Promise.all([work(11), work(12)])
  t.ok(commands > 1_000, `${commands} commands were committed, ${stale} batches were stale`)
  const [[total] = []] = await ledger.read<[string]>(
    `select sum(posted) + (select coalesce(sum(amount), 0) from payment where sent_at is not null and status <> 'failed') from balance`,
  )
  t.equal(total, String(12 * 1_000_000), 'nothing was made or lost')
  await auditIsClean(t, ledger)
})

t.test('a commit that waits for another one reads what that one wrote', async (t) => {
  const ledger = await openLedger(t, [10_000n, 10_000n])
  const [a, b] = ledger.balances as [string, string]
  const connections = await Promise.all([connect(t, ledger), connect(t, ledger)])
  const versions = await Array.fromAsync(ledger.balances, (id) => balanceOf(connections[0]!, id))
  const rounds = 100
  await Promise.all(
    connections.map(async (connection, nth) => {
      const [from, to] = nth === 0 ? [versions[0]!, b] : [versions[1]!, a]
      for (let round = 0; round < rounds; round++) {
        const { effects } = createTransfer(from, move(ledger, to, 3n), MONDAY)
        // Both balances are debited by one connection only, so its fence is its own count.
        const result = await commit(
          connection,
          [{ fence: { balanceId: from.id, version: from.version + BigInt(round) }, commands: [only(effects)] }],
          MONDAY,
        )
        if (!result.ok) throw new Error('stale')
      }
    }),
  )
  t.match(await ledger.funds(a), { posted: 10_000n, sequence: BigInt(2 * rounds + 1) })
  t.match(await ledger.funds(b), { posted: 10_000n, sequence: BigInt(2 * rounds + 1) })
  await auditIsClean(t, ledger)
})

t.test('two connections that decide on the same version: exactly one of them commits', async (t) => {
  const ledger = await openLedger(t, [1_000n])
  const connections = await Promise.all([connect(t, ledger), connect(t, ledger), connect(t, ledger)])
  for (let round = 0; round < 30; round++) {
    const balance = await balanceOf(connections[0]!, ledger.balances[0]!)
    const results = await Promise.all(
      connections.map((connection) => commit(connection, [turnOf(balance, [pay(ledger, 1n)], MONDAY)], MONDAY)),
    )
    t.equal(results.filter(({ ok }) => ok).length, 1)
  }
  t.match(await ledger.funds(ledger.balances[0]!), { held: 30n })
  await auditIsClean(t, ledger)
})

t.test('every combination of decisions can be written in one statement', async (t) => {
  const ledger = await openLedger(t, [1_000n, 1_000n, 1_000n])
  const connection = await connect(t, ledger)
  const [a, b, c] = ledger.balances as [string, string, string]
  const waiting = await payment(t, ledger, connection, c, false)
  const sent: (typeof waiting)[] = []
  while (sent.length < 4) sent.push(await payment(t, ledger, connection, c, true))
  const [settles, rejects, times, asks] = sent as [typeof waiting, typeof waiting, typeof waiting, typeof waiting]
  const { context } = waiting
  await committed(
    t,
    commit(
      connection,
      [credits(movePayment(await asks.load(), { kind: 'timeout', context, askAgainAt: MONDAY }, MONDAY).effects!)],
      MONDAY,
    ),
  )
  const moved = async (of: typeof waiting, command: PaymentCommand) =>
    credits(movePayment(await of.load(), command, MONDAY).effects!)
  const balance = await balanceOf(connection, a)
  const incoming = ids.next()
  const kinds: Record<string, CommitTurn> = {
    'a payment': turnOf(balance, [pay(ledger, 1n)], MONDAY),
    'a payment of another balance, without a key, with an external id': turnOf(
      await balanceOf(connection, b),
      [pay(ledger, 1n, { key: null, externalId: 'x', metadata: { a: '1' } })],
      MONDAY,
    ),
    'a remembered no': credits(createPayment({ ...balance, available: 0n }, pay(ledger, 1n), MONDAY).effects!),
    'a transfer': credits(createTransfer(balance, move(ledger, b, 1n), MONDAY).effects!),
    'a transfer without a key, with an external id': credits(
      createTransfer(balance, move(ledger, b, 1n, { key: null, externalId: 'y' }), MONDAY).effects!,
    ),
    'a hand-over': await moved(waiting, { kind: 'hand_over', context }),
    'a settlement by message': await moved(settles, {
      kind: 'settled',
      context,
      schemeCode: null,
      event: { id: ids.next(), type: 'settled' },
    }),
    'a refusal of the bank': await moved(rejects, { kind: 'refused', context, schemeCode: 'TECH' }),
    'an unknown outcome': await moved(times, { kind: 'timeout', context, askAgainAt: MONDAY }),
    'still unknown': await moved(asks, { kind: 'still_unknown', askAgainAt: MONDAY }),
    'money that arrives': credits({
      postings: entry({
        rule: 'L01',
        amounts: { A: 5n },
        currency: 'EUR',
        accounts: context.accounts,
        balances: { from: b, to: { id: b, fence: 'open' } },
        entryId: ids.next(),
        customerId: ledger.customerId,
        source: { object: 'incoming_payment', id: incoming },
        description: 'In',
        bookedAt: MONDAY,
        valueDate: '2026-05-04',
      }),
      credits: [{ balanceId: b, currency: 'EUR' }],
    }),
  }
  const names = Object.keys(kinds)
  const combinations: string[][] = [names]
  names.forEach((first, i) => {
    combinations.push([first])
    names.slice(i + 1).forEach((second, j) => {
      combinations.push([first, second])
      for (const third of names.slice(i + j + 2)) combinations.push([first, second, third])
    })
  })
  const failures: string[] = []
  for (const combination of combinations) {
    // Taken back each time, so that each combination finds the same rows.
    await connection.run('begin')
    const result = await commit(
      connection,
      combination.map((name) => kinds[name]!),
      MONDAY,
    ).catch((error: Error) => error)
    await connection.run('rollback')
    if (result instanceof Error) failures.push(`${combination.join(' + ')}: ${result.message}`)
    else if (!result.ok) failures.push(`${combination.join(' + ')}: ${result.conflicts.map(({ kind }) => kind).join()}`)
  }
  t.strictSame(failures, [], `${combinations.length} combinations`)
  await auditIsClean(t, ledger)
})

t.test('text that Postgres cannot keep fails its statement and nothing else', async (t) => {
  const ledger = await openLedger(t, [100n])
  const connection = await connect(t, ledger)
  const balance = await balanceOf(connection, ledger.balances[0]!)
  const poisoned = pay(ledger, 1n, { externalId: 'a\u0000b' })
  const error = await commit(connection, [turnOf(balance, [poisoned], MONDAY)], MONDAY).catch(
    (caught: unknown) => caught,
  )
  t.equal(sqlState(error), '22021')
  t.ok(provesRollback(error))
  await committed(t, commit(connection, [turnOf(balance, [pay(ledger, 1n)], MONDAY)], MONDAY))
  await auditIsClean(t, ledger)
})

t.test('only an error of the server with a state that is final proves that nothing was written', (t) => {
  const error = (code: string) => Object.assign(new Error(code), { code })
  for (const code of ['23505', '40P01', '40001', '57014', 'XX000', 'P0001']) t.ok(provesRollback(error(code)), code)
  for (const code of ['57P01', '57P02', '57P03', '08006', '08003']) t.notOk(provesRollback(error(code)), code)
  // Errors of the socket look alike but come from this side.
  for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']) t.notOk(provesRollback(error(code)), code)
  t.notOk(provesRollback(new Error('Connection terminated unexpectedly')))
  t.notOk(provesRollback(null))
  t.notOk(provesRollback(error(newKey().id)))
  t.end()
})

/**
 * The rows that the running transaction of a connection has written, of all tables, as JSON in a fixed order; the
 * number of the transaction is left out.
 */
async function writtenRows(connection: Connection): Promise<string[]> {
  const { rows: tables } = (await connection.query({
    name: '',
    text: `select c.oid::regclass::text from pg_class c where c.relnamespace = 'public'::regnamespace
      and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    values: [],
  })) as { rows: [string][] }
  const { rows } = (await connection.query({
    name: '',
    text: tables
      .map(
        ([table]) =>
          `select '${table}', (to_jsonb(r) - 'written_in')::text from ${table} r where r.xmin = pg_current_xact_id()::xid`,
      )
      .join(' union all ')
      .concat(' order by 1, 2'),
    values: [],
  })) as { rows: [string, string][] }
  return rows.map((row) => row.join(' '))
}

/** An answer with its balances by id: Postgres returns them in the order of its plan. */
const inOrder = (answer: CommitResult): CommitResult =>
  answer.ok ? { ...answer, balances: answer.balances.toSorted((one, two) => (one.id < two.id ? -1 : 1)) } : answer

t.test('columns that are sent once write the same rows as arrays', async (t) => {
  const ledger = await openLedger(t, [1_000_000n, 1_000_000n, 1_000_000n])
  // Both forms name their statements alike, so each has a connection of its own.
  const [connection, other] = [await connect(t, ledger), await connect(t, ledger)]
  const asOnce = commitOf(SECTIONS)
  const asArrays = commitOf(SECTIONS, 0)
  const random = new Random(19)
  const context = await moveContext(ledger)
  const waiting: string[] = []
  const sent = { once: 0, arrays: 0 }
  const recording = (kind: keyof typeof sent, to: Connection): CommitConnection => ({
    query: (statement) => {
      sent[kind] += statement.values.join('').length
      return to.query(statement)
    },
  })

  /** Writes the turns in both forms, compares the rows, and keeps those of the second. */
  async function writeTwice(turns: readonly CommitTurn[]): Promise<void> {
    await connection.begin()
    const once = await asOnce(recording('once', connection), turns, MONDAY)
    const rows = await writtenRows(connection)
    await connection.end(false)
    await other.begin()
    const arrays = await asArrays(recording('arrays', other), turns, MONDAY)
    t.strictSame(await writtenRows(other), rows)
    await other.end(true)
    t.strictSame(inOrder(arrays), inOrder(once))
    t.ok(once.ok && rows.length > 0)
  }

  for (let round = 0; round < 40; round++) {
    const payers = [...new Set(Array.from({ length: 1 + random.int(0, 2) }, () => random.pick(ledger.balances)))]
    const states = await loadBalances(connection, payers, false)
    const turns = payers.map((id) => {
      const commands = Array.from({ length: random.int(1, 4) }, () => {
        if (random.chance(0.25)) return move(ledger, random.pick(ledger.balances.filter((to) => to !== id)), 1n)
        const command = pay(ledger, random.pick([1n, 2n, 10_000_000n]), random.pick([{}, { rail: 'sepa' as const }]))
        waiting.push(command.paymentId)
        return command
      })
      return turnOf(states.get(id)!, commands, MONDAY)
    })
    await writeTwice(turns)
    const chosen = [...new Set(Array.from({ length: 4 }, () => random.pick([...waiting, ''])))].filter(
      (id) => id !== '',
    )
    const moves = [...(await loadPayments(connection, chosen, false)).values()].flatMap((state) => {
      const command: PaymentCommand = state.sent
        ? { kind: random.pick(['settled', 'rejected'] as const), context, schemeCode: 'AC04', event: null }
        : { kind: 'hand_over', context }
      const { effects } = movePayment(state, command, MONDAY)
      return effects === null ? [] : [credits(effects)]
    })
    if (moves.length > 0) await writeTwice(moves)
  }
  t.ok(sent.once < sent.arrays, `${sent.once} characters, as arrays ${sent.arrays}`)
  await auditIsClean(t, ledger)
})
