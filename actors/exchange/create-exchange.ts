/**
 * Brings an exchange from a quote to the balance that decides it: finds the quote and its balances, and opens a balance
 * for the bought currency where there is none. The kind of the quote determines whether the exchange is a spot, a
 * forward or a held rate.
 */
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import { dateIn } from '../../lib/base/clock.ts'
import { expiredQuote, takenExternalId, usedQuote, type BookExchange } from '../../lib/exchange/book-exchange.ts'
import type { BookingRule } from '../../lib/exchange/booking.ts'
import { NEW_EXCHANGE, type ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { isExpired, type QuoteKind, type QuoteRecord } from '../../lib/exchange/quote.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { ProblemError, refuse, refuseField, type Problem } from '../../lib/base/problems.ts'
import {
  balanceName,
  defaultBalances,
  openBuyBalance,
  type DefaultBalance,
} from '../../storage/exchange/exchange-balances.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { Database } from '../../storage/db/database.ts'
import type { ExchangeFacts } from '../../storage/exchange/exchange-facts.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { exchangingBalance, type ExchangeBookReply } from '../balances/balance.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import { deskOf, marketOf, mustHave, type QuoteDeps } from './create-quote.ts'
import type { ContractOutcome } from './exchange-contracts.ts'
import { openExchangeContract, PLAIN_TERMS, type ForwardTerms } from './open-contract.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'

/** The further dependencies of exchanges. */
export interface ExchangeDeps extends QuoteDeps {
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
}

/** An exchange as the API takes it, checked for shape. */
export interface ExchangeInput {
  readonly quoteId: string
  readonly sellBalanceId?: string | null
  readonly buyBalanceId?: string | null
  readonly reference?: string | null
  readonly externalId?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

export type ExchangeOutcome =
  | ExchangeBookReply
  | ContractOutcome
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/** A quote with the data that its exchange needs. */
export interface FoundQuote {
  readonly quote: QuoteRecord
  readonly desk: ExchangeFacts
  readonly sellBalance: DefaultBalance
  readonly buyBalanceId: string
}

/**
 * Makes an exchange from a quote of any kind.
 *
 * @param kind the kind that the quote must have; without it, any kind
 * @throws ProblemError when the body refers to something that it may not use; Overloaded, DatabaseUnavailable or
 *   OutcomeUnknown, safe to repeat under the same key
 */
export async function createExchange(
  deps: ExchangeDeps,
  caller: CommandOrigin,
  input: ExchangeInput,
  kind?: QuoteKind,
  terms: ForwardTerms = PLAIN_TERMS,
): Promise<ExchangeOutcome> {
  const found = await findQuote(deps, caller, input, kind)
  const { reference = null, externalId = null, metadata = {} } = input
  if (found.quote.kind === 'spot') return await bookSpot(deps, caller, found, { reference, externalId, metadata })
  const { quote, desk, sellBalance, buyBalanceId } = found
  return await openExchangeContract(deps, caller, {
    quote,
    desk,
    sellBalance,
    buyBalanceId,
    terms,
    reference,
    externalId,
    metadata,
    rates: deps.market.rates(),
  })
}

/** Finds the quote and its balances. @throws ProblemError when the quote does not exist, or its balances do not fit */
export async function findQuote(
  deps: ExchangeDeps,
  caller: Pick<CommandOrigin, 'customerId' | 'key'>,
  input: Pick<ExchangeInput, 'quoteId' | 'sellBalanceId' | 'buyBalanceId'>,
  kind?: QuoteKind,
): Promise<FoundQuote> {
  const { database, quotes, clock } = deps
  const { customerId } = caller
  const quote = await quotes.find(customerId, input.quoteId)
  if (quote === null) refuseField('/quoteId', 'not_found', 'No such quote.')
  if (kind !== undefined && quote.kind !== kind)
    refuseField('/quoteId', 'invalid_value', `The quote is of a ${quote.kind}.`)
  await mustHave(deps, customerId, quote.kind)
  const desk = await deskOf(deps, customerId)
  await marketOf(deps, quote.connectionId, quote.kind)
  const sellBalanceId = input.sellBalanceId ?? quote.sellBalanceId
  const buyBalanceId = input.buyBalanceId ?? quote.buyBalanceId
  const missing = [
    ...(sellBalanceId === null ? [quote.sellCurrency] : []),
    ...(buyBalanceId === null ? [quote.buyCurrency] : []),
  ]
  const defaults = missing.length === 0 ? undefined : await defaultBalances(database, customerId, missing)
  const sellBalance =
    sellBalanceId === null
      ? defaults?.get(quote.sellCurrency)
      : {
          id: sellBalanceId,
          name: quote.kind === 'spot' ? '' : ((await balanceName(database, customerId, sellBalanceId)) ?? ''),
        }
  if (sellBalance === undefined)
    refuseField('/sellBalanceId', 'not_found', `There is no balance in ${quote.sellCurrency}.`)
  const seller = await deps.balances.find(sellBalance.id)
  if (seller === null || seller.customerId !== customerId)
    refuseField('/sellBalanceId', 'not_found', 'No such balance.')
  if (seller.currency !== quote.sellCurrency)
    refuseField(
      '/sellBalanceId',
      'currency_mismatch',
      `The quote sells ${quote.sellCurrency}, the balance is in ${seller.currency}.`,
    )
  if (seller.connectionId !== quote.connectionId)
    refuseField('/sellBalanceId', 'invalid_value', 'The quote is of another bank than the balance’s.')
  if (buyBalanceId !== null) {
    const buyer = await deps.balances.find(buyBalanceId)
    if (buyer === null || buyer.customerId !== customerId) refuseField('/buyBalanceId', 'not_found', 'No such balance.')
    if (buyer.currency !== quote.buyCurrency)
      refuseField(
        '/buyBalanceId',
        'currency_mismatch',
        `The quote buys ${quote.buyCurrency}, the balance is in ${buyer.currency}.`,
      )
    return { quote, desk, sellBalance, buyBalanceId }
  }
  const known = defaults?.get(quote.buyCurrency)
  if (known !== undefined) return { quote, desk, sellBalance, buyBalanceId: known.id }
  // An expired quote is refused by the balance that sells, and no balance is opened for it. Without a key the refusal
  // is not recorded, so it is thrown here.
  const now = clock.now()
  if (isExpired(quote, now) && caller.key === null) throw new ProblemError(expiredQuote(quote))
  if (isExpired(quote, now)) return { quote, desk, sellBalance, buyBalanceId: sellBalance.id }
  const opened = await openBuyBalance(database, deps.ids, { customerId, currency: quote.buyCurrency, now })
  switch (opened) {
    case 'not_enabled':
      return refuseField('/buyBalanceId', 'inactive', `${quote.buyCurrency} is not enabled.`)
    case 'customer_not_active':
      return refuse('customer-not-active', 'The customer cannot open a balance at present.')
    case 'too_many':
      return refuse('limit-reached', 'The customer has the maximum number of balances.', {
        extra: { resource: 'balance' },
      })
    default:
      return { quote, desk, sellBalance, buyBalanceId: opened.id }
  }
}

/** The details of an exchange that its request adds to the quote. */
export interface ExchangeDetails {
  readonly reference: string | null
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly rule?: BookingRule
  /** The operation whose answer is recorded under the key, where that is not the exchange itself. */
  readonly operation?: BookExchange['operation']
}

/**
 * Brings a spot to the balance that sells, and repeats it until it is booked or refused.
 *
 * @throws Overloaded, DatabaseUnavailable or OutcomeUnknown
 */
export async function bookSpot(
  deps: ExchangeDeps,
  caller: CommandOrigin,
  found: FoundQuote,
  details: ExchangeDetails,
): Promise<ExchangeBookReply | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }> {
  let refusal: Problem | null = null
  let creditRefused = false
  return await askUntilDecided(
    { ...caller, system: deps.system, actor: exchangingBalance, id: found.sellBalance.id },
    () => commandOf(deps, caller, found, details, { refusal, creditRefused }),
    (conflict) => {
      switch (conflict.kind) {
        case 'quote_used':
          refusal = usedQuote(found.quote.id, conflict.existingId)
          return 'again'
        case 'external_id_used':
          refusal = takenExternalId(details.externalId, conflict.existingId)
          return 'again'
        case 'credit_refused':
          creditRefused = true
          return 'again'
        default:
          throw new Error(`Booking an exchange met ${conflict.kind}.`)
      }
    },
    'balance',
  )
}

async function commandOf(
  deps: ExchangeDeps,
  caller: CommandOrigin,
  { quote, desk, sellBalance, buyBalanceId }: FoundQuote,
  { reference, externalId, metadata, rule, operation }: ExchangeDetails,
  { refusal, creditRefused }: Pick<BookExchange, 'refusal' | 'creditRefused'>,
): Promise<BookExchange> {
  const { ids, clock, accounts, sandbox, market } = deps
  const now = clock.now()
  const valueDate = dateIn(now, 'UTC')
  const { operatorId, shard } = desk
  const { connectionId, sellCurrency, buyCurrency } = quote
  const [sell, buy] = await Promise.all(
    [sellCurrency, buyCurrency].map((currency) => accounts.accounts({ operatorId, connectionId, currency })),
  )
  const exchange: ExchangeRecord = {
    ...NEW_EXCHANGE,
    id: ids.next(),
    customerId: caller.customerId,
    operatorId,
    connectionId,
    shard,
    number: orderNumber('EXC', await deps.orderNumbers.take()),
    externalId,
    kind: 'spot',
    status: 'processing',
    quoteId: quote.id,
    sellBalanceId: sellBalance.id,
    buyBalanceId,
    sellCurrency,
    buyCurrency,
    sellAmount: quote.sellAmount,
    buyAmount: quote.buyAmount,
    rate: quote.rate,
    partnerRate: quote.partnerRate,
    fixedSide: quote.fixedSide,
    fee: quote.fee,
    tradeDate: valueDate,
    settlementDate: valueDate,
    reference,
    createdBy: caller.createdBy,
    createdVia: caller.createdVia,
    metadata: inStoredOrder(metadata),
    createdAt: now,
    updatedAt: now,
  }
  return {
    kind: 'book_exchange',
    customerId: caller.customerId,
    key: caller.key,
    problemRequest: caller.problemRequest,
    exchange,
    quote,
    holdId: ids.next(),
    accounts: { sell: sell!, buy: buy! },
    valueDate,
    refusal,
    creditRefused,
    operation,
    ...(rule === undefined ? {} : { rule }),
    seed: ids.next(),
    approving: {
      requestedByName: caller.createdByName,
      sandboxDecision: sandbox ? sandboxDecisionIn([reference ?? '']) : null,
      rates: market.rates(),
    },
  }
}
