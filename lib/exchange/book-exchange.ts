/**
 * The decision to exchange at the rate of a quote, made by the balance that sells: the exchange is booked at once, or
 * its money is held until it is approved. The buying balance only has to be open and of its currency, which the commit
 * checks under its row lock.
 *
 * The checks are in the order of precedence that the API promises: body, state, limits, funds.
 */
import { idsFrom } from '../base/ids.ts'
import { timestamp } from '../base/clock.ts'
import type { BalanceState } from '../balances/balance.ts'
import { moneyProblem } from '../customers/money-access.ts'
import {
  insufficientFunds,
  invalid,
  refuse,
  unrecorded,
  type BalanceDecision,
  type Recorded,
} from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import { together } from '../decisions/merge.ts'
import type { Problem } from '../base/problems.ts'
import { approvalOf, exchangeHold, type ExchangeApproving } from './approval.ts'
import { bookingOf, exchangeEvents, exchangeRow, exchangeUpdate, neededFor, type BookingRule } from './booking.ts'
import type { ExchangeAccounts } from './entries.ts'
import { exchangeBody, moneyConverted, type ExchangeRecord } from './exchange.ts'
import { isExpired, type QuoteRecord } from './quote.ts'

export interface BookExchange extends Recorded {
  readonly kind: 'book_exchange'
  readonly customerId: string
  /** The exchange as it would be if it is booked at once. */
  readonly exchange: ExchangeRecord
  readonly quote: QuoteRecord
  readonly holdId: string
  readonly accounts: ExchangeAccounts
  /** The business day for which the money counts. */
  readonly valueDate: string
  readonly rule?: BookingRule
  /** The operation that books the exchange; the answer stored with the key is its own. Without it: an exchange. */
  readonly operation?: 'add_money' | undefined
  readonly approving: ExchangeApproving
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
  /**
   * A refusal found before the balance decided, or by a commit: the quote is already used, or the externalId is taken.
   */
  readonly refusal: Problem | null
  /** Whether a commit found the buying balance closed or of another currency. */
  readonly creditRefused: boolean
}

export interface ExchangeBooked {
  readonly kind: 'exchange_booked'
  readonly exchange: ExchangeRecord
}

/** Decides the exchange. Pure: `now` is epoch milliseconds. */
export function bookExchange(
  balance: BalanceState | null,
  command: BookExchange,
  now: number,
): BalanceDecision<ExchangeBooked> {
  const { quote, key } = command
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: '/sellBalanceId', code: 'not_found', message: 'No such balance.' })
  }
  if (balance.currency !== quote.sellCurrency) {
    return invalid(balance, {
      field: '/sellBalanceId',
      code: 'currency_mismatch',
      message: `The quote sells ${quote.sellCurrency}, the balance is in ${balance.currency}.`,
    })
  }
  const barred = moneyProblem(balance, 'move')
  if (barred !== null) return unrecorded(balance, barred)
  if (balance.status !== 'active') {
    return {
      ...invalid(balance, { field: '/sellBalanceId', code: 'inactive', message: `The balance is ${balance.status}.` }),
      refused: true,
    }
  }
  if (command.creditRefused)
    return invalid(balance, { field: '/buyBalanceId', code: 'inactive', message: 'The balance does not accept money.' })
  if (command.refusal !== null) return refuse(balance, command, now, command.refusal)
  if (isExpired(quote, now)) return refuse(balance, command, now, expiredQuote(quote))
  const needed = neededFor(command.exchange)
  if (balance.available < needed)
    return { ...refuse(balance, command, now, insufficientFunds(balance, needed)), refused: true }
  const ids = idsFrom(command.seed)
  const approval = approvalOf(balance, command.exchange, quote, command.approving, ids, now)
  const exchange: ExchangeRecord = {
    ...command.exchange,
    createdAt: now,
    updatedAt: now,
    ...(approval === null
      ? {}
      : { status: 'pending_approval', approvalId: approval.approvalId, holdId: command.holdId }),
  }
  const taken: Effects =
    approval === null
      ? bookingOf(exchange, {
          ids,
          accounts: command.accounts,
          valueDate: command.valueDate,
          now,
          ...(command.rule === undefined ? {} : { rule: command.rule }),
        })
      : { holds: [exchangeHold(exchange, command.holdId, now)], approvals: approval.approvals, events: approval.events }
  const effects = together(taken, {
    exchanges: [exchangeRow(exchange)],
    credits: [{ balanceId: exchange.buyBalanceId, currency: exchange.buyCurrency }],
    statusUpdates: [
      exchangeUpdate(
        exchange,
        null,
        approval === null ? 'Exchange booked.' : 'Exchange made, waits for approval.',
        'member',
        now,
      ),
    ],
    events: exchangeEvents(exchange, null, ids, now),
    // A waiting exchange changes when it is approved, so its answer is stored; the answer of one booked at once is
    // rebuilt from its row.
    ...(key === null
      ? {}
      : {
          idempotency: {
            ...key,
            ...kept(command, exchange, approval === null),
            resourceType: 'exchange',
            resourceId: exchange.id,
            createdAt: now,
          },
        }),
  })
  return {
    state: { ...balance, available: balance.available - needed },
    reply: { kind: 'exchange_booked', exchange },
    effects,
  }
}

/**
 * Returns the status and the stored body of the answer; null for an exchange booked at once, whose answer is rebuilt
 * from its row.
 */
function kept(
  { operation }: BookExchange,
  exchange: ExchangeRecord,
  atOnce: boolean,
): { readonly status: number; readonly answer: string | null } {
  if (operation === 'add_money') return { status: 200, answer: JSON.stringify(moneyConverted(exchange)) }
  return { status: 201, answer: atOnce ? null : exchangeBody(exchange) }
}

/** Restores the exchange as it was when it was booked, whatever its present state. */
export function bookedExchange(exchange: ExchangeRecord): ExchangeRecord {
  return {
    ...exchange,
    status: 'processing',
    version: 1,
    settledAt: null,
    failure: null,
    exception: null,
    partnerSold: null,
    partnerBought: null,
    updatedAt: exchange.createdAt,
  }
}

/** Builds the 409 of a quote that has expired. */
export function expiredQuote({ id, expiresAt }: Pick<QuoteRecord, 'id' | 'expiresAt'>): Problem {
  return {
    slug: 'quote-expired',
    detail: 'The quote has expired; create a new quote.',
    extra: { quoteId: id, expiredAt: timestamp(expiresAt) },
  }
}

/** Builds the 409 of a quote that an exchange has already used. */
export function usedQuote(quoteId: string, existingId: string | null): Problem {
  return {
    slug: 'invalid-transition',
    detail: 'The quote was already used.',
    extra: { currentStatus: 'used', allowed: ['unused'], quoteId, ...(existingId === null ? {} : { existingId }) },
  }
}

/** Builds the 409 of an externalId that another exchange has. */
export function takenExternalId(externalId: string | null, existingId: string): Problem {
  return {
    slug: 'duplicate-external-id',
    detail: `externalId ${externalId} belongs to another exchange.`,
    extra: { existingId },
  }
}
