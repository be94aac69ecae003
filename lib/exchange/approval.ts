/**
 * Exchanges that wait for people (X1, X6), and what they become when everybody has approved (X2).
 *
 *   pending_approval ──approve──▶ processing          a spot: booked as if it had never waited
 *          │             │
 *          │             └─ the rate has moved too far, or the money does not reach any more ─▶ rejected
 *          └──withdraw──▶ rejected, cancelled         its money is free again
 *
 * A spot holds its money while it waits: what it sells, and its fee. Contracts (forwards, held rates) hold none; what becomes of
 * them on approval is theirs to say (actors/exchange/exchange-contracts.ts).
 */
import { opening, type SandboxDecision } from '../approvals/opening.ts'
import { tierFor, type Convert } from '../approvals/policy.ts'
import { timestamp } from '../base/clock.ts'
import type { IdSource } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects, HoldRow, StatusUpdate } from '../decisions/effects.ts'
import type { PaymentPart } from './effects.ts'
import { failureOf, type Failure, type FailureCode } from '../rails/failure-codes.ts'
import { bookingOf, exchangeEvents, exchangeUpdate, neededFor, type BookingContext } from './booking.ts'
import type { ExchangeRecord, ExchangeStatus } from './exchange.ts'
import type { Priced } from './pricing.ts'
import type { QuoteRecord } from './quote.ts'
import { formatRate } from './rate.ts'

/** What an approval needs to know of who asks, should one be needed. */
export interface ExchangeApproving {
  readonly ids: IdSource
  readonly requestedByName: string
  /** The decision of the sandbox's own approver, when the reference asks for one. */
  readonly sandboxDecision: SandboxDecision | null
  /** What an amount is worth in the currency of a policy, by the market as it was when this was asked. */
  readonly convert: Convert
}

/** What an approval keeps of its exchange beyond what is shown: how long the quote holds, which may be forgotten by the time of the decision. */
export interface ExchangePayload {
  /** Epoch milliseconds. */
  readonly quoteExpiresAt: number
  /** Of a held rate. */
  readonly holdMinutes: number | null
}

/** The approval that an exchange has to wait for, with its event; null when it needs nobody. The exchange is as it would be without. */
export function approvalOf(
  { id: balanceId, name, exchangePolicy: policy }: Pick<BalanceState, 'id' | 'name' | 'exchangePolicy'>, exchange: ExchangeRecord, quote: Pick<QuoteRecord, 'expiresAt' | 'holdMinutes'>,
  approving: ExchangeApproving, now: number,
): (Required<Pick<Effects, 'approvals' | 'events'>> & { readonly approvalId: string }) | null {
  const match = tierFor(policy, { amount: exchange.sellAmount, currency: exchange.sellCurrency, balanceId }, approving.convert)
  if (policy === null || match === null) return null
  const approvalId = approving.ids.next()
  const payload: ExchangePayload = { quoteExpiresAt: quote.expiresAt, holdMinutes: quote.holdMinutes }
  return {
    approvalId,
    ...opening({
      id: approvalId, eventId: approving.ids.next(), customerId: exchange.customerId, operatorId: exchange.operatorId, shard: exchange.shard,
      subjectType: 'exchange', subjectId: exchange.id,
      subject: {
        title: `Exchange ${exchange.number}, ${exchange.sellCurrency} to ${exchange.buyCurrency}`,
        amount: { amountMinor: exchange.sellAmount.toString(), currency: exchange.sellCurrency }, recipientName: null, sourceBalanceId: balanceId, sourceBalanceName: name,
        rail: null, itemCount: null, recipientMaskedIdentifier: null,
      },
      payload: JSON.stringify(payload), kind: 'exchange', source: 'snapshot', tier: match.tier, tierCurrency: policy.currency, converted: match.converted,
      requestedBy: exchange.createdBy, requestedByName: approving.requestedByName, sandboxDecision: approving.sandboxDecision,
    }, now),
  }
}

/** What a spot holds while it waits: what it would sell, and its fee. */
export function exchangeHold(exchange: ExchangeRecord, holdId: string, now: number): HoldRow {
  return {
    id: holdId, balanceId: exchange.sellBalanceId, customerId: exchange.customerId, amount: neededFor(exchange), subjectType: 'exchange', subjectId: exchange.id,
    description: `Exchange ${exchange.number}`, createdAt: now,
  }
}

/** How it ends without having been booked. */
export interface ExchangeWithdrawal {
  readonly status: Extract<ExchangeStatus, 'rejected' | 'cancelled'>
  readonly message: string
  readonly failure: Failure | null
  readonly by: StatusUpdate['actor']
}

/** X6: it is withdrawn, and its money is free again. `payment`: what that means for the payment that it would have bought for. */
export function withdrawExchange(
  exchange: ExchangeRecord, { status, message, failure, by }: ExchangeWithdrawal, payment: Exclude<PaymentPart, 'waits'>, ids: IdSource, now: number,
): Effects {
  const shown = failure === null ? null : { ...failure, at: timestamp(now) }
  const next: ExchangeRecord = { ...exchange, status, version: exchange.version + 1, failure: shown, updatedAt: now }
  return {
    exchangeChanges: [{ id: exchange.id, version: exchange.version, status, updatedAt: now, payment, ...(shown === null ? {} : { failure: JSON.stringify(shown) }) }],
    ...(exchange.holdId === null ? {} : {
      holdResolutions: [{ id: exchange.holdId, balanceId: exchange.sellBalanceId, amount: neededFor(exchange), status: 'released', capturedAmount: null, resolvedAt: now }],
    }),
    statusUpdates: [exchangeUpdate(next, exchange.status, message, by, now)],
    events: exchangeEvents(next, exchange.status, ids, now),
  }
}

/** X2 of a spot that waited: booked, at the rate that holds now where its quote has run out. `priced` null: at the rate it was quoted. `payment`: what it means for its payment. */
export function bookApproved(exchange: ExchangeRecord, priced: Priced | null, payment: (booked: ExchangeRecord) => PaymentPart, context: BookingContext): Effects {
  const { ids, now, valueDate } = context
  const next: ExchangeRecord = {
    ...exchange, status: 'processing', version: exchange.version + 1, tradeDate: valueDate, settlementDate: valueDate, updatedAt: now,
    ...(priced === null ? {} : { sellAmount: priced.sell, buyAmount: priced.buy, rate: priced.rate, partnerRate: priced.partnerRate }),
  }
  const held = neededFor(exchange)
  const needed = neededFor(next)
  return {
    exchangeChanges: [{
      id: exchange.id, version: exchange.version, status: 'processing', updatedAt: now, payment: payment(next), tradeDate: next.tradeDate, settlementDate: next.settlementDate,
      ...(priced === null ? {} : { sellAmount: next.sellAmount, buyAmount: next.buyAmount, rate: formatRate(next.rate), partnerRate: formatRate(next.partnerRate) }),
    }],
    holdResolutions: [{
      id: exchange.holdId as string, balanceId: exchange.sellBalanceId, amount: held, status: 'captured', capturedAmount: needed < held ? needed : held, resolvedAt: now,
    }],
    ...bookingOf(next, context),
    statusUpdates: [exchangeUpdate(next, exchange.status, priced === null ? 'Exchange approved.' : `Exchange approved, at a new rate of ${formatRate(priced.rate)}.`, 'member', now)],
    events: exchangeEvents(next, exchange.status, ids, now),
  }
}

/** Why an exchange that was approved is not carried out. */
export type NotCarriedOut = 'rate_moved' | 'insufficient_funds'

const REASONS: Readonly<Record<NotCarriedOut, { readonly code: FailureCode; readonly message: string }>> = {
  rate_moved: { code: 'rate_moved', message: 'The rate has moved by more than is allowed since the exchange was asked for.' },
  insufficient_funds: { code: 'insufficient_funds', message: 'At the rate that holds now there is not enough money for the exchange.' },
}

/** The end of an exchange that everybody has approved, and that cannot be made all the same. */
export function notCarriedOut(why: NotCarriedOut): ExchangeWithdrawal {
  const { code, message } = REASONS[why]
  return { status: 'rejected', message, failure: { ...failureOf(code), message }, by: 'system' }
}
