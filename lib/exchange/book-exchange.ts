/**
 * The decision to exchange at the rate of a quote, taken by the balance that sells (X1, X2): booked at once, or held until people
 * have approved it. The balance that buys only has to be open and of its currency, which the commit checks under its row lock.
 *
 * The ladder is in the order of precedence that the API promises: body, state, limits, funds.
 */
import { timestamp } from '../base/clock.ts'
import type { BalanceState } from '../balances/balance.ts'
import { insufficientFunds, invalid, refuse, type BalanceDecision, type Recorded } from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import { together } from '../decisions/merge.ts'
import type { Problem } from '../base/problems.ts'
import { approvalOf, exchangeHold, type ExchangeApproving } from './approval.ts'
import { bookingOf, exchangeEvents, exchangeUpdate, neededFor, type BookingRule } from './booking.ts'
import type { ExchangeAccounts } from './entries.ts'
import { exchangeJson, exchangeRow, type ExchangeRecord } from './exchange.ts'
import { isExpired, type QuoteRecord } from './quote.ts'

export interface BookExchange extends Recorded {
  readonly kind: 'book_exchange'
  readonly customerId: string
  /** As it is when it is booked at once. */
  readonly exchange: ExchangeRecord
  readonly quote: QuoteRecord
  readonly holdId: string
  readonly accounts: ExchangeAccounts
  /** The business day the money counts for. */
  readonly valueDate: string
  readonly rule?: BookingRule
  /** What its key remembers as the body of a 200, where the answer is not the exchange itself. */
  readonly answer?: ((exchange: ExchangeRecord) => string) | undefined
  readonly approving: ExchangeApproving
  /** A no that was found before the balance was asked, or by a commit: the quote is used, the externalId taken. */
  readonly refusal: Problem | null
  /** Whether a commit found the other balance closed or of another currency. */
  readonly creditRefused: boolean
}

export interface ExchangeBooked {
  readonly kind: 'exchange_booked'
  readonly exchange: ExchangeRecord
}

/** Decides it. Pure: `now` is epoch milliseconds. */
export function bookExchange(balance: BalanceState | null, command: BookExchange, now: number): BalanceDecision<ExchangeBooked> {
  const { quote, key } = command
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: '/sellBalanceId', code: 'not_found', message: 'No such balance.' })
  }
  if (balance.currency !== quote.sellCurrency) {
    return invalid(balance, { field: '/sellBalanceId', code: 'currency_mismatch', message: `The quote sells ${quote.sellCurrency}, the balance is in ${balance.currency}.` })
  }
  if (balance.status !== 'active') {
    return { ...invalid(balance, { field: '/sellBalanceId', code: 'inactive', message: `The balance is ${balance.status}.` }), refused: true }
  }
  if (command.creditRefused) return invalid(balance, { field: '/buyBalanceId', code: 'inactive', message: 'The balance does not accept money.' })
  if (command.refusal !== null) return refuse(balance, command, now, command.refusal)
  if (isExpired(quote, now)) return refuse(balance, command, now, expiredQuote(quote))
  const needed = neededFor(command.exchange)
  if (balance.available < needed) return { ...refuse(balance, command, now, insufficientFunds(balance, needed)), refused: true }
  const { ids } = command.approving
  const approval = approvalOf(balance, command.exchange, quote, command.approving, now)
  const exchange: ExchangeRecord = {
    ...command.exchange, createdAt: now, updatedAt: now,
    ...(approval === null ? {} : { status: 'pending_approval', approvalId: approval.approvalId, holdId: command.holdId }),
  }
  const taken: Effects = approval === null
    ? bookingOf(exchange, { ids, accounts: command.accounts, valueDate: command.valueDate, now, ...(command.rule === undefined ? {} : { rule: command.rule }) })
    : { holds: [exchangeHold(exchange, command.holdId, now)], approvals: approval.approvals, events: approval.events }
  const effects = together(taken, {
    exchanges: [exchangeRow(exchange)],
    credits: [{ balanceId: exchange.buyBalanceId, currency: exchange.buyCurrency }],
    statusUpdates: [exchangeUpdate(exchange, null, approval === null ? 'Exchange booked.' : 'Exchange made, waits for approval.', 'member', now)],
    events: exchangeEvents(exchange, null, ids, now),
    // What waits for people is changed by them: only what is booked can be told again from its row.
    ...(key === null ? {} : { idempotency: { ...key, ...kept(command, exchange, approval === null), resourceId: exchange.id, createdAt: now } }),
  })
  return { state: { ...balance, available: balance.available - needed }, reply: { kind: 'exchange_booked', exchange }, effects }
}

/** What is remembered of the answer; what was booked at once can be told again from its row. */
function kept({ answer }: BookExchange, exchange: ExchangeRecord, atOnce: boolean): { readonly status: number; readonly answer: string | null } {
  if (answer !== undefined) return { status: 200, answer: answer(exchange) }
  return { status: 201, answer: atOnce ? null : JSON.stringify(exchangeJson(exchange)) }
}

/** The exchange as it was when it was booked, whatever has become of it since. */
export function bookedExchange(exchange: ExchangeRecord): ExchangeRecord {
  return { ...exchange, status: 'processing', version: 1, settledAt: null, failure: null, exception: null, partnerSold: null, partnerBought: null, updatedAt: exchange.createdAt }
}

/** The 409 of a quote that is no longer valid. */
export function expiredQuote({ id, expiresAt }: Pick<QuoteRecord, 'id' | 'expiresAt'>): Problem {
  return { slug: 'quote-expired', detail: 'The quote has expired; ask for a new one.', extra: { quoteId: id, expiredAt: timestamp(expiresAt) } }
}

/** The 409 of a quote that an exchange was made of. */
export function usedQuote(quoteId: string, existingId: string | null): Problem {
  return { slug: 'invalid-transition', detail: 'The quote is used already.', extra: { currentStatus: 'used', allowed: [], quoteId, ...(existingId === null ? {} : { existingId }) } }
}

/** The 409 of a client's reference that another exchange has. */
export function takenExternalId(externalId: string | null, existingId: string): Problem {
  return { slug: 'duplicate-external-id', detail: `externalId ${externalId} belongs to another exchange.`, extra: { existingId } }
}
