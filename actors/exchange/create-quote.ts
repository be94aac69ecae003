/** Creates quotes: priced from memory, written with the next commit. */
import { EXPIRED_QUOTE_AMOUNT } from '../../lib/sandbox/exchanges.ts'
import { makeQuote, termsOfQuote, type QuoteInput } from '../../lib/exchange/make-quote.ts'
import type { QuoteKind, QuoteRecord } from '../../lib/exchange/quote.ts'
import { usedQuote } from '../../lib/exchange/book-exchange.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Feature } from '../../lib/operators/features.ts'
import { ProblemError, refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { ExchangeFacts, ExchangeFactsCache } from '../../storage/exchange/exchange-facts.ts'
import type { QuoteCache } from '../../storage/exchange/quotes.ts'
import type { FxMarket, FxMarkets } from '../providers/fx.ts'
import { quoteActor } from './quote.ts'
import type { ActorSystem } from '../runtime/system.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'

/** The dependencies of quotes. */
export interface QuoteDeps {
  readonly system: ActorSystem
  readonly desks: Pick<ExchangeFactsCache, 'of' | 'within'>
  readonly quotes: QuoteCache
  readonly balances: BalanceCache
  readonly market: FxMarkets
  readonly hasFeature: (customerId: string, feature: Feature) => Promise<boolean>
  readonly ids: IdSource
  readonly clock: Clock
  readonly sandbox: boolean
}

export type QuoteOutcome =
  | { readonly kind: 'quote_created'; readonly quote: QuoteRecord }
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

const FEATURE_OF: Readonly<Record<QuoteKind, Feature>> = {
  spot: 'exchange.spot',
  forward: 'exchange.forwards',
  held_rate: 'exchange.held_rates',
}

/**
 * Creates a quote.
 *
 * @throws ProblemError when the body refers to something that it may not use; Overloaded, DatabaseUnavailable or
 *   OutcomeUnknown, safe to repeat under the same key
 */
export async function createQuote(deps: QuoteDeps, caller: CommandOrigin, input: QuoteInput): Promise<QuoteOutcome> {
  const { ids, clock, sandbox } = deps
  if (input.kind !== 'drawdown') await mustHave(deps, caller.customerId, input.kind ?? 'spot')
  const desk = await deskOf(deps, caller.customerId)
  const connectionId = (await connectionOf(deps, caller.customerId, input)) ?? desk.connectionId
  const market = await marketOf(deps, connectionId, input.kind === 'drawdown' ? 'spot' : (input.kind ?? 'spot'))
  const made = makeQuote(input, {
    id: ids.next(),
    customerId: caller.customerId,
    connectionId,
    terms: desk.terms,
    calendar: desk.calendar,
    enabled: desk.enabled,
    fees: desk.fees.get(input.sellCurrency) ?? [],
    mid: (sell, buy) => market.mid(sell, buy),
    sandbox,
    expiredSellAmount: sandbox ? EXPIRED_QUOTE_AMOUNT : null,
    now: clock.now(),
  })
  if (made.kind === 'invalid') refuse('validation-error', made.error.message, { errors: [made.error] })
  if (made.kind === 'refused') throw new ProblemError(made.problem)
  const { quote } = made
  const outcome = await deps.system.ask(
    quoteActor,
    caller.customerId,
    caller.shard,
    { quote, key: caller.key },
    caller.deadline,
  )
  if (outcome.kind === 'recorded') return outcome
  if (outcome.kind !== 'decided') throw new Error(`Keeping a quote met ${outcome.kind}.`)
  deps.quotes.remember(quote)
  return { kind: 'quote_created', quote }
}

/**
 * Creates a new quote with the same terms (QU2). The old quote stays as it is.
 *
 * @throws ProblemError `not-found`, `invalid-transition` for a used quote, and the errors of `createQuote`
 */
export async function refreshQuote(deps: QuoteDeps, caller: CommandOrigin, quoteId: string): Promise<QuoteOutcome> {
  const found = await deps.quotes.findWithUse(caller.customerId, quoteId)
  if (found === null) refuseNotFound()
  if (found.used) throw new ProblemError(usedQuote(quoteId, null))
  return await createQuote(deps, caller, termsOfQuote(found.quote))
}

/** Checks that the feature for this kind of quote is on. @throws ProblemError `feature-disabled` */
export async function mustHave(
  { hasFeature }: Pick<QuoteDeps, 'hasFeature'>,
  customerId: string,
  kind: QuoteKind,
): Promise<void> {
  const feature = FEATURE_OF[kind]
  if (!(await hasFeature(customerId, feature)))
    refuse('feature-disabled', `The operator has switched ${feature} off.`, { extra: { feature } })
}

/** Reads the exchange settings of a customer. */
export async function deskOf(
  { desks }: { readonly desks: Pick<ExchangeFactsCache, 'of'> },
  customerId: string,
): Promise<ExchangeFacts> {
  const desk = await desks.of(customerId)
  if (desk === null) refuse('provider-error', 'The customer has no bank at present.')
  return desk
}

/**
 * Finds the market of a connection. Only the bank that keeps the money exchanges it, so no other bank's rate is a
 * substitute.
 *
 * @param kind what is to be made at the rate
 * @throws ProblemError `feature-disabled` where the bank exchanges nothing; `provider-error` where it cannot be used
 */
export async function marketOf(
  { market }: { readonly market: Pick<FxMarkets, 'of'> },
  connectionId: string,
  kind: QuoteKind,
  transaction?: Queries,
): Promise<FxMarket> {
  const found = await market.of(connectionId, transaction)
  if (found === 'not_offered')
    refuse('feature-disabled', 'The bank of the customer exchanges no currencies.', {
      extra: { feature: FEATURE_OF[kind] },
    })
  if (found === 'unusable') refuse('provider-error', 'The bank of the customer offers no exchanges at present.')
  return found
}

/**
 * Finds the connection of the named balances; null when no balance is named. The balances must be the customer's, in
 * the currencies of their sides.
 */
async function connectionOf(
  { balances }: Pick<QuoteDeps, 'balances'>,
  customerId: string,
  { sellBalanceId, buyBalanceId, sellCurrency, buyCurrency }: QuoteInput,
): Promise<string | null> {
  let connectionId: string | null = null
  for (const [field, id, currency] of [
    ['/buyBalanceId', buyBalanceId, buyCurrency],
    ['/sellBalanceId', sellBalanceId, sellCurrency],
  ] as const) {
    if (id === null || id === undefined) continue
    const balance = await balances.find(id)
    if (balance === null || balance.customerId !== customerId) refuseField(field, 'not_found', 'No such balance.')
    if (balance.currency !== currency) refuseField(field, 'currency_mismatch', `The balance is in ${balance.currency}.`)
    if (field === '/sellBalanceId') connectionId = balance.connectionId
  }
  return connectionId
}
