/**
 * Collects the quote of a payment and the data that its exchange needs, before the paying balance decides
 * (lib/payments/conversion.ts). The moves of the exchange determine the fate of the payment when the exchange ends
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
import type { CommandOrigin } from '../commands/command-origin.ts'

/** Turns customers' quotes into conversion orders. */
export interface Conversions {
  /**
   * Reads the conversion of a payment made from a quote. Opens a balance for the bought currency where there is none.
   *
   * @param options `usedBy`: the exchange that uses the quote already, as a commit has found. `draw` false: for a check
   *   only, so no order number is used up.
   * @throws ProblemError when the quote does not exist, or no balance can receive the bought currency
   */
  orderOf(
    caller: Pick<CommandOrigin, 'customerId' | 'key'>,
    quoteId: string,
    options: { readonly usedBy: string | null; readonly draw: boolean },
  ): Promise<ConversionOrder>
}

/** Creates conversions from the same quotes that exchanges are made from. */
export function createConversions(deps: ExchangeDeps): Conversions {
  const { database, accounts, orderNumbers, balances, quotes, ids, clock } = deps

  /**
   * Finds the quote and the balance that receives the bought currency. A check opens no balance: when the balance would
   * have to be opened, its id is null.
   */
  async function found(
    caller: Pick<CommandOrigin, 'customerId' | 'key'>,
    quoteId: string,
    draw: boolean,
  ): Promise<Pick<FoundQuote, 'quote'> & { readonly buyBalanceId: string | null }> {
    const quote = draw ? null : await quotes.find(caller.customerId, quoteId)
    const opens =
      quote !== null &&
      quote.kind === 'spot' &&
      quote.buyBalanceId === null &&
      !(await defaultBalances(database, caller.customerId, [quote.buyCurrency])).has(quote.buyCurrency)
    return opens ? { quote, buyBalanceId: null } : await findQuote(deps, caller, { quoteId }, 'spot').catch(ofPayment)
  }

  return {
    async orderOf(caller, quoteId, { usedBy, draw }) {
      const [{ quote, buyBalanceId }, desk] = await Promise.all([
        found(caller, quoteId.toLowerCase(), draw),
        deskOf(deps, caller.customerId),
      ])
      const scope = (currency: string) => ({ operatorId: desk.operatorId, connectionId: quote.connectionId, currency })
      const [sell, buy, fees, number, balance] = await Promise.all([
        accounts.accounts(scope(quote.sellCurrency)),
        accounts.accounts(scope(quote.buyCurrency)),
        buyBalanceId === null ? [] : feeRulesOf(database.pool, buyBalanceId),
        draw ? orderNumbers.take() : 0n,
        buyBalanceId === null ? null : balances.find(buyBalanceId),
      ])
      return {
        quote,
        exchangeId: ids.next(),
        exchangeNumber: orderNumber('EXC', number),
        fees,
        buyBalance: { id: buyBalanceId ?? NOT_OPENED, connectionId: balance?.connectionId ?? quote.connectionId },
        booking: { accounts: { sell, buy }, valueDate: dateIn(clock.now(), 'UTC') },
        usedBy,
      }
    },
  }
}

/** No balance has this id. */
const NOT_OPENED = '00000000-0000-0000-0000-000000000000'

/** Reports faults of the quote's balances as faults of the quote, because a payment names no balances but its own. */
function ofPayment(error: unknown): never {
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error
  throw new ProblemError({
    ...error.problem,
    errors: error.problem.errors.map((one) => ({ ...one, field: '/quoteId' })),
  })
}
