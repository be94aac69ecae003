/**
 * Exchanges that wait for approval, and their moves when the approval is complete or refused.
 *
 *   pending_approval ──approve──▶ processing          a spot: booked as if it had never waited
 *          │             │
 *          │             └─ the rate has moved too far, or the money is no longer sufficient ─▶ rejected
 *          └──withdraw──▶ rejected, cancelled         its hold is released
 *
 * While a spot waits, a hold reserves its money: the amount sold and the fee. Contracts (forwards, held rates) have no
 * hold; their moves on approval are in actors/exchange/exchange-contracts.ts.
 */
import { opening, type SandboxDecision } from '../approvals/opening.ts'
import { tierFor } from '../approvals/policy.ts'
import { timestamp } from '../base/clock.ts'
import type { IdSource } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { Effects, HoldRow, StatusUpdate } from '../decisions/effects.ts'
import type { PaymentPart } from './effects.ts'
import { failureOf, type FailureReason, type FailureCode } from '../rails/failure-codes.ts'
import { bookingOf, exchangeEvents, exchangeUpdate, neededFor, type BookingContext } from './booking.ts'
import type { ExchangeRecord, ExchangeStatus } from './exchange.ts'
import type { MarketRates } from './market.ts'
import type { Priced } from './pricing.ts'
import { converterAt } from './worth.ts'
import type { QuoteRecord } from './quote.ts'
import { formatRate } from './rate.ts'

/** The data needed to open an approval, should the policy require it. */
export interface ExchangeApproving {
  readonly requestedByName: string
  /** The decision of the sandbox's simulated approver, when the reference asks for it. */
  readonly sandboxDecision: SandboxDecision | null
  /** The market rates read for this request; they convert an amount to the currency of a policy. */
  readonly rates: MarketRates
}

/**
 * Data that the approval stores beyond the summary: how long the quote is valid, because the quote itself may be
 * deleted before the decision.
 */
export interface ExchangePayload {
  /** Epoch milliseconds. */
  readonly quoteExpiresAt: number
  /** The minutes that a held rate is held; null for other kinds. */
  readonly holdMinutes: number | null
  /** The balance that pays the deposit of a forward as soon as it is approved; `places`: the partner keeps the deposit. */
  readonly deposit?: { readonly balanceId: string; readonly places: boolean } | null
}

/**
 * Builds the approval that an exchange must wait for, with its event; null when it needs none. `exchange` is the
 * exchange as it would be without approval, `deposit` the balance that pays a forward's deposit as soon as it is approved.
 */
export function approvalOf(
  { id: balanceId, name, exchangePolicy: policy }: Pick<BalanceState, 'id' | 'name' | 'exchangePolicy'>,
  exchange: ExchangeRecord,
  quote: Pick<QuoteRecord, 'expiresAt' | 'holdMinutes'>,
  approving: ExchangeApproving,
  ids: IdSource,
  now: number,
  deposit: Exclude<ExchangePayload['deposit'], undefined> = null,
): (Required<Pick<Effects, 'approvals' | 'events'>> & { readonly approvalId: string }) | null {
  const match = tierFor(
    policy,
    { amount: exchange.sellAmount, currency: exchange.sellCurrency, balanceId },
    converterAt(approving.rates, exchange.connectionId, now),
  )
  if (policy === null || match === null) return null
  const approvalId = ids.next()
  const payload: ExchangePayload = {
    quoteExpiresAt: quote.expiresAt,
    holdMinutes: quote.holdMinutes,
    deposit,
  }
  return {
    approvalId,
    ...opening(
      {
        id: approvalId,
        eventId: ids.next(),
        customerId: exchange.customerId,
        operatorId: exchange.operatorId,
        shard: exchange.shard,
        subjectType: 'exchange',
        subjectId: exchange.id,
        subject: {
          title: `Exchange ${exchange.number}, ${exchange.sellCurrency} to ${exchange.buyCurrency}`,
          amount: { amountMinor: exchange.sellAmount.toString(), currency: exchange.sellCurrency },
          recipientName: null,
          sourceBalanceId: balanceId,
          sourceBalanceName: name,
          rail: null,
          itemCount: null,
          recipientMaskedIdentifier: null,
        },
        payload: JSON.stringify(payload),
        kind: 'exchange',
        source: 'snapshot',
        tier: match.tier,
        tierCurrency: policy.currency,
        converted: match.converted,
        requestedBy: exchange.createdBy,
        requestedByName: approving.requestedByName,
        sandboxDecision: approving.sandboxDecision,
      },
      now,
    ),
  }
}

/** Builds the hold of a waiting spot: the amount to be sold and the fee. */
export function exchangeHold(exchange: ExchangeRecord, holdId: string, now: number): HoldRow {
  return {
    id: holdId,
    balanceId: exchange.sellBalanceId,
    customerId: exchange.customerId,
    amount: neededFor(exchange),
    subjectType: 'exchange',
    subjectId: exchange.id,
    description: `Exchange ${exchange.number}`,
    createdAt: now,
  }
}

/** The end of an exchange that was never booked. */
export interface ExchangeWithdrawal {
  readonly status: Extract<ExchangeStatus, 'rejected' | 'cancelled'>
  readonly message: string
  readonly failure: FailureReason | null
  readonly by: StatusUpdate['actor']
}

/**
 * Withdraws a waiting exchange and releases its hold. `payment`: the rows for the payment that the exchange would have
 * bought for.
 */
export function withdrawExchange(
  exchange: ExchangeRecord,
  { status, message, failure, by }: ExchangeWithdrawal,
  payment: Exclude<PaymentPart, 'waits'>,
  ids: IdSource,
  now: number,
): Effects {
  const shown = failure === null ? null : { ...failure, at: timestamp(now) }
  const next: ExchangeRecord = { ...exchange, status, version: exchange.version + 1, failure: shown, updatedAt: now }
  return {
    exchangeChanges: [
      {
        id: exchange.id,
        version: exchange.version,
        status,
        updatedAt: now,
        payment,
        ...(shown === null ? {} : { failure: JSON.stringify(shown) }),
      },
    ],
    ...(exchange.holdId === null
      ? {}
      : {
          holdResolutions: [
            {
              id: exchange.holdId,
              balanceId: exchange.sellBalanceId,
              amount: neededFor(exchange),
              status: 'released',
              capturedAmount: null,
              resolvedAt: now,
            },
          ],
        }),
    statusUpdates: [exchangeUpdate(next, exchange.status, message, by, now)],
    events: exchangeEvents(next, exchange.status, ids, now),
  }
}

/**
 * Books an approved spot, at the present rate if its quote has expired. `priced` null: at the quoted rate. `payment`
 * builds the rows for the payment that the exchange buys for.
 */
export function bookApproved(
  exchange: ExchangeRecord,
  priced: Priced | null,
  payment: (booked: ExchangeRecord) => PaymentPart,
  context: BookingContext,
): Effects {
  const { ids, now, valueDate } = context
  const next: ExchangeRecord = {
    ...exchange,
    status: 'processing',
    version: exchange.version + 1,
    tradeDate: valueDate,
    settlementDate: valueDate,
    updatedAt: now,
    ...(priced === null
      ? {}
      : { sellAmount: priced.sell, buyAmount: priced.buy, rate: priced.rate, partnerRate: priced.partnerRate }),
  }
  const held = neededFor(exchange)
  const needed = neededFor(next)
  return {
    exchangeChanges: [
      {
        id: exchange.id,
        version: exchange.version,
        status: 'processing',
        updatedAt: now,
        payment: payment(next),
        tradeDate: next.tradeDate,
        settlementDate: next.settlementDate,
        ...(priced === null
          ? {}
          : {
              sellAmount: next.sellAmount,
              buyAmount: next.buyAmount,
              rate: formatRate(next.rate),
              partnerRate: formatRate(next.partnerRate),
            }),
      },
    ],
    holdResolutions: [
      {
        id: exchange.holdId as string,
        balanceId: exchange.sellBalanceId,
        amount: held,
        status: 'captured',
        capturedAmount: needed < held ? needed : held,
        resolvedAt: now,
      },
    ],
    ...bookingOf(next, context),
    statusUpdates: [
      exchangeUpdate(
        next,
        exchange.status,
        priced === null ? 'Exchange approved.' : `Exchange approved, at a new rate of ${formatRate(priced.rate)}.`,
        'member',
        now,
      ),
    ],
    events: exchangeEvents(next, exchange.status, ids, now),
  }
}

/** The reasons why an approved exchange is not carried out. */
export type NotCarriedOut = 'rate_moved' | 'insufficient_funds'

const REASONS: Readonly<Record<NotCarriedOut, { readonly code: FailureCode; readonly message: string }>> = {
  rate_moved: {
    code: 'rate_moved',
    message: 'The rate has moved by more than is allowed since the exchange was asked for.',
  },
  insufficient_funds: {
    code: 'insufficient_funds',
    message: 'At the current rate the balance does not cover the exchange.',
  },
}

/** Builds the end of an exchange that was approved and still cannot be made. */
export function notCarriedOut(why: NotCarriedOut): ExchangeWithdrawal {
  const { code, message } = REASONS[why]
  return { status: 'rejected', message, failure: { ...failureOf(code), message }, by: 'system' }
}
