/** Commands are data, and a decision is a function of state, command and time. */
import fc from 'fast-check'
import t from 'tap'
import { balanceActor, contractBalance, creditedBalance, exchangingBalance } from '../../../actors/balances/balance.ts'
import { exchangeActor } from '../../../actors/exchange/exchange.ts'
import { quoteActor } from '../../../actors/exchange/quote.ts'
import { paymentActor } from '../../../actors/payments/payment.ts'
import type { ActorKind } from '../../../actors/runtime/actor.ts'
import type { PolicyTerms } from '../../../lib/approvals/policy.ts'
import type { BalanceState } from '../../../lib/balances/balance.ts'
import type { Described } from '../../../lib/decisions/seeded.ts'
import { asContract, type Contract } from '../../../lib/exchange/contract.ts'
import type { DrawContract } from '../../../lib/exchange/draw-contract.ts'
import { sandboxRates } from '../../../lib/exchange/market.ts'
import type { MoveContract } from '../../../lib/exchange/move-contract.ts'
import type { ExchangeCommand } from '../../../lib/exchange/moves.ts'
import type { OpenContract } from '../../../lib/exchange/open-contract.ts'
import { CHART } from '../../../lib/ledger/chart.ts'
import type { PaymentCommand, PaymentState } from '../../../lib/payments/payment-state.ts'
import { newRecall, type RecallCommand } from '../../../lib/payments/recall.ts'
import type { ReleasePayment } from '../../../lib/payments/release-payment.ts'
import { createPayment } from '../../../lib/payments/create-payment.ts'
import {
  balanceState,
  ids,
  MONDAY,
  newKey,
  paymentCommand,
  problemRequest,
  transferCommand,
} from '../../support/commands.ts'
import { exchangeCommand, quoteOf } from '../../support/exchange-commands.ts'

// ── Types
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The type without what is no data: functions, at any depth, are `never`. */
type Data<T> = T extends string | number | bigint | boolean | null | undefined
  ? T
  : T extends (...parameters: never) => unknown
    ? never
    : T extends ReadonlyMap<infer Key, infer Value>
      ? ReadonlyMap<Data<Key>, Data<Value>>
      : unknown extends T
        ? T
        : { readonly [Member in keyof T]: Data<T[Member]> }

type CommandOf<Kind> = Kind extends ActorKind<infer _State, infer Command, infer _Reply> ? Command : never
type IsData<T> = [T] extends [Data<T>] ? true : false

true satisfies IsData<CommandOf<typeof balanceActor>>
true satisfies IsData<CommandOf<typeof creditedBalance>>
true satisfies IsData<CommandOf<typeof exchangingBalance>>
true satisfies IsData<CommandOf<typeof contractBalance>>
true satisfies IsData<CommandOf<typeof paymentActor>>
true satisfies IsData<CommandOf<typeof exchangeActor>>
true satisfies IsData<CommandOf<typeof quoteActor>>
// A function is found at any depth, in one command of several, and in a list or table.
false satisfies IsData<{ readonly answer: () => string }>
false satisfies IsData<{ readonly a: 1 } | { readonly context?: { readonly ids: { next(): string } } }>
false satisfies IsData<{ readonly list: readonly (() => void)[] }>
false satisfies IsData<{ readonly rates: ReadonlyMap<string, (amount: bigint) => bigint> }>

// ── Decisions
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A kind of actor, a command and the states on which it is decided. */
interface Case {
  readonly name: string
  decide(state: unknown, command: unknown, now: number): unknown
  readonly states: readonly unknown[]
  readonly command: object
}

function cases<State, Command extends object, Reply>(
  kind: ActorKind<State, Command, Reply>,
  states: readonly State[],
  commands: Readonly<Record<string, Command>>,
): Case[] {
  return Object.entries(commands).map(([name, command]) => ({
    name: `${kind.name}: ${name}`,
    decide: (state, command, now) => kind.decide(state as State, command as Command, now),
    states,
    command,
  }))
}

const INTERNAL = Object.fromEntries(CHART.map(({ key }) => [key, key]))
const EXCHANGE_ACCOUNTS = { sell: INTERNAL, buy: INTERNAL }
const RATES = sandboxRates(new Map())

/** Asks for an approval of every amount; its currency is another than that of the commands. */
const POLICY: PolicyTerms = {
  enabled: true,
  currency: 'USD',
  appliesTo: null,
  exemptOwnAccounts: false,
  tiers: [
    {
      tier: 1,
      minAmount: 0n,
      maxAmount: null,
      requiredApprovals: 1,
      approverRoles: ['owner'],
      approverUserIds: [],
      approverTeamIds: [],
      allowSelfApproval: false,
      distinctTeams: false,
      expiresAfterHours: 24,
    },
  ],
  recipientMode: 'none',
}

const customerId = ids.next()
const rich = balanceState({ customerId, available: 1_000_000n })
const states: readonly BalanceState[] = [
  rich,
  { ...rich, available: 1n },
  { ...rich, policy: POLICY, exchangePolicy: POLICY },
  { ...rich, status: 'closed' },
]
const place = { customerId, operatorId: rich.operatorId, connectionId: rich.connectionId, shard: rich.shard }
const sides = { from: rich.id, to: ids.next(), accounts: EXCHANGE_ACCOUNTS }
const quote = quoteOf(place, 'EUR', 'USD', 10_000n)
const booking = exchangeCommand(place, quote, sides)
const payment = paymentCommand({ customerId, amount: 500n, approving: { sandboxDecision: null, rates: RATES } })
const decided = createPayment(rich, payment, MONDAY).reply
if (decided.kind !== 'payment_created') throw new Error('the payment was not made')

const contract: Contract = asContract({
  ...booking.exchange,
  kind: 'forward',
  status: 'awaiting_deposit',
  forwardType: 'open',
  remainingSell: quote.sellAmount,
  remainingBuy: quote.buyAmount,
  drawdownFrom: '2026-05-04',
  settlementDate: '2026-06-04',
  deposit: { status: 'awaiting', currency: 'EUR', required: 500n, received: 0n, placed: 0n, dueAt: MONDAY + 1_000 },
})
const recorded = { customerId, key: newKey(), problemRequest, seed: ids.next() }
const contractContext = { accounts: INTERNAL, valueDate: '2026-05-04', sandbox: true }
const opening: OpenContract = {
  kind: 'open_contract',
  ...recorded,
  contract,
  quote: { ...quote, kind: 'forward', depositRequired: 500n, settlementDate: '2026-06-04' },
  pays: { places: true },
  sellBalance: { id: rich.id, name: rich.name },
  approving: { ...booking.approving, rates: RATES },
  context: contractContext,
  refusal: null,
}
const drawing: DrawContract = {
  kind: 'draw_contract',
  ...recorded,
  contract: { ...contract, status: 'active', deposit: null },
  move: { kind: 'draw', side: 'sell', amount: 1_000n },
  order: {
    id: ids.next(),
    number: 'EXC0000000009',
    externalId: null,
    sellBalanceId: rich.id,
    buyBalanceId: sides.to,
    reference: null,
    createdBy: customerId,
    createdVia: 'api_key',
    metadata: {},
  },
  context: { ...contractContext, by: 'member', exchangeAccounts: EXCHANGE_ACCOUNTS },
  refusal: null,
  creditRefused: false,
}
const paying: MoveContract = {
  kind: 'move_contract',
  ...recorded,
  contract,
  move: { kind: 'deposit', amount: null, places: true },
  context: { ...contractContext, by: 'member', message: 'Deposit received.' },
}
const releasing: ReleasePayment = {
  kind: 'release_payment',
  payment: { ...decided.payment, status: 'scheduled' },
  recipient: {
    id: payment.recipient.id,
    status: 'active',
    version: 1n,
    digest: decided.payment.details.recipientDigest ?? '',
  },
  holdId: ids.next(),
  seed: ids.next(),
  until: MONDAY,
}

const PAYMENT: PaymentState = {
  ...place,
  id: ids.next(),
  number: 'PAY0000000001',
  status: 'processing',
  version: 4,
  sent: false,
  sourceBalanceId: rich.id,
  payingBalanceId: rich.id,
  holdId: ids.next(),
  currency: 'EUR',
  amount: 100n,
  fee: 25n,
  spenderId: customerId,
  rail: 'sepa',
  reference: 'Invoice 1',
  recipientName: 'Amsterdam Trading BV',
  createdAt: MONDAY,
  charges: { partner: { amountMinor: '5', passedOn: true } },
  recall: null,
}
const recall = newRecall('sepa', 'DUPL', 'Paid twice.', MONDAY)
const context = { accounts: INTERNAL, valueDate: '2026-05-04' }
const event = { id: ids.next(), type: 'settled' as const }
const hit = { provider: 'list', findings: [], decides: null }
const withdrawal = {
  status: 'cancelled',
  reason: { code: 'cancelled_by_user', message: 'Cancelled.' },
  by: 'member',
} as const
const payee = {
  balanceId: sides.to,
  customerId,
  shard: 7,
  connectionId: rich.connectionId,
  payerConnectionId: rich.connectionId,
  cash: { from: INTERNAL, to: INTERNAL },
  fees: [],
  payer: { name: 'Payer', maskedIdentifier: null, bankName: null, country: null },
  endToEndId: null,
}
/** One move of every kind: a kind that is missing here does not compile. */
const PAYMENT_MOVES: {
  readonly [Kind in (PaymentCommand | RecallCommand)['kind']]: Described<PaymentCommand | RecallCommand>
} = {
  approve: { kind: 'approve', context: { due: { dueAt: MONDAY, until: MONDAY } } },
  withdraw: { kind: 'withdraw', from: 'processing', withdrawal },
  funded: { kind: 'funded', context: {} },
  unfunded: { kind: 'unfunded' },
  hold: { kind: 'hold', hit },
  release: { kind: 'release' },
  block: { kind: 'block', freezeFunds: true },
  hand_over: { kind: 'hand_over', context },
  reroute: {
    kind: 'reroute',
    to: { connectionId: ids.next(), accounts: INTERNAL, routing: '{}', occurrence: 1, afterRefusal: true },
    context,
  },
  book: { kind: 'book', payee, context },
  payee_closed: { kind: 'payee_closed' },
  refused: { kind: 'refused', context, schemeCode: 'TECH', suspenseId: ids.next() },
  timeout: { kind: 'timeout', context, askAgainAt: MONDAY },
  unclear: { kind: 'unclear', context, askAgainAt: MONDAY, event },
  accepted: { kind: 'accepted', context, event },
  still_unknown: { kind: 'still_unknown', askAgainAt: MONDAY },
  settled: { kind: 'settled', context, schemeCode: null, event },
  rejected: { kind: 'rejected', context, schemeCode: 'AC04', event },
  returned: { kind: 'returned', context, amount: 60n, schemeCode: 'AC04', event },
  request_recall: { kind: 'request_recall', recall },
  recall_sent: { kind: 'recall_sent' },
  recall_rejected: { kind: 'recall_rejected', schemeCode: 'CUST', event },
  recall_expired: { kind: 'recall_expired' },
}
const PAYMENT_STATES: readonly PaymentState[] = [
  PAYMENT,
  { ...PAYMENT, status: 'pending_approval' },
  { ...PAYMENT, sent: true },
  { ...PAYMENT, status: 'exception', sent: true },
  { ...PAYMENT, status: 'on_hold' },
  { ...PAYMENT, status: 'completed', sent: true },
  { ...PAYMENT, status: 'completed', sent: true, recall },
  { ...PAYMENT, rail: 'internal' },
  {
    ...PAYMENT,
    holdId: null,
    conversion: { quoteId: quote.id, exchangeId: ids.next(), sellCurrency: 'USD', sellMinor: '120', feeMinor: '0' },
  },
]

const exchangeContext = { accounts: EXCHANGE_ACCOUNTS, valueDate: '2026-05-04', sandbox: true, queueDelayMs: 0 }
const EXCHANGE_MOVES: {
  readonly [Kind in ExchangeCommand['kind']]: Described<ExchangeCommand>
} = {
  settle: { kind: 'settle', sold: 10_000n, bought: 10_700n, netted: false, message: event, context: exchangeContext },
  refuse: { kind: 'refuse', reason: 'FX01', message: event, context: exchangeContext, suspenseId: ids.next() },
  doubt: { kind: 'doubt', why: 'timeout', message: null, context: exchangeContext },
}

/** Draws the seed of each move. */
const seeded = <Move extends object>(moves: Readonly<Record<string, Move>>) =>
  Object.fromEntries(Object.entries(moves).map(([kind, move]) => [kind, { ...move, seed: ids.next() }]))

const id = ids.next()
const CASES: readonly Case[] = [
  ...cases(balanceActor, states, {
    create_payment: payment,
    release_payment: releasing,
    create_transfer: transferCommand({
      customerId,
      amount: 5n,
      toBalanceId: sides.to,
      toConnectionId: rich.connectionId,
    }),
  }),
  ...cases(creditedBalance, states, {
    receive_credit: {
      kind: 'receive_credit',
      key: { id, fingerprint: id },
      event: { id, type: 'account.credited' as const },
      connectionId: rich.connectionId,
      credit: {
        reference: id,
        amount: 700n,
        currency: 'EUR',
        payerName: 'Payer',
        payerIdentifier: null,
        payerBankName: null,
        payerCountry: null,
        remittance: null,
        rail: 'sepa',
        endToEndId: null,
        uetr: null,
        valueDate: '2026-05-04',
      },
      hit,
      accounts: INTERNAL,
      seed: ids.next(),
    },
  }),
  ...cases(exchangingBalance, states, {
    book_exchange: { ...booking, approving: { ...booking.approving, rates: RATES } },
  }),
  ...cases(contractBalance, states, { open_contract: opening, draw_contract: drawing, move_contract: paying }),
  ...cases(paymentActor, PAYMENT_STATES, seeded(PAYMENT_MOVES)),
  ...cases(exchangeActor, [{ exchange: booking.exchange, contract: null, payment: null }], seeded(EXCHANGE_MOVES)),
  // This actor keeps no state.
  ...cases(quoteActor, [], { keep_quote: { quote, key: newKey() } }).map((one) => ({ ...one, states: [null] })),
]

for (const { name, states, command, decide } of CASES) {
  t.test(`${name} is decided by state, command and time alone`, async (t) => {
    let effects = 0
    const run = (state: unknown, command: unknown, now: number) => {
      const decision = decide(state, command, now) as { readonly effects: object | null }
      if (decision.effects !== null) effects += 1
      return decision
    }
    fc.assert(
      fc.property(fc.constantFrom(...states), fc.nat(1_000_000), (state, ms) => {
        // A function in the command cannot be cloned.
        const again = structuredClone(command)
        t.strictSame(run(state, again, MONDAY + ms), run(state, command, MONDAY + ms))
      }),
      { numRuns: 25 },
    )
    for (const state of states) run(state, command, MONDAY)
    t.ok(effects > 0, 'a state on which the command has effects')
  })
}

t.test('a function in a command is found', async (t) => {
  t.throws(() => structuredClone({ ...payment, approving: { ids } }), { name: 'DataCloneError' })
})
