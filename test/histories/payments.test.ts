/**
 * Thousands of commands in whatever order: payments, transfers and exchanges of tight balances, and everything that
 * partners, gates and customers may say of a payment or an exchange, at any moment of its life and to either of two
 * nodes at once. None is ever in a state that its table does not have, none is moved twice by one word, no quote is
 * used twice, and the books are right.
 *
 *   SEED=123 npm test -- test/histories/payments.test.ts
 */
import t from 'tap'
import type { Test } from 'tap'
import { balanceActor, exchangingBalance } from '../../actors/balances/balance.ts'
import { exchangeActor } from '../../actors/exchange/exchange.ts'
import { paymentActor } from '../../actors/payments/payment.ts'
import { ActorSystem } from '../../actors/runtime/system.ts'
import { ManualClock } from '../../lib/base/clock.ts'
import type { ExchangeAccounts } from '../../lib/exchange/entries.ts'
import type { ExchangeCommand } from '../../lib/exchange/moves.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import type { PaymentMoveContext, PaymentCommand } from '../../lib/payments/payment-state.ts'
import { newRecall, type RecallCommand } from '../../lib/payments/recall.ts'
import { ids, MONDAY, paymentCommand, transferCommand } from '../support/commands.ts'
import { exchangeCommand, quoteOf } from '../support/exchange-commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../support/ledger.ts'
import { Random } from '../support/random.ts'
import { hearers, overloaded, SEEDS, tell } from './history.ts'

const COMMANDS = 3_000
/** Askers at the same time. */
const ASKERS = 32
const OPENINGS = [9_000n, 2_000n, 0n]
const FEE = 7n
/** Payments that are talked about; beyond them only these are. */
const PAYMENTS_MAX = 200
const EXCHANGES_MAX = 120
/** Another balance, which buys dollars and sells them. */
const DOLLARS = { currency: 'USD', amount: 3_000n } as const

/** Every change of a status that there may be. */
const LEGAL = new Set([
  '→processing',
  'processing→processing',
  'processing→cancelled',
  'processing→on_hold',
  'processing→completed',
  'processing→failed',
  'processing→exception',
  'processing→returned',
  'exception→processing',
  'exception→completed',
  'exception→failed',
  'exception→returned',
  'completed→completed',
  'completed→returned',
])
const LEGAL_OF_EXCHANGES = new Set([
  '→processing',
  'processing→completed',
  'processing→failed',
  'processing→exception',
  'exception→completed',
  'exception→failed',
])
const reason = { code: 'cancelled_by_user', message: 'The payment was cancelled.' }

class Histories {
  readonly #ledger: Ledger
  readonly #random: Random
  readonly #nodes: readonly ActorSystem[]
  readonly #context: PaymentMoveContext
  /** Of euros and dollars. */
  readonly #euros: ExchangeAccounts['sell']
  readonly #dollars: ExchangeAccounts['sell']
  readonly payments: { readonly id: string; readonly amount: bigint }[] = []
  readonly exchanges: { readonly id: string; readonly quote: QuoteRecord }[] = []
  readonly seen = { made: 0, refused: 0, moved: 0, ignored: 0, exchanged: 0, used: 0 }

  constructor(ledger: Ledger, random: Random, nodes: readonly ActorSystem[], accounts: ExchangeAccounts) {
    this.#ledger = ledger
    this.#random = random
    this.#nodes = nodes
    this.#context = { accounts: accounts.sell, ids, valueDate: '2026-05-04' }
    this.#euros = accounts.sell
    this.#dollars = accounts.buy
  }

  /** Two nodes that write one balance may lose to each other too often; whoever is told so has done nothing. */
  async next(): Promise<void> {
    await this.#next().catch(overloaded)
  }

  async #next(): Promise<void> {
    const made = this.payments.length
    if (made < 4 || (made < PAYMENTS_MAX && this.#random.chance(0.15))) await this.#pay()
    else if (this.#random.chance(0.1)) await this.#transfer()
    // Each condition draws a random number of its own.
    // biome-ignore lint/suspicious/noDuplicateElseIf: the same chance, drawn anew
    else if (this.exchanges.length < EXCHANGES_MAX && this.#random.chance(0.1)) await this.#exchange()
    else if (this.exchanges.length > 0 && this.#random.chance(0.2)) await this.#sayOfExchange()
    else await this.#say()
  }

  async #pay(): Promise<void> {
    const { customerId, apiKeyId, recipient, balances, shard } = this.#ledger
    const command = paymentCommand({
      customerId,
      createdBy: apiKeyId,
      recipient,
      amount: BigInt(this.#random.int(1, 900)),
    })
    const outcome = await this.#random
      .pick(this.#nodes)
      .ask(balanceActor, this.#random.pick(balances.slice(0, -1)), shard, command)
    if (outcome.kind === 'decided' && outcome.reply.kind === 'payment_created') {
      this.payments.push({ id: command.paymentId, amount: command.amount })
      this.seen.made += 1
    } else this.seen.refused += 1
  }

  async #transfer(): Promise<void> {
    const {
      customerId,
      apiKeyId,
      balances: [...balances],
      shard,
      connectionId,
    } = this.#ledger
    balances.pop()
    const from = this.#random.pick(balances)
    const toBalanceId = this.#random.pick(balances.filter((id) => id !== from))
    const command = transferCommand({
      customerId,
      createdBy: apiKeyId,
      toBalanceId,
      toConnectionId: connectionId,
      amount: BigInt(this.#random.int(1, 900)),
    })
    await this.#random.pick(this.#nodes).ask(balanceActor, from, shard, command)
  }

  /** Makes an exchange from a quote, which sometimes two commands use at once. */
  async #exchange(): Promise<void> {
    const { balances, shard } = this.#ledger
    const [dollars, euros] = [balances.at(-1) as string, this.#random.pick(balances.slice(0, -1))]
    const selling = this.#random.chance(0.6)
    const quote = quoteOf(
      this.#ledger,
      selling ? 'EUR' : 'USD',
      selling ? 'USD' : 'EUR',
      BigInt(this.#random.int(1, 900)),
      this.#random.chance(0.5) ? FEE : 0n,
    )
    const [from, to] = selling ? [euros, dollars] : [dollars, euros]
    const accounts = selling ? { sell: this.#euros, buy: this.#dollars } : { sell: this.#dollars, buy: this.#euros }
    const nodes = hearers(this.#random, this.#nodes)
    const answers = await Promise.all(
      nodes.map((node) =>
        node
          .ask(exchangingBalance, from, shard, exchangeCommand(this.#ledger, quote, { from, to, accounts }))
          .catch(overloaded),
      ),
    )
    for (const outcome of answers) {
      if (outcome?.kind === 'quote_used') this.seen.used += 1
      if (outcome?.kind !== 'decided') continue
      if (outcome.reply.kind === 'exchange_booked') this.exchanges.push({ id: outcome.reply.exchange.id, quote })
      this.seen[outcome.reply.kind === 'exchange_booked' ? 'exchanged' : 'refused'] += 1
    }
  }

  /** The partner says something of an exchange, sometimes to both nodes. */
  async #sayOfExchange(): Promise<void> {
    const { id, quote } = this.#random.pick(this.exchanges)
    const selling = quote.sellCurrency === 'EUR'
    const accounts = selling ? { sell: this.#euros, buy: this.#dollars } : { sell: this.#dollars, buy: this.#euros }
    const context = { ids, accounts, valueDate: '2026-05-04', sandbox: false, queueDelayMs: 0 }
    const words: (() => ExchangeCommand)[] = [
      () => ({
        kind: 'settle',
        sold: quote.sellAmount,
        bought: quote.buyAmount + BigInt(this.#random.int(0, 9)),
        netted: this.#random.chance(0.2),
        message: { id: ids.next(), type: 'settled' },
        context,
      }),
      () => ({ kind: 'refuse', reason: 'FX01', message: { id: ids.next(), type: 'refused' }, context }),
      () => ({ kind: 'doubt', why: 'timeout', message: null, context }),
    ]
    const word = this.#random.pick(words)
    const nodes = hearers(this.#random, this.#nodes)
    for (const outcome of await Promise.all(
      nodes.map((node) =>
        node.ask(exchangeActor, id, this.#ledger.shard, { ...word(), seed: ids.next() }).catch(overloaded),
      ),
    )) {
      if (outcome === null) continue
      if (outcome.kind !== 'decided') throw new Error(`a word met ${outcome.kind}`)
      this.seen[outcome.reply.kind === 'moved' ? 'moved' : 'ignored'] += 1
    }
  }

  /** Sends a command about a payment; half of the time both nodes get it at once. */
  async #say(): Promise<void> {
    const { id, amount } = this.#random.pick(this.payments)
    const word = this.#word(amount)
    const nodes = hearers(this.#random, this.#nodes)
    const answers = await Promise.allSettled(
      nodes.map((node) => node.ask(paymentActor, id, this.#ledger.shard, { ...word(), seed: ids.next() })),
    )
    for (const answer of answers) {
      if (answer.status === 'rejected') throw answer.reason
      const outcome = answer.value
      if (outcome.kind !== 'decided') throw new Error(`a word met ${outcome.kind}`)
      this.seen[outcome.reply.kind === 'moved' ? 'moved' : 'ignored'] += 1
    }
  }

  /** Something to say; each time it is said it is another message. */
  #word(amount: bigint): () => PaymentCommand | RecallCommand {
    const context = this.#context
    const event = () => ({ id: ids.next(), type: 'settled' as const })
    const words: (() => PaymentCommand | RecallCommand)[] = [
      () => ({ kind: 'hand_over', context }),
      () => ({ kind: 'hand_over', context }),
      () => ({
        kind: 'withdraw',
        from: 'processing',
        withdrawal: { status: 'cancelled', reason, by: 'member' },
        context,
      }),
      () => ({ kind: 'hold', hit: { provider: 'list', findings: [], decides: null }, context }),
      () => ({ kind: 'settled', context, schemeCode: null, event: event() }),
      () => ({ kind: 'rejected', context, schemeCode: 'AC04', event: event() }),
      () => ({ kind: 'refused', context, schemeCode: 'TECH' }),
      () => ({ kind: 'timeout', context, askAgainAt: MONDAY }),
      () => ({ kind: 'unclear', context, askAgainAt: MONDAY, event: event() }),
      () => ({ kind: 'accepted', context, event: event() }),
      () => ({ kind: 'still_unknown', askAgainAt: MONDAY }),
      // Sometimes more than was ever sent.
      () => ({
        kind: 'returned',
        context,
        amount: BigInt(this.#random.int(1, Number(amount) + 50)),
        schemeCode: 'AC04',
        event: event(),
      }),
      () => ({ kind: 'request_recall', recall: newRecall('sepa', 'DUPL', 'Paid twice by mistake.', MONDAY), context }),
      () => ({ kind: 'recall_sent' }),
      () => ({ kind: 'recall_rejected', schemeCode: 'CUST', context, event: event() }),
      () => ({ kind: 'recall_expired', context }),
    ]
    return this.#random.pick(words)
  }
}

async function run(t: Test, seed: number): Promise<void> {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [...OPENINGS, DOLLARS], clock)
  await ledger.read(
    `insert into pricing_template (id, operator_id, name, created_at, updated_at) values ($1, $1, 'Standard', now(), now())`,
    [ledger.operatorId],
  )
  await ledger.read('update operator set pricing_template_id = id', [])
  await ledger.read(
    `insert into fee_rule (template_id, kind, currency, fixed_minor, tax_bps, refundable) values ($1, 'payment', 'EUR', $2, 2000, true)`,
    [ledger.operatorId, FEE.toString()],
  )
  const bugs: string[] = []
  const nodes = [0, 1].map(
    () =>
      new ActorSystem({
        databaseUrl: ledger.url,
        lanes: 1,
        clock,
        onBug: (error, what) => bugs.push(`${what}: ${(error as Error).stack}`),
      }),
  )
  t.teardown(async () => {
    await Promise.all(nodes.map((node) => node.close()))
  })
  const { operatorId, connectionId } = ledger
  const [sell, buy] = await Promise.all(
    ['EUR', 'USD'].map((currency) => ledger.accounts.accounts({ operatorId, connectionId, currency })),
  )
  const histories = new Histories(ledger, new Random(seed), nodes, { sell: sell!, buy: buy! })
  await tell({ words: COMMANDS, askers: ASKERS, clock }, () => histories.next())

  const { seen } = histories
  t.ok(
    seen.made > 40 &&
      seen.refused > 5 &&
      seen.moved > 100 &&
      seen.ignored > 200 &&
      seen.exchanged > 40 &&
      seen.used > 5,
    `much was said, to some purpose and to none: ${JSON.stringify(seen)}`,
  )
  t.strictSame(bugs, [], 'and nothing was a bug')
  const changes = await ledger.read<[string, string, string]>(
    `select coalesce(u.previous_status, '') || '→' || u.status, count(*), min(u.object_id::text) from status_update u join payment p on p.id = u.object_id group by 1`,
  )
  t.strictSame(
    changes.filter(([change]) => !LEGAL.has(change)),
    [],
    'no status was reached from where it cannot be',
  )
  t.ok(changes.length > LEGAL.size / 2, `${changes.length} of ${LEGAL.size} were met`)
  const exchanged = await ledger.read<[string, string, string]>(
    `select coalesce(u.previous_status, '') || '→' || u.status, count(*), min(u.object_id::text) from status_update u join exchange e on e.id = u.object_id group by 1`,
  )
  t.strictSame(
    exchanged.filter(([change]) => !LEGAL_OF_EXCHANGES.has(change)),
    [],
  )
  t.equal(exchanged.length, LEGAL_OF_EXCHANGES.size, 'every move of an exchange was met')
  t.strictSame(
    await ledger.read(
      `select e.id from exchange e where e.version <> (select count(*) from status_update u where u.object_id = e.id)`,
    ),
    [],
  )
  t.strictSame(
    await ledger.read(
      `select p.id from payment p where p.version <> (select count(*) from status_update u where u.object_id = p.id)`,
    ),
    [],
    'each version has its line',
  )
  const funds = await Promise.all(ledger.balances.map((id) => ledger.funds(id)))
  t.strictSame(
    funds.filter(({ posted, held }) => posted - held < 0n),
    [],
    'no balance is overdrawn',
  )
  await auditIsClean(t, ledger)
}

for (const seed of SEEDS) t.test(`thousands of words in any order (SEED=${seed})`, (t) => run(t, seed))
