import t from 'tap'
import type { Test } from 'tap'
import { PaymentQueue } from '../../../actors/payments/payment-queue.ts'
import { submitPayment, type PaymentInput } from '../../../actors/payments/submit-payment.ts'
import type { BankMessage, BankPartner } from '../../../actors/providers/bank.ts'
import { SandboxBank } from '../../../actors/sandbox/sandbox-bank.ts'
import { paymentActor } from '../../../actors/payments/payment.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { ActorSystem } from '../../../actors/runtime/system.ts'
import { sandboxScreener } from '../../../lib/sandbox/sandbox-screener.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import { SHARD_COUNT } from '../../../lib/shards/shard.ts'
import type { ShardHome, Shards, ShardsState } from '../../../lib/shards/shards.ts'
import { OrderNumbers } from '../../../storage/payments/order-numbers.ts'
import { BalanceCache } from '../../../storage/balances/balance-cache.ts'
import { setFrozen } from '../../../storage/balances/staff-holds.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { RecipientCache } from '../../../storage/recipients/recipient-cache.ts'
import { ids, MONDAY, newKey, problemRequest } from '../../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../../support/ledger.ts'
import { createWakes } from '../../support/wakes.ts'
import { until } from '../../support/until.ts'

const OPENING = 1_000_000n
const SECOND = 1_000

interface Node {
  readonly queue: PaymentQueue
  readonly system: ActorSystem
  readonly bank: SandboxBank
  readonly errors: string[]
  /** Makes a payment in euro; returns its id. */
  pay(amount: bigint, reference?: string, offeredTo?: Pick<PaymentQueue, 'place' | 'offer'>): Promise<string>
  stop(): Promise<void>
}

/** A node with its queue and the sandbox bank, running. `bank` stands between the queue and the bank. */
async function openNode(
  t: Test,
  ledger: Ledger,
  between: (bank: SandboxBank) => BankPartner = (bank) => bank,
  shards: Shards = new InProcessShards('test'),
): Promise<Node> {
  const { database, clock, accounts } = ledger
  const errors: string[] = []
  const onError = (error: unknown, what: string) => {
    errors.push(`${what}: ${(error as Error).message}`)
  }
  const system = new ActorSystem({ databaseUrl: ledger.url, lanes: 1, clock, onBug: onError })
  const wakes = createWakes({ clock, shards }, system)
  const bank = new SandboxBank({ database, clock, wakes, shards, onError })
  const queue = new PaymentQueue({
    system,
    database,
    accounts,
    bank: between(bank),
    screener: sandboxScreener,
    ids,
    clock,
    wakes,
    shards,
    onError,
  })
  await queue.start()
  bank.start(queue.inbox)
  const stop = async () => {
    await bank.stop()
    await queue.stop()
    await system.close()
  }
  t.teardown(stop)
  const world = {
    system,
    queue,
    payees: bank,
    recipients: new RecipientCache(database),
    balances: new BalanceCache(database),
    orderNumbers: new OrderNumbers(database),
    ids,
    clock,
    sandbox: true,
  }
  return {
    queue,
    system,
    bank,
    errors,
    stop,
    async pay(amount, reference = 'Invoice 1', offeredTo = queue) {
      const input: PaymentInput = {
        sourceBalanceId: ledger.balances[0]!,
        recipientId: ledger.recipient.id,
        amount: { amountMinor: String(amount), currency: 'EUR' },
        reference,
      }
      const caller = {
        customerId: ledger.customerId,
        shard: ledger.shard,
        createdBy: ledger.apiKeyId,
        createdByName: 'Key',
        createdVia: 'api_key' as const,
        key: newKey(),
        deadline: Infinity,
        problemRequest,
      }
      const outcome = await submitPayment({ ...world, queue: offeredTo }, caller, input)
      if (outcome.kind !== 'payment_created') throw new Error(`the payment was not made: ${JSON.stringify(outcome)}`)
      return outcome.payment.id
    },
  }
}

/** Homes that a test moves about. */
class MovableShards implements Shards {
  #owned: readonly number[] = []
  readonly #listeners: Parameters<Shards['onChange']>[0][] = []

  owns(shard: number): boolean {
    return this.#owned.includes(shard)
  }
  owned(): readonly number[] {
    return this.#owned
  }
  homeOf(shard: number): ShardHome {
    return { kind: this.owns(shard) ? 'here' : 'nowhere' }
  }
  onChange(listener: Parameters<Shards['onChange']>[0]): void {
    this.#listeners.push(listener)
  }
  state(): ShardsState {
    return { nodeId: 'movable', held: this.#owned.length, total: SHARD_COUNT, nodes: 2 }
  }
  async start(): Promise<void> {
    /* The test moves them. */
  }
  async stop(): Promise<void> {
    /* And nobody else takes them. */
  }

  /** From now on these are at home here. */
  move(owned: readonly number[]): void {
    const change = {
      gained: owned.filter((shard) => !this.#owned.includes(shard)),
      lost: this.#owned.filter((shard) => !owned.includes(shard)),
    }
    this.#owned = owned
    for (const listener of this.#listeners) listener(change)
  }
}

interface Seen {
  readonly status: string
  readonly version: number
  readonly sent: boolean
  readonly failure: { readonly code: string; readonly schemeCode: string } | null
}

async function see(ledger: Ledger, id: string): Promise<Seen> {
  const [row] = await ledger.read<[string, number, boolean, string | null]>(
    'select status, version, sent_at is not null, failure from payment where id = $1',
    [id],
  )
  const [status, version, sent, failure] = row!
  return { status, version, sent, failure: failure === null ? null : JSON.parse(failure) }
}

const reaches = (ledger: Ledger, id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await see(ledger, id)).status === status)

/** Handed to the bank, and in the bank's book. */
const atTheBank = (ledger: Ledger, id: string) =>
  until(
    `the bank has ${id}`,
    async () => (await ledger.read('select from sandbox_order where reference = $1', [id])).length === 1,
  )

/** All that was ever written about payments, but for the messages themselves. */
async function everything(ledger: Ledger): Promise<unknown> {
  const tables = ['payment', 'posting', 'status_update', 'outbox', 'partner_instruction', 'balance', 'hold']
  return await Promise.all(tables.map((table) => ledger.read(`select * from ${table} order by 1, 2`)))
}

const eventsOf = async (ledger: Ledger, id: string) =>
  (await ledger.read<[string]>('select type from outbox where object_id = $1 order by type', [id])).map(
    ([type]) => type,
  )

t.test('a payment goes to the bank and completes when the bank says so', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const node = await openNode(t, ledger)
  const id = await node.pay(10_000n)
  await atTheBank(ledger, id)
  t.match(await see(ledger, id), { status: 'processing', sent: true, version: 2 })
  t.match(await ledger.funds(ledger.balances[0]!), { posted: OPENING - 10_000n, held: 0n })
  clock.advance(2 * SECOND)
  await reaches(ledger, id, 'completed')
  t.match(await see(ledger, id), { version: 3, failure: null })
  t.strictSame(await eventsOf(ledger, id), ['payment.completed', 'payment.created', 'payment.status_changed'])
  t.strictSame(await ledger.read('select from partner_instruction'), [], 'nothing waits any more')
  t.equal((await ledger.read('select from provider_event where object_id = $1', [id])).length, 1)
  t.equal(node.queue.backlog, 0)
  t.equal(node.system.size.payment, 0, 'a payment that has ended leaves memory')
  t.strictSame(node.errors, [])
  await auditIsClean(t, ledger)
})

t.test('payments that come while the bank is busy are handed over together, and a single one by itself', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const handed: number[] = []
  let busy: PromiseWithResolvers<void> | null = Promise.withResolvers<void>()
  const node = await openNode(t, ledger, (bank) => ({
    submit: async (orders) => {
      handed.push(orders.length)
      await busy?.promise
      return await bank.submit(orders)
    },
    status: (references) => bank.status(references),
  }))
  const first = await node.pay(1n)
  const second = await node.pay(2n)
  await until('both are at the bank', () => (handed.length === 2 ? true : null))
  const rest = await Promise.all(Array.from({ length: 8 }, (_, nth) => node.pay(BigInt(nth + 3))))
  t.strictSame(handed, [1, 1], 'without a backlog each goes by itself')
  busy.resolve()
  busy = null
  await node.queue.runOnce()
  t.strictSame(handed, [1, 1, 8])
  const last = await node.pay(11n)
  await node.queue.runOnce()
  t.strictSame(handed, [1, 1, 8, 1])
  for (const id of [first, second, ...rest, last]) await atTheBank(ledger, id)
  t.strictSame(node.errors, [])
  t.equal(node.queue.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test('a bank outside of the process that takes its time holds up no other payment', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const begun: string[] = []
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const node = await openNode(t, ledger, (bank) => ({
    isOutside: () => true,
    async submit(orders) {
      begun.push(...orders.map(({ reference }) => reference))
      await answered
      return await bank.submit(orders)
    },
    status: (references) => bank.status(references),
  }))
  // More batches than the queue has under way at a time.
  const made: string[] = []
  for (let nth = 0; nth < 5; nth++) {
    const id = await node.pay(10n)
    made.push(id)
    await until('the call has begun', () => begun.includes(id))
  }
  answer()
  for (const id of made) await atTheBank(ledger, id)
  clock.advance(2 * SECOND)
  for (const id of made) await reaches(ledger, id, 'completed')
  t.strictSame(begun, made)
  t.strictSame(node.errors, [])
  await auditIsClean(t, ledger)
})

t.test('the work of a shard is done where it is at home, and nowhere else', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const homes = [new MovableShards(), new MovableShards()] as const
  const handed: string[][] = [[], []]
  const nodes = await Promise.all(
    homes.map((shards, nth) =>
      openNode(
        t,
        ledger,
        (bank) => ({
          submit: (orders) => {
            handed[nth]!.push(...orders.map(({ reference }) => reference))
            return bank.submit(orders)
          },
          status: (references) => bank.status(references),
        }),
        shards,
      ),
    ),
  )
  const [first, second] = nodes as [Node, Node]
  const one = await first.pay(10n)
  await Promise.all(nodes.map(({ queue }) => queue.runOnce()))
  t.strictSame(handed, [[], []], 'a shard without a home waits')
  homes[1].move([ledger.shard])
  await atTheBank(ledger, one)
  const two = await first.pay(20n)
  // As the bell of the shard does.
  second.queue.look()
  await atTheBank(ledger, two)
  t.strictSame(handed, [[], [one, two]], 'also what another node has committed')
  homes[1].move([])
  homes[0].move([ledger.shard])
  clock.advance(2 * SECOND)
  for (const id of [one, two]) await reaches(ledger, id, 'completed')
  const three = await second.pay(30n)
  first.queue.look()
  await atTheBank(ledger, three)
  t.strictSame(handed, [[three], [one, two]])
  t.strictSame([...first.errors, ...second.errors], [])
  await auditIsClean(t, ledger)
})

t.test('the payments of a frozen balance wait, whenever the freeze comes, and go on when it ends', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const home = new MovableShards()
  const node = await openNode(t, ledger, undefined, home)
  const [balanceId] = ledger.balances as [string]
  const freeze = (status: 'frozen' | 'active') =>
    inTransaction(ledger.database, (client) => setFrozen(client, balanceId, { status, now: clock.now() }))
  const read = await node.pay(10_000n)
  const offered = await node.pay(20_000n)
  await freeze('frozen')
  home.move([ledger.shard])
  node.queue.offer(offered, ledger.shard)
  await node.queue.runOnce()
  const before = await everything(ledger)
  const context = {
    accounts: await ledger.accounts.accounts({ ...ledger, currency: 'EUR' }),
    valueDate: '2026-05-04',
  }
  const late = await node.system.ask(paymentActor, read, ledger.shard, {
    kind: 'hand_over',
    context,
    seed: ids.next(),
  })
  t.equal(late.kind, 'debit_refused', 'a hand-over that was decided before the freeze is not committed after it')
  t.strictSame(await everything(ledger), before, 'nothing was written')
  for (const id of [read, offered]) t.match(await see(ledger, id), { status: 'processing', sent: false, version: 1 })
  t.match(await ledger.funds(balanceId), { posted: OPENING, held: 30_000n })
  t.equal(node.queue.backlog, 0, 'they hold up no others')

  await freeze('active')
  node.queue.look()
  for (const id of [read, offered]) await atTheBank(ledger, id)
  clock.advance(2 * SECOND)
  for (const id of [read, offered]) await reaches(ledger, id, 'completed')
  t.strictSame(node.errors, [])
  await auditIsClean(t, ledger)
})

t.test(
  'a payment that nobody offered to the queue, because its commit was not heard of, goes to the bank all the same',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const node = await openNode(t, ledger)
    const id = await node.pay(10_000n, 'Invoice 1', { place: (now) => node.queue.place(now), offer: () => undefined })
    await atTheBank(ledger, id)
    clock.advance(2 * SECOND)
    await reaches(ledger, id, 'completed')
    t.strictSame(node.errors, [])
    await auditIsClean(t, ledger)
  },
)

// The amounts by which the sandbox bank is told to fail, what the scheme says, and what the customer reads.
const FAILURES = [
  [1301n, 'AC01', 'invalid_account_details'],
  [1302n, 'AC04', 'account_closed'],
  [1303n, 'AC06', 'account_blocked'],
  [1304n, 'AM04', 'insufficient_funds'],
  [1305n, 'BE01', 'name_mismatch'],
  [1306n, 'AG01', 'account_not_eligible'],
  [1307n, 'RC01', 'invalid_account_details'],
  [1308n, 'RR04', 'declined'],
  [1309n, 'MS03', 'refused_by_recipient_bank'],
  [1310n, 'AM05', 'duplicate'],
  [1311n, 'AM02', 'amount_limit_exceeded'],
  [1312n, 'TM01', 'cutoff_missed'],
  [1504n, 'TECH', 'technical_error'],
] as const

t.test('a payment that the bank refuses fails with our word for its reason, and every unit comes back', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const node = await openNode(t, ledger)
  const made = await Promise.all(
    FAILURES.map(async ([amount, schemeCode, code]) => ({ id: await node.pay(amount), schemeCode, code, amount })),
  )
  for (const { id, amount } of made) if (amount !== 1504n) await atTheBank(ledger, id)
  clock.advance(2 * SECOND)
  for (const { id, schemeCode, code, amount } of made) {
    await reaches(ledger, id, 'failed')
    t.match(await see(ledger, id), { version: 3, failure: { code, schemeCode } }, `${amount} is ${code}`)
    t.strictSame(await eventsOf(ledger, id), ['payment.created', 'payment.failed', 'payment.status_changed'])
  }
  t.match(await ledger.funds(ledger.balances[0]!), { posted: OPENING, held: 0n })
  const unlinked = await ledger.read(`select p.source_id from posting p where rule = 'L12'
    and not exists (select from posting o where o.entry_id = p.reversal_of and o.rule = 'L10' and o.source_id = p.source_id and o.amount = p.amount)`)
  t.strictSame(unlinked, [], 'each reversal names the entry it takes back')
  t.equal((await ledger.read(`select from posting where rule = 'L12'`)).length, FAILURES.length)
  t.equal(
    (await ledger.read('select from sandbox_order where reference = $1', [made.at(-1)!.id])).length,
    0,
    'what was refused at once is in no book of the bank',
  )
  t.strictSame(await ledger.read('select from partner_instruction'), [])
  t.strictSame(node.errors, [])
  await auditIsClean(t, ledger)
})

const attempts = async (ledger: Ledger, id: string) =>
  (await ledger.read<[number]>('select attempts from partner_instruction where payment_id = $1', [id]))[0]?.[0] ?? 0

t.test(
  'a payment that nobody knows the outcome of is an exception, is asked about, never sent again, and ends when the bank knows',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const submitted: string[] = []
    const node = await openNode(t, ledger, (bank) => ({
      submit: (orders) => {
        submitted.push(...orders.map(({ reference }) => reference))
        return bank.submit(orders)
      },
      status: (references) => bank.status(references),
    }))
    const [known, refused, lost] = (await Promise.all([1501n, 1502n, 1503n].map((amount) => node.pay(amount)))) as [
      string,
      string,
      string,
    ]
    for (const id of [known, refused, lost]) await reaches(ledger, id, 'exception')
    t.equal(
      (await ledger.funds(ledger.balances[0]!)).posted,
      OPENING - 1501n - 1502n - 1503n,
      'the money stays where it went',
    )
    clock.advance(6 * SECOND)
    await until('the bank was asked', async () => (await attempts(ledger, known)) >= 2)
    t.equal((await see(ledger, known)).status, 'exception', 'a bank that does not know yet is no answer')
    clock.advance(60 * SECOND)
    await reaches(ledger, known, 'completed')
    await reaches(ledger, refused, 'failed')
    t.match(await see(ledger, refused), { failure: { code: 'technical_error' } })
    t.strictSame(await eventsOf(ledger, known), [
      'payment.completed',
      'payment.created',
      'payment.status_changed',
      'payment.status_changed',
    ])
    const asked = await attempts(ledger, lost)
    for (let round = 1; round <= 2; round++) {
      clock.advance(600 * SECOND)
      await until('the bank was asked again', async () => (await attempts(ledger, lost)) > asked + round - 1)
    }
    t.match(
      await see(ledger, lost),
      { status: 'exception', version: 3 },
      'and one that never knows leaves it an exception',
    )
    t.strictSame(submitted.toSorted(), [known, refused, lost].toSorted(), 'each was sent once')
    t.equal((await ledger.funds(ledger.balances[0]!)).posted, OPENING - 1501n - 1503n)
    t.strictSame(node.errors, [])
    await auditIsClean(t, ledger)
  },
)

t.test(
  "what is heard of a payment in the same moment is booked one after the other: no move is lost in the other's statement",
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const node = await openNode(t, ledger)
    const id = await node.pay(1501n)
    await reaches(ledger, id, 'exception')
    const [row] = await ledger.read<[string, string]>('select operator_id, connection_id from payment where id = $1', [
      id,
    ])
    const [operatorId, connectionId] = row!
    const context = {
      accounts: await ledger.accounts.accounts({ operatorId, connectionId, currency: 'EUR' }),
      ids,
      valueDate: '2026-05-04',
    }
    const outcomes = await Promise.all(
      (
        [
          { kind: 'still_unknown', askAgainAt: clock.now() + SECOND },
          { kind: 'settled', schemeCode: null, context, event: null },
          { kind: 'still_unknown', askAgainAt: clock.now() + SECOND },
        ] as const
      ).map((command) => node.system.ask(paymentActor, id, ledger.shard, { ...command, seed: ids.next() })),
    )
    t.match(outcomes, [{ reply: { kind: 'moved' } }, { reply: { kind: 'moved' } }, { reply: { kind: 'ignored' } }])
    t.equal((await see(ledger, id)).status, 'completed')
    t.strictSame(await ledger.read('select from partner_instruction'), [], 'nothing waits for the bank')
    await auditIsClean(t, ledger)
  },
)

t.test('a whole call to the bank that fails makes exceptions, not repeats', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  let calls = 0
  const node = await openNode(t, ledger, (bank) => ({
    async submit(orders) {
      calls += 1
      await bank.submit(orders)
      throw new Error('socket hang up')
    },
    status: (references) => bank.status(references),
  }))
  const made = await Promise.all(Array.from({ length: 5 }, () => node.pay(10n)))
  for (const id of made) await reaches(ledger, id, 'exception')
  clock.advance(10 * SECOND)
  for (const id of made) await reaches(ledger, id, 'completed')
  t.ok(calls <= 5)
  t.equal((await ledger.read('select from sandbox_order')).length, 5)
  t.equal((await ledger.funds(ledger.balances[0]!)).posted, OPENING - 50n)
  await auditIsClean(t, ledger)
})

const message = (reference: string, ledger: Ledger, overrides: Partial<BankMessage> = {}): BankMessage => ({
  id: ids.next(),
  type: 'settled',
  reference,
  shard: ledger.shard,
  schemeCode: null,
  amount: null,
  ...overrides,
})

t.test(
  'a message that is repeated, late or contradicts what was said changes nothing, and is acknowledged',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const node = await openNode(t, ledger)
    const [completed, failed] = await Promise.all([node.pay(100n), node.pay(1302n)])
    for (const id of [completed, failed]) await atTheBank(ledger, id)
    clock.advance(2 * SECOND)
    await reaches(ledger, completed, 'completed')
    await reaches(ledger, failed, 'failed')
    const [[said] = []] = await ledger.read<[string]>('select id from provider_event where object_id = $1', [completed])
    const before = await everything(ledger)
    const messages = [
      message(completed, ledger, { id: said! }),
      message(completed, ledger),
      message(completed, ledger, { type: 'rejected', schemeCode: 'AC04' }),
      message(failed, ledger),
      message(failed, ledger, { type: 'rejected', schemeCode: 'AC06' }),
    ]
    t.strictSame((await node.queue.inbox(messages)).toSorted(), messages.map(({ id }) => id).toSorted())
    for (const each of messages.toReversed()) t.strictSame(await node.queue.inbox([each, each]), [each.id, each.id])
    t.strictSame(await everything(ledger), before)
    const kept = (await ledger.read<[string]>('select id from provider_event')).map(([id]) => id)
    t.equal(
      kept.length,
      messages.length + 1,
      'each message is kept once, one that changes nothing too; a second one was sent by the bank',
    )
    t.ok(messages.every(({ id }) => kept.includes(id)))
    t.strictSame(node.errors, [])
    await auditIsClean(t, ledger)
  },
)

t.test('of messages that contradict each other in one delivery the first counts', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const node = await openNode(t, ledger)
  const id = await node.pay(100n)
  await atTheBank(ledger, id)
  const messages = [
    message(id, ledger),
    message(id, ledger, { type: 'rejected', schemeCode: 'AC04' }),
    message(id, ledger),
  ]
  await node.queue.inbox([messages[0]!, messages[0]!, ...messages.slice(1)])
  t.match(await see(ledger, id), { status: 'completed', version: 3 })
  t.strictSame(
    (await ledger.read<[string]>('select id from provider_event')).flat().toSorted(),
    messages.map((each) => each.id).toSorted(),
    'all of them are kept, each once',
  )
  t.strictSame(await eventsOf(ledger, id), ['payment.completed', 'payment.created', 'payment.status_changed'])
  await auditIsClean(t, ledger)
})

t.test('a message about somebody else’s payment is said to the log and not asked for again', async (t) => {
  const ledger = await openLedger(t, [OPENING], new ManualClock(MONDAY))
  const node = await openNode(t, ledger)
  const stranger = message(ids.next(), ledger)
  t.strictSame(await node.queue.inbox([stranger]), [stranger.id])
  t.match(node.errors, [/not a payment of ours/])
  t.equal(node.errors.length, 1)
})

t.test('a node that dies between the hand-over and the bank: the next one sends each payment, once', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  // The first node commits L10 and is never heard of again: its call neither arrives nor ends.
  const dead = await openDyingNode(t, ledger, () => undefined)
  const made = await Promise.all(Array.from({ length: 7 }, () => dead.pay(10n)))
  // Each of its two batches takes the first payment that waits, and never ends: the others it will never hand over.
  // Before both are handed over it is not dead yet, and might commit what the next node has looked for already.
  await until(
    'the first of both batches is handed over',
    async () => (await ledger.read('select from payment where sent_at is not null')).length === 2,
  )
  t.equal((await ledger.read('select from sandbox_order')).length, 0)
  const submitted: string[] = []
  const node = await openNode(t, ledger, (bank) => ({
    submit: (orders) => {
      submitted.push(...orders.map(({ reference }) => reference))
      return bank.submit(orders)
    },
    status: (references) => bank.status(references),
  }))
  for (const id of made) await atTheBank(ledger, id)
  clock.advance(2 * SECOND)
  for (const id of made) await reaches(ledger, id, 'completed')
  t.strictSame(submitted.toSorted(), made.toSorted())
  t.equal((await ledger.funds(ledger.balances[0]!)).posted, OPENING - 70n)
  t.strictSame(node.errors, [])
  await auditIsClean(t, ledger)
})

t.test(
  'a node that dies after the bank took its payments: the next one sends nothing again, and books what the bank says',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const dead = await openDyingNode(t, ledger, async (bank, orders) => {
      await bank.submit(orders)
    })
    const [settles, fails] = await Promise.all([dead.pay(10n), dead.pay(1302n)])
    for (const id of [settles, fails]) await atTheBank(ledger, id)
    const submitted: string[] = []
    const node = await openNode(t, ledger, (bank) => ({
      submit: (orders) => {
        submitted.push(...orders.map(({ reference }) => reference))
        return bank.submit(orders)
      },
      status: (references) => bank.status(references),
    }))
    clock.advance(2 * SECOND)
    await reaches(ledger, settles, 'completed')
    await reaches(ledger, fails, 'failed')
    t.strictSame(submitted, [])
    t.strictSame(node.errors, [])
    await auditIsClean(t, ledger)
  },
)

t.test(
  'a node that dies before it has booked that the bank gave no answer: for the next one they are exceptions, and end as such',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const dead = await openDyingNode(t, ledger, async (bank, orders) => {
      await bank.submit(orders)
    })
    const [known, lost] = await Promise.all([dead.pay(1501n), dead.pay(1503n)])
    for (const id of [known, lost]) await atTheBank(ledger, id)
    t.equal((await see(ledger, lost)).status, 'processing')
    const submitted: string[] = []
    const node = await openNode(t, ledger, (bank) => ({
      submit: (orders) => {
        submitted.push(...orders.map(({ reference }) => reference))
        return bank.submit(orders)
      },
      status: (references) => bank.status(references),
    }))
    for (const id of [known, lost]) await reaches(ledger, id, 'exception')
    clock.advance(66 * SECOND)
    await reaches(ledger, known, 'completed')
    t.equal((await see(ledger, lost)).status, 'exception')
    t.strictSame(submitted, [], 'nothing is sent twice')
    t.strictSame(node.errors, [])
    await auditIsClean(t, ledger)
  },
)

t.test('a payment that the bank still works on is asked about again when its time has come', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const dead = await openDyingNode(t, ledger, async (bank, orders) => {
    await bank.submit(orders)
  })
  // The bank sends no message about this amount.
  const id = await dead.pay(1503n)
  await atTheBank(ledger, id)
  const asked: string[] = []
  const startAndStop = async () => {
    const node = await openNode(t, ledger, (bank) => ({
      submit: (orders) => bank.submit(orders),
      async status(references) {
        asked.push(...references)
        return new Map(references.map((reference) => [reference, { kind: 'pending' }]))
      },
    }))
    await node.queue.runOnce()
    await node.stop()
  }
  await startAndStop()
  t.strictSame(asked, [id])
  clock.advance(29 * SECOND)
  await startAndStop()
  t.strictSame(asked, [id], 'not yet')
  clock.advance(2 * SECOND)
  await startAndStop()
  t.strictSame(asked, [id, id])
  // It has been under way for half a minute, so it is left alone for as long again.
  clock.advance(29 * SECOND)
  await startAndStop()
  t.equal(asked.length, 2)
  t.match(await see(ledger, id), { status: 'processing', sent: true })
})

t.test('payments that were made while nobody sent them are taken up at the next start', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const first = await openNode(t, ledger)
  await first.queue.stop()
  const made = await Promise.all(Array.from({ length: 20 }, () => first.pay(10n)))
  t.equal((await ledger.read('select from payment where sent_at is not null')).length, 0)
  t.equal(first.queue.backlog, 20)
  const node = await openNode(t, ledger)
  for (const id of made) await atTheBank(ledger, id)
  clock.advance(2 * SECOND)
  for (const id of made) await reaches(ledger, id, 'completed')
  t.equal(node.queue.backlog, 0)
  await auditIsClean(t, ledger)
})

t.test(
  'a node that remembers a payment from before another one sent it books what the bank tells it all the same',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const first = await openNode(t, ledger)
    await first.queue.stop()
    const [settles, fails] = await Promise.all([first.pay(10n), first.pay(20n)])
    const second = await openNode(t, ledger)
    for (const id of [settles, fails]) await atTheBank(ledger, id)
    await second.stop()
    await first.queue.inbox([
      message(settles, ledger),
      message(fails, ledger, { type: 'rejected', schemeCode: 'AC04' }),
    ])
    t.match([await see(ledger, settles), await see(ledger, fails)], [{ status: 'completed' }, { status: 'failed' }])
    t.equal((await ledger.funds(ledger.balances[0]!)).posted, OPENING - 10n)
    await auditIsClean(t, ledger)
  },
)

t.test('two nodes over one queue: each payment is sent and booked once', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const nodes = [await openNode(t, ledger), await openNode(t, ledger)]
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, nth) => nodes[nth % 2]!.pay(nth % 8 === 0 ? 1302n : 10n)),
  )
  for (const id of made) await atTheBank(ledger, id)
  clock.advance(2 * SECOND)
  for (const [nth, id] of made.entries()) await reaches(ledger, id, nth % 8 === 0 ? 'failed' : 'completed')
  t.equal((await ledger.funds(ledger.balances[0]!)).posted, OPENING - 350n)
  t.strictSame(
    nodes.flatMap(({ errors }) => errors),
    [],
  )
  await auditIsClean(t, ledger)
})

/** A node whose calls to the bank never end, as those of a process that is no more. */
async function openDyingNode(
  t: Test,
  ledger: Ledger,
  last: (bank: SandboxBank, orders: Parameters<BankPartner['submit']>[0]) => unknown,
): Promise<Pick<Node, 'pay'>> {
  const { database, clock, accounts } = ledger
  const ignore = () => undefined
  const system = new ActorSystem({ databaseUrl: ledger.url, lanes: 1, clock, onBug: ignore })
  const shards = new InProcessShards('dying')
  const wakes = createWakes({ clock, shards }, system)
  const bank = new SandboxBank({ database, clock, wakes, shards, onError: ignore })
  const queue = new PaymentQueue({
    system,
    database,
    accounts,
    screener: sandboxScreener,
    ids,
    clock,
    wakes,
    shards,
    onError: ignore,
    bank: {
      async submit(orders) {
        await last(bank, orders)
        return await new Promise(() => undefined)
      },
      status: (references) => bank.status(references),
    },
  })
  await queue.start()
  // Its timers end; its calls do not, so nobody waits for them.
  t.teardown(async () => {
    void queue.stop()
    await system.close()
  })
  const world = {
    system,
    queue,
    payees: bank,
    recipients: new RecipientCache(database),
    balances: new BalanceCache(database),
    orderNumbers: new OrderNumbers(database),
    ids,
    clock,
    sandbox: true,
  }
  return {
    async pay(amount) {
      const outcome = await submitPayment(
        world,
        {
          customerId: ledger.customerId,
          shard: ledger.shard,
          createdBy: ledger.apiKeyId,
          createdByName: 'Key',
          createdVia: 'api_key' as const,
          key: newKey(),
          deadline: Infinity,
          problemRequest,
        },
        {
          sourceBalanceId: ledger.balances[0]!,
          recipientId: ledger.recipient.id,
          amount: { amountMinor: String(amount), currency: 'EUR' },
          reference: 'Invoice 1',
        },
      )
      if (outcome.kind !== 'payment_created') throw new Error('the payment was not made')
      return outcome.payment.id
    },
  }
}

t.test('money may come back while nobody knows what became of it', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING], clock)
  const node = await openNode(t, ledger)
  const [told, asked] = await Promise.all([node.pay(1503n), node.pay(1503n, 'Invoice 2')])
  for (const id of [told, asked]) await reaches(ledger, id, 'exception')
  const back = message(told, ledger, { type: 'returned', schemeCode: 'AC04', amount: 1_000n })
  t.strictSame(await node.queue.inbox([back]), [back.id])
  await reaches(ledger, told, 'returned')
  // The bank's answer to a status request: its own book.
  await ledger.read(
    `update sandbox_order set state = 'returned', next_event = 'returned', scheme_code = 'AC06', steps = 'returned@0:AC06:1503' where reference = $1`,
    [asked],
  )
  clock.advance(6 * SECOND)
  await reaches(ledger, asked, 'returned')
  t.strictSame(await ledger.read('select returned_amount from payment order by returned_amount'), [['1000'], ['1503']])
  for (const id of [told, asked]) {
    t.strictSame(await ledger.read('select rule from posting where source_id = $1 order by rule', [id]), [
      ['L10'],
      ['L11'],
      ['L13'],
    ])
    t.strictSame(
      await ledger.read('select from partner_instruction where payment_id = $1', [id]),
      [],
      'the bank is not asked any more',
    )
  }
  t.match(await ledger.funds(ledger.balances[0]!), { posted: OPENING - 503n, held: 0n })
  const late = [
    message(told, ledger),
    message(told, ledger, { type: 'rejected', schemeCode: 'AC04' }),
    message(told, ledger, { type: 'returned', schemeCode: 'FOCR', amount: 503n }),
    message(told, ledger, { type: 'unclear' }),
    message(told, ledger, { type: 'pending' }),
    message(told, ledger, { type: 'recall_rejected', schemeCode: 'CUST' }),
  ]
  const before = await everything(ledger)
  t.strictSame((await node.queue.inbox(late)).toSorted(), late.map(({ id }) => id).toSorted())
  t.strictSame(await everything(ledger), before, 'what came back stays back')
  t.strictSame(node.errors, [])
  await auditIsClean(t, ledger)
})

t.test(
  'a message that was booked moves nothing a second time, even where its move would be possible again',
  async (t) => {
    const clock = new ManualClock(MONDAY)
    const ledger = await openLedger(t, [OPENING], clock)
    const node = await openNode(t, ledger)
    const id = await node.pay(1701n)
    await atTheBank(ledger, id)
    const unclear = message(id, ledger, { type: 'unclear' })
    await node.queue.inbox([unclear])
    await reaches(ledger, id, 'exception')
    await node.queue.inbox([message(id, ledger, { type: 'pending' })])
    await reaches(ledger, id, 'processing')
    t.strictSame(await node.queue.inbox([unclear]), [unclear.id], 'it need not come again')
    t.match(await see(ledger, id), { status: 'processing' })
    const tooMuch = message(id, ledger, { type: 'returned', schemeCode: 'AC04', amount: 1_702n })
    t.strictSame(await node.queue.inbox([tooMuch]), [tooMuch.id])
    t.match(await see(ledger, id), { status: 'processing' }, 'no more comes back than was sent')
    t.equal((await ledger.read('select from provider_event where object_id = $1', [id])).length, 3)
    await auditIsClean(t, ledger)
  },
)
