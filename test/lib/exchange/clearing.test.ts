/**
 * The money of exchanges, all pairs of the market: what is booked, settled, taken back and approved leaves nothing in
 * fx_clearing, balances in each currency, and is for the customer exactly what the exchange says.
 *
 *   SEED=123 npm test -- test/lib/exchange/clearing.test.ts
 */
import t from 'tap'
import { bookApproved, withdrawExchange, notCarriedOut } from '../../../lib/exchange/approval.ts'
import { bookingOf, neededFor, type BookingContext } from '../../../lib/exchange/booking.ts'
import type { ExchangeAccounts } from '../../../lib/exchange/entries.ts'
import { NEW_EXCHANGE, type ExchangeRecord } from '../../../lib/exchange/exchange.ts'
import { marketRate, MARKET_CURRENCIES } from '../../../lib/exchange/market.ts'
import { moveExchange, type ExchangeCommand } from '../../../lib/exchange/moves.ts'
import { price, type Priced } from '../../../lib/exchange/pricing.ts'
import type { Fraction } from '../../../lib/exchange/rate.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import { CHART, type AccountKey } from '../../../lib/ledger/chart.ts'
import type { Posting } from '../../../lib/ledger/posting.ts'
import type { InternalAccounts } from '../../../lib/ledger/entry.ts'
import { ids, MONDAY } from '../../support/commands.ts'
import { Random } from '../../support/random.ts'

const SEED = Number(process.env['SEED'] ?? 1)

/** An account of the chart, by its key and currency. */
const accountsOf = (currency: string): InternalAccounts =>
  Object.fromEntries(CHART.map(({ key }) => [key, `${key} ${currency}`])) as Record<AccountKey, string>

function exchangeOf(
  random: Random,
  sellCurrency: CurrencyCode,
  buyCurrency: CurrencyCode,
  priced: Priced,
): ExchangeRecord {
  return {
    ...NEW_EXCHANGE,
    id: ids.next(),
    customerId: 'customer',
    operatorId: 'operator',
    connectionId: 'connection',
    shard: 1,
    number: 'EXC0000000001',
    externalId: null,
    kind: 'spot',
    status: 'processing',
    quoteId: ids.next(),
    sellBalanceId: 'sell',
    buyBalanceId: 'buy',
    sellCurrency,
    buyCurrency,
    sellAmount: priced.sell,
    buyAmount: priced.buy,
    rate: priced.rate,
    partnerRate: priced.partnerRate,
    fixedSide: 'sell',
    fee: random.chance(0.5) ? 0n : BigInt(random.int(1, 5_000)),
    tradeDate: '2026-05-04',
    settlementDate: '2026-05-04',
    reference: null,
    createdBy: 'key',
    createdVia: 'api_key',
    metadata: {},
    createdAt: MONDAY,
    updatedAt: MONDAY,
  }
}

/** The gain of every account, by its id; credits count up. */
function gains(postings: readonly Posting[]): Map<string, bigint> {
  const found = new Map<string, bigint>()
  for (const { debit, credit, amount } of postings) {
    if (amount <= 0n) throw new Error(`A posting of ${amount}.`)
    found.set(debit.id, (found.get(debit.id) ?? 0n) - amount)
    found.set(credit.id, (found.get(credit.id) ?? 0n) + amount)
  }
  return found
}

/** An amount that the partner may book: the agreed amount, or slightly more or less. */
const nearly = (random: Random, amount: bigint): bigint => {
  const moved = amount + BigInt(random.int(-3, 3)) * (amount / 1_000n + 1n)
  return random.chance(0.3) ? amount : moved < 1n ? 1n : moved
}

t.test(`whatever becomes of an exchange, nothing is left between (SEED=${SEED})`, (t) => {
  const random = new Random(SEED)
  const wrong: string[] = []
  const expect = (what: string, found: bigint | undefined, wanted: bigint) => {
    if ((found ?? 0n) !== wanted && wrong.length < 5) wrong.push(`${what}: ${found ?? 0n}, not ${wanted}`)
  }
  let checked = 0
  for (const sell of MARKET_CURRENCIES) {
    for (const buy of MARKET_CURRENCIES) {
      if (sell === buy) continue
      const fixedSide = random.pick(['sell', 'buy'] as const)
      const priced = price(
        { fixedSide, amount: BigInt(random.int(1_000, 100_000_000)), sellCurrency: sell, buyCurrency: buy },
        marketRate(sell, buy, [], MONDAY) as Fraction,
        random.int(0, 200),
      )
      if (typeof priced === 'string') continue
      const accounts: ExchangeAccounts = { sell: accountsOf(sell), buy: accountsOf(buy) }
      const context: BookingContext = {
        ids,
        accounts,
        valueDate: '2026-05-04',
        now: MONDAY,
        rule: random.pick(['L30', 'L81'] as const),
      }
      const exchange = exchangeOf(random, sell, buy, priced)
      const { sellAmount: S, buyAmount: B, fee: F } = exchange
      const booked = bookingOf(exchange, context).postings
      const name = `${S} ${sell} for ${B} ${buy}`
      const after = (command: ExchangeCommand): Map<string, bigint> => {
        const { effects } = moveExchange({ exchange, contract: null, payment: null }, command, MONDAY)
        return gains([...booked, ...(effects?.postings ?? [])])
      }
      const move = {
        message: null,
        context: { ids, accounts, valueDate: '2026-05-04', sandbox: false, queueDelayMs: 0 },
      }
      const balanced = (found: Map<string, bigint>, what: string) => {
        for (const currency of [sell, buy]) {
          expect(`${what} ${name}, fx_clearing in ${currency}`, found.get(`fx_clearing ${currency}`), 0n)
          const side = currency === sell ? 'sell' : 'buy'
          const sum = [...found]
            .filter(([id]) => id.endsWith(` ${currency}`) || id === side)
            .reduce((total, [, gain]) => total + gain, 0n)
          expect(`${what} ${name}, all of ${currency}`, sum, 0n)
        }
      }

      const Sp = nearly(random, S)
      const Bp = nearly(random, B)
      const settled = after({ kind: 'settle', sold: Sp, bought: Bp, netted: false, ...move })
      balanced(settled, 'settled')
      expect(`settled ${name}, sold`, settled.get('sell'), -(S + F))
      expect(`settled ${name}, bought`, settled.get('buy'), B)
      // Credits count up, and nostro is an asset: what the partner takes is a credit there.
      expect(`settled ${name}, taken by the partner`, settled.get(`nostro ${sell}`), Sp)
      expect(`settled ${name}, given by the partner`, settled.get(`nostro ${buy}`), -Bp)
      expect(
        `settled ${name}, margin`,
        (settled.get(`inc_fx ${sell}`) ?? 0n) + (settled.get(`exp_fx ${sell}`) ?? 0n),
        S - Sp,
      )
      expect(
        `settled ${name}, margin`,
        (settled.get(`inc_fx ${buy}`) ?? 0n) + (settled.get(`exp_fx ${buy}`) ?? 0n),
        Bp - B,
      )

      const netted = after({ kind: 'settle', sold: S, bought: B, netted: true, ...move })
      balanced(netted, 'netted')
      expect(`netted ${name}`, netted.get('buy'), B)
      const failed = after({ kind: 'refuse', reason: 'no', ...move })
      balanced(failed, 'failed')
      expect(`failed ${name}, sold`, failed.get('sell'), 0n)
      expect(`failed ${name}, fee`, failed.get(`inc_fee ${sell}`), 0n)

      const waiting: ExchangeRecord = { ...exchange, status: 'pending_approval', holdId: 'hold' }
      const anew: Priced = { ...priced, sell: nearly(random, S) }
      const approved = bookApproved(waiting, random.chance(0.5) ? anew : null, () => 'none', context)
      const [hold] = approved.holdResolutions!
      const paid = -(gains(approved.postings!).get('sell') ?? 0n)
      expect(`approved ${name}, held`, hold!.amount, neededFor(exchange))
      expect(`approved ${name}, captured`, hold!.capturedAmount ?? 0n, paid < hold!.amount ? paid : hold!.amount)
      const given = withdrawExchange(waiting, notCarriedOut('rate_moved'), 'none', ids, MONDAY)
      expect(`rejected ${name}`, given.holdResolutions![0]!.amount, neededFor(exchange))
      expect(`rejected ${name}, postings`, BigInt(given.postings?.length ?? 0), 0n)
      checked += 1
    }
  }
  t.strictSame(wrong, [])
  t.ok(checked > 400, `${checked} pairs`)
  t.end()
})
