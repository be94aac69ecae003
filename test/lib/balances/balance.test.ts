import { idsFrom } from '../../../lib/base/ids.ts'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import type { BalanceState } from '../../../lib/balances/balance.ts'
import type { BalanceDecision, Refused } from '../../../lib/balances/decision.ts'
import { createPayment } from '../../../lib/payments/create-payment.ts'
import type { CreatePayment, PaymentCreated } from '../../../lib/payments/create-payment-command.ts'
import { createTransfer, type CreateTransfer, type TransferCreated } from '../../../lib/transfers/transfer.ts'
import type { Problem } from '../../../lib/base/problems.ts'
import { balanceState, ids, MONDAY, newKey, paymentCommand, transferCommand } from '../../support/commands.ts'
import { table } from '../../support/table.ts'
import type { RecipientStatus } from '../../../lib/recipients/review.ts'

type Decision = BalanceDecision<PaymentCreated | TransferCreated>

const LIMIT: Problem = { slug: 'limit-exceeded', detail: 'Too much.' }
const CUSTOMER = ids.next()
const CONNECTION = ids.next()

/**
 * The result of a decision: `ok`, `refused <slug>` (remembered under its key) or `invalid <code>` (answered, and
 * nothing is remembered). `again` follows where fresher state could turn the no into a yes (I4).
 */
function outcomeOf({ reply, effects, refused }: Decision): string {
  const again = refused === true ? ' again' : ''
  if (reply.kind !== 'refused') return effects === null ? 'ok, but writes nothing' : `ok${again}`
  const { problem } = reply as Refused
  return problem.errors === undefined ? `refused ${problem.slug}${again}` : `invalid ${problem.errors[0]?.code}${again}`
}

const flatFee = (fixed: bigint): BalanceState['fees'] => [
  { kind: 'payment', rail: null, fixed, bps: 0n, min: 0n, max: null, taxBps: 0n, refundable: false, passedOn: false },
]

/** Runs a table over balances that exist only in it. */
function run(t: Test, text: string): void {
  const balances = new Map<string, BalanceState>()
  for (const row of table(text)) {
    const balance = balances.get(row.subject) ?? null
    const said = row.settings
    const common = {
      customerId: said['customer'] === 'other' ? ids.next() : CUSTOMER,
      amount: row.amount ?? 0n,
      currency: said['currency'] ?? 'EUR',
      externalId: said['external'] ?? null,
      externalIdOwner: said['external'] === 'used' ? ids.next() : null,
      policyRefusal: said['policy'] === 'limit' ? LIMIT : null,
    }
    let decision: Decision
    switch (row.verb) {
      case 'balance':
        balances.set(
          row.subject,
          balanceState({
            customerId: CUSTOMER,
            connectionId: CONNECTION,
            available: BigInt(said['available'] ?? 0),
            currency: said['currency'] ?? 'EUR',
            status: (said['status'] ?? 'active') as BalanceState['status'],
          }),
        )
        continue
      case 'expect':
        t.equal(balance?.available, BigInt(said['available'] ?? -1), row.text)
        continue
      case 'payment': {
        const command = paymentCommand(common)
        decision = createPayment(
          balance === null ? null : { ...balance, fees: flatFee(BigInt(said['fee'] ?? 0)) },
          {
            ...command,
            recipient: { ...command.recipient, status: (said['recipient'] ?? 'active') as RecipientStatus },
          },
          MONDAY,
        )
        break
      }
      case 'transfer':
        decision = createTransfer(
          balance,
          transferCommand({
            ...common,
            toBalanceId: balances.get(row.other!)?.id ?? ids.next(),
            toConnectionId: said['connection'] === 'other' ? ids.next() : CONNECTION,
            creditRefused: said['credit'] === 'refused',
          }),
          MONDAY,
        )
        break
      default:
        throw new SyntaxError(`no such verb: ${row.text}`)
    }
    t.equal(outcomeOf(decision), row.outcome, row.text)
    if (decision.state !== null) balances.set(row.subject, decision.state)
  }
}

t.test('a payment takes what is available, fee included, and not a unit more', (t) => {
  run(
    t,
    `
    balance A  available 100
    payment A  40            => ok
    expect  A  available 60
    payment A  61            => refused insufficient-funds again
    payment A  60  fee 1     => refused insufficient-funds again
    expect  A  available 60
    payment A  59  fee 1     => ok
    expect  A  available 0
    payment A  1             => refused insufficient-funds again`,
  )
  t.end()
})

t.test('a transfer leaves its balance at once and reaches the other one without its decision', (t) => {
  run(
    t,
    `
    balance  A  available 100
    balance  B  available 0
    transfer A -> B  40   => ok
    transfer A -> B  61   => refused insufficient-funds again
    transfer A -> B  60   => ok
    expect   A  available 0
    expect   B  available 0     # the commit credits it
    transfer B -> A  1    => refused insufficient-funds again`,
  )
  t.end()
})

t.test('a balance that may not pay does not, whatever it holds', (t) => {
  run(
    t,
    `
    balance A  available 100
    balance F  available 100  status frozen
    balance C  available 100  status closing
    balance X  available 0    status closed
    balance U  available 100  currency USD
    payment A  1  customer other      => invalid not_found
    payment ?  1                      => invalid not_found
    payment U  1                      => invalid quote_required
    payment U  1  currency USD        => ok
    payment F  1                      => invalid inactive again
    payment C  1                      => invalid inactive again
    payment X  1                      => invalid inactive again
    transfer A -> F  1 customer other => invalid not_found
    transfer ? -> A  1                => invalid not_found
    transfer U -> A  1                => invalid currency_mismatch
    transfer F -> A  1                => invalid inactive again
    transfer A -> X  1 credit refused => invalid inactive
    expect  A  available 100
    expect  F  available 100`,
  )
  t.end()
})

// The order of precedence: body, state, duplicates, recipient, limits, funds. Of two things that are wrong, the earlier
// is told.
interface Fault<Command> {
  readonly outcome: string
  readonly state?: (balance: BalanceState) => BalanceState | null
  readonly command?: (command: Command) => Command
}

const PAYMENT_FAULTS: readonly Fault<CreatePayment>[] = [
  { outcome: 'invalid not_found', command: (command) => ({ ...command, customerId: ids.next() }) },
  { outcome: 'invalid quote_required', state: (balance) => ({ ...balance, currency: 'USD' }) },
  { outcome: 'invalid inactive again', state: (balance) => ({ ...balance, status: 'frozen' }) },
  {
    outcome: 'refused duplicate-external-id',
    command: (command) => ({ ...command, externalId: 'x', externalIdOwner: ids.next() }),
  },
  {
    outcome: 'refused recipient-not-approved',
    command: (command) => ({ ...command, recipient: { ...command.recipient, status: 'pending_approval' } }),
  },
  { outcome: 'refused limit-exceeded', command: (command) => ({ ...command, policyRefusal: LIMIT }) },
  { outcome: 'refused insufficient-funds again', state: (balance) => ({ ...balance, available: 0n }) },
]
const TRANSFER_FAULTS: readonly Fault<CreateTransfer>[] = [
  { outcome: 'invalid not_found', command: (command) => ({ ...command, customerId: ids.next() }) },
  { outcome: 'invalid currency_mismatch', state: (balance) => ({ ...balance, currency: 'USD' }) },
  { outcome: 'invalid inactive again', state: (balance) => ({ ...balance, status: 'closing' }) },
  { outcome: 'invalid inactive', command: (command) => ({ ...command, creditRefused: true }) },
  {
    outcome: 'refused duplicate-external-id',
    command: (command) => ({ ...command, externalId: 'x', externalIdOwner: ids.next() }),
  },
  { outcome: 'refused limit-exceeded', command: (command) => ({ ...command, policyRefusal: LIMIT }) },
  { outcome: 'refused insufficient-funds again', state: (balance) => ({ ...balance, available: 0n }) },
]

const newPayment = (balance: BalanceState) => paymentCommand({ customerId: balance.customerId, amount: 5n })
const newTransfer = (balance: BalanceState) =>
  transferCommand({
    customerId: balance.customerId,
    amount: 5n,
    toBalanceId: ids.next(),
    toConnectionId: balance.connectionId,
  })

function inPrecedence<Command>(
  t: Test,
  faults: readonly Fault<Command>[],
  make: (balance: BalanceState) => Command,
  decide: (balance: BalanceState | null, command: Command, now: number) => Decision,
): void {
  const sound = balanceState({ available: 100n })
  t.equal(outcomeOf(decide(sound, make(sound), MONDAY)), 'ok', 'nothing is wrong')
  faults.forEach((first, at) => {
    for (const second of faults.slice(at)) {
      const both = [second, first]
      const balance = both.reduce<BalanceState | null>(
        (state, fault) => (state === null ? null : (fault.state?.(state) ?? state)),
        sound,
      )
      const command = both.reduce((made, fault) => fault.command?.(made) ?? made, make(sound))
      t.equal(outcomeOf(decide(balance, command, MONDAY)), first.outcome, `${first.outcome} before ${second.outcome}`)
    }
    t.equal(
      outcomeOf(decide(null, make(sound), MONDAY)),
      'invalid not_found',
      'no balance at all comes before everything',
    )
  })
}

t.test('of two things wrong with a payment the earlier of the promised order is told', (t) => {
  inPrecedence(t, PAYMENT_FAULTS, newPayment, createPayment)
  t.end()
})

t.test('of two things wrong with a transfer the earlier of the promised order is told', (t) => {
  inPrecedence(t, TRANSFER_FAULTS, newTransfer, createTransfer)
  t.end()
})

function remembersItsRefusals<Command extends { readonly key: unknown }>(
  t: Test,
  faults: readonly Fault<Command>[],
  make: (balance: BalanceState) => Command,
  decide: (balance: BalanceState | null, command: Command, now: number) => Decision,
): void {
  for (const { outcome, state, command } of faults) {
    const sound = balanceState({ available: 100n })
    const balance = state?.(sound) ?? sound
    const key = newKey()
    const faulty = { ...(command?.(make(sound)) ?? make(sound)), key }
    const keyed = decide(balance, faulty, MONDAY)
    const reply = keyed.reply as Refused
    t.strictSame(keyed.state, balance, `${outcome}: the balance stays as it is`)
    if (outcome.startsWith('invalid')) {
      t.equal(keyed.effects, null, `${outcome}: nothing is remembered of a body that is wrong`)
      t.equal(reply.body, null, `${outcome}: no document is kept`)
    } else {
      t.ok(reply.body, `${outcome}: the answer is a document`)
      t.strictSame(Object.keys(keyed.effects ?? {}), ['idempotency'], `${outcome}: its key is all that is written`)
      t.match(
        keyed.effects?.idempotency,
        { ...key, resourceId: null, answer: reply.body, createdAt: MONDAY },
        `${outcome}: under its key`,
      )
      t.ok((keyed.effects?.idempotency?.status ?? 0) >= 400, `${outcome}: with the status of the refusal`)
    }
    const unkeyed = decide(balance, { ...faulty, key: null }, MONDAY)
    t.equal(unkeyed.effects, null, `${outcome}: without a key nothing is written`)
    t.equal((unkeyed.reply as Refused).problem.slug, reply.problem.slug, `${outcome}: without a key the same no`)
  }
}

t.test('a no is remembered under its key, a wrong body is not', (t) => {
  remembersItsRefusals(t, PAYMENT_FAULTS, newPayment, createPayment)
  remembersItsRefusals(t, TRANSFER_FAULTS, newTransfer, createTransfer)
  t.end()
})

t.test(
  'an accepted payment writes its row, its hold, its first update, its event, its instruction and its key, all of one story',
  (t) => {
    const balance = balanceState({ available: 1_000n, fees: flatFee(25n) })
    const command = paymentCommand({
      customerId: balance.customerId,
      amount: 100n,
      externalId: 'order-1',
      metadata: { po: '7' },
    })
    const { effects, state, reply } = createPayment(balance, command, MONDAY)
    t.equal(state?.available, 875n)
    t.strictSame(
      Object.keys(effects ?? {}).sort(),
      ['events', 'facts', 'holds', 'idempotency', 'instructions', 'payments', 'statusUpdates'],
      'and no posting: L10 comes with the hand-over',
    )
    t.match(effects?.holds, [
      { id: command.holdId, balanceId: balance.id, amount: 125n, subjectType: 'payment', subjectId: command.paymentId },
    ])
    t.match(effects?.payments, [
      {
        id: command.paymentId,
        holdId: command.holdId,
        status: 'processing',
        amount: 100n,
        fee: 25n,
        externalId: 'order-1',
        metadata: '{"po":"7"}',
        sourceBalanceId: balance.id,
        shard: balance.shard,
        createdAt: MONDAY,
      },
    ])
    t.match(effects?.statusUpdates, [
      {
        objectId: command.paymentId,
        version: 1,
        status: 'processing',
        previousStatus: null,
        actor: 'member',
        at: MONDAY,
      },
    ])
    t.match(effects?.events, [
      {
        id: idsFrom(command.seed).next(),
        type: 'payment.created',
        objectId: command.paymentId,
        status: 'processing',
        amount: 100n,
        createdAt: MONDAY,
      },
    ])
    t.strictSame(effects?.instructions, [{ paymentId: command.paymentId, shard: balance.shard }])
    t.strictSame(
      effects?.facts,
      [{ recipientId: command.recipient.id, version: 1n }],
      'it rests on the recipient as it was read',
    )
    t.match(effects?.idempotency, {
      ...command.key,
      status: 201,
      resourceId: command.paymentId,
      answer: null,
      createdAt: MONDAY,
    })
    t.match(reply, {
      kind: 'payment_created',
      payment: { id: command.paymentId, version: 1, status: 'processing', createdAt: MONDAY },
    })
    for (const rows of [
      effects?.holds,
      effects?.payments,
      effects?.statusUpdates,
      effects?.events,
      effects?.instructions,
    ])
      t.equal(rows?.length, 1)
    t.end()
  },
)

t.test('an accepted transfer writes its row, L20, its update, its event and its key', (t) => {
  const balance = balanceState({ available: 1_000n })
  const command = newTransfer(balance)
  const { effects, state } = createTransfer(balance, command, MONDAY)
  t.equal(state?.available, 995n)
  t.strictSame(Object.keys(effects ?? {}).sort(), [
    'events',
    'idempotency',
    'places',
    'postings',
    'statusUpdates',
    'transfers',
  ])
  t.match(effects?.postings, [
    {
      entryId: command.entryId,
      ordinal: 0,
      rule: 'L20',
      amount: 5n,
      sourceId: command.transferId,
      currency: 'EUR',
      debit: { kind: 'balance', id: balance.id },
      credit: { kind: 'balance', id: command.toBalanceId, fence: 'open' },
      reversalOf: null,
    },
  ])
  t.match(effects?.transfers, [
    {
      id: command.transferId,
      status: 'completed',
      completedAt: MONDAY,
      fromBalanceId: balance.id,
      toBalanceId: command.toBalanceId,
    },
  ])
  t.match(effects?.statusUpdates, [
    { objectId: command.transferId, version: 1, status: 'completed', previousStatus: null },
  ])
  t.match(effects?.events, [{ id: command.eventId, type: 'transfer.completed', objectId: command.transferId }])
  t.match(effects?.idempotency, { ...command.key, status: 201, resourceId: command.transferId, answer: null })
  for (const rows of [effects?.postings, effects?.transfers, effects?.statusUpdates, effects?.events])
    t.equal(rows?.length, 1)
  t.end()
})

t.test('without a key an accepted command remembers none', (t) => {
  const balance = balanceState({ available: 100n })
  t.notOk('idempotency' in (createPayment(balance, { ...newPayment(balance), key: null }, MONDAY).effects ?? {}))
  t.notOk('idempotency' in (createTransfer(balance, { ...newTransfer(balance), key: null }, MONDAY).effects ?? {}))
  t.end()
})

// ── Properties
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

const command = fc.record({
  transfer: fc.boolean(),
  amount: fc.bigInt(1n, 60n),
  fee: fc.bigInt(0n, 9n),
  keyed: fc.boolean(),
})
const turn = fc.record({ available: fc.bigInt(0n, 300n), commands: fc.array(command, { maxLength: 40 }) })

t.test('whatever is asked, nothing is taken that is not there, and what is gone is held or posted', (t) => {
  fc.assert(
    fc.property(turn, ({ available, commands }) => {
      let balance: BalanceState = Object.freeze(balanceState({ available }))
      let taken = 0n
      for (const { transfer, amount, fee, keyed } of commands) {
        const before = balance
        const key = keyed ? newKey() : null
        const decision: Decision = transfer
          ? createTransfer(balance, Object.freeze({ ...newTransfer(balance), amount, key }), MONDAY)
          : createPayment(
              Object.freeze({ ...balance, fees: flatFee(fee) }),
              Object.freeze({ ...newPayment(balance), amount, key }),
              MONDAY,
            )
        const need = transfer ? amount : amount + fee
        const accepted = decision.reply.kind !== 'refused'
        if (accepted !== before.available >= need) return false
        const held = (decision.effects?.holds ?? []).reduce((sum, hold) => sum + hold.amount, 0n)
        const posted = (decision.effects?.postings ?? []).reduce((sum, posting) => sum + posting.amount, 0n)
        if (held + posted !== (accepted ? need : 0n)) return false
        if (keyed !== (decision.effects?.idempotency !== undefined)) return false
        taken += held + posted
        balance = Object.freeze(decision.state as BalanceState)
        if (balance.available < 0n || balance.available !== available - taken) return false
        if (balance.version !== before.version || balance.id !== before.id) return false
      }
      return true
    }),
    { numRuns: 1_000 },
  )
  t.end()
})

t.test('the same command on the same balance at the same time is decided the same way', (t) => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n), fc.boolean(), (available, transfer) => {
      const balance = balanceState({ available })
      const [once, twice] = transfer
        ? ((made) => [createTransfer(balance, made, MONDAY), createTransfer(balance, made, MONDAY)])(
            newTransfer(balance),
          )
        : ((made) => [createPayment(balance, made, MONDAY), createPayment(balance, made, MONDAY)])(newPayment(balance))
      t.strictSame(once, twice)
    }),
    { numRuns: 20 },
  )
  t.end()
})

t.test('a row that cannot be read fails its test instead of being skipped', (t) => {
  for (const row of ['payment', 'payment A 1 fee', 'payment A 1 fee 1 fee 2', 'payment A => ok => ok'])
    t.throws(() => table(row), SyntaxError, row)
  t.strictSame(table('# only a comment'), [])
  t.end()
})
