/**
 * The quote of a payment, with everything else that its exchange needs, brought together before the paying balance decides
 * (lib/payments/conversion.ts). What becomes of the payment when the exchange ends is said by the exchange's moves
 * (lib/exchange/bought-for.ts).
 */
import { dateIn } from '../../lib/base/clock.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import type { ConversionOrder } from '../../lib/payments/conversion.ts'
import { ProblemError } from '../../lib/base/problems.ts'
import { defaultBalances } from '../../storage/exchange/exchange-balances.ts'
import { feeRulesOf } from '../../storage/pricing/pricing.ts'
import { findQuote, type ExchangeDeps, type FoundQuote } from '../exchange/create-exchange.ts'
import { deskOf } from '../exchange/create-quote.ts'
import type { Caller } from '../commands/caller.ts'

/** What customers' quotes come to. */
export interface Conversions {
  /**
   * What a payment needs to be made from a quote. A balance for what it buys is opened where there is none.
   *
   * @param options `usedBy`: the exchange that a commit has found it used by. `draw` false: nothing is made, so no number is used up.
   * @throws ProblemError when there is no such quote, or nowhere for what it buys
   */
  orderOf(caller: Pick<Caller, 'customerId' | 'key'>, quoteId: string, options: { readonly usedBy: string | null; readonly draw: boolean }): Promise<ConversionOrder>
}

/** Conversions by quotes that exchanges are made of, too. */
export function createConversions(world: ExchangeDeps): Conversions {
  const { database, accounts, orderNumbers, balances, quotes, ids, clock } = world

  /** The quote and where what it buys comes to. What is only looked at opens no balance: it has the one that is yet to be opened, which has no id. */
  async function found(caller: Pick<Caller, 'customerId' | 'key'>, quoteId: string, draw: boolean): Promise<Pick<FoundQuote, 'quote'> & { readonly buyBalanceId: string | null }> {
    const quote = draw ? null : await quotes.find(caller.customerId, quoteId)
    const opens = quote !== null && quote.kind === 'spot' && quote.buyBalanceId === null && !(await defaultBalances(database, caller.customerId, [quote.buyCurrency])).has(quote.buyCurrency)
    return opens ? { quote, buyBalanceId: null } : await findQuote(world, caller, { quoteId }, 'spot').catch(ofPayment)
  }

  return {
    async orderOf(caller, quoteId, { usedBy, draw }) {
      const [{ quote, buyBalanceId }, desk] = await Promise.all([found(caller, quoteId.toLowerCase(), draw), deskOf(world, caller.customerId)])
      const scope = (currency: string) => ({ operatorId: desk.operatorId, connectionId: quote.connectionId, currency })
      const [sell, buy, fees, number, balance] = await Promise.all([
        accounts.accounts(scope(quote.sellCurrency)), accounts.accounts(scope(quote.buyCurrency)), buyBalanceId === null ? [] : feeRulesOf(database.pool, buyBalanceId),
        draw ? orderNumbers.take() : 0n, buyBalanceId === null ? null : balances.find(buyBalanceId),
      ])
      return {
        quote, exchangeId: ids.next(), exchangeNumber: orderNumber('EXC', number), fees,
        buyBalance: { id: buyBalanceId ?? NOT_OPENED, connectionId: balance?.connectionId ?? quote.connectionId },
        booking: { accounts: { sell, buy }, valueDate: dateIn(clock.now(), 'UTC') }, usedBy,
      }
    },
  }
}

/** No balance has this id. */
const NOT_OPENED = '00000000-0000-0000-0000-000000000000'

/** A payment names no balances but its own: what is wrong with those of its quote is wrong with the quote. */
function ofPayment(error: unknown): never {
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error
  throw new ProblemError({ ...error.problem, errors: error.problem.errors.map((one) => ({ ...one, field: '/quoteId' })) })
}
