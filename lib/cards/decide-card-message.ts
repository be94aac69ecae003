/**
 * The decision about a message of the card network, made by the balance that pays: it alone knows what is available.
 * The card and the transaction come as the use case read them; their versions are fences of the commit, so a decision
 * on an older card or transaction is refused and made again on the present one.
 *
 * A purchase is declined by the first reason that holds, in this order: the issuer's own reason, the card's status, the
 * customer's standing, the controls, the limits, the funds. Clearings are never declined: the merchant has the scheme's
 * promise, so they are paid (L71) even below zero.
 */
import type { BalanceState } from '../balances/balance.ts'
import type { CommandKey } from '../balances/decision.ts'
import { idsFrom, type IdSource } from '../base/ids.ts'
import { dateIn } from '../base/clock.ts'
import { moneyProblem } from '../customers/money-access.ts'
import type { Effects } from '../decisions/effects.ts'
import { outcomeRecord } from '../decisions/outcome-record.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import { authorisationExpiry } from './authorisation-expiry.ts'
import { cardFees, NO_CARD_FEES, type CardFees } from './card-fees.ts'
import { controlDecline, countUse, exceedsLimits, type Purchase } from './card-limits.ts'
import type { CardMessage } from './card-message.ts'
import { cardPostings } from './card-postings.ts'
import { cardTransactionEvent, changedTransaction, heldChange, newTransaction, usedCard } from './card-rows.ts'
import {
  isMisfit,
  moved,
  NO_SUMS,
  opened,
  type CardAnswer,
  type CardDeclineReason,
  type CardMisfit,
  type CardMoney,
  type CardMovement,
  type CardTransactionState,
  type OpeningPhase,
} from './card-transaction.ts'
import { isExpiredCard, type CardRecord } from './card.ts'

export interface DecideCardMessage {
  readonly kind: 'card_message'
  /** The key under which the answer to the message is recorded; its id is the message's. */
  readonly key: CommandKey
  readonly message: CardMessage
  readonly card: CardRecord
  /** The transaction that the message is about; null where it begins one. */
  readonly transaction: CardTransactionState | null
  /** The customer's transaction that the message belongs to, beside its own; null where there is none. */
  readonly relatedTransactionId: string | null
  /** Accounts of the card's connection and currency. */
  readonly accounts: InternalAccounts
  /** The business day for which the money counts. */
  readonly valueDate: string
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
}

export type CardMessageReply =
  /** `isRepeated`: the message was decided before, and this is the answer of then. */
  | { readonly kind: 'card_decided'; readonly answer: CardAnswer; readonly isRepeated?: boolean }
  /** The message fits no row of the table: nothing was written. */
  | { readonly kind: 'card_misfit'; readonly misfit: CardMisfit | 'balance_closed' }

/** The decision; `refused` marks a misfit, which fresher state may change (I4). */
export interface CardMessageDecision {
  readonly state: BalanceState
  readonly reply: CardMessageReply
  readonly effects: Effects | null
  readonly refused?: boolean
}

/** Decides one message. Pure: `now` is epoch milliseconds. */
export function decideCardMessage(
  balance: BalanceState | null,
  command: DecideCardMessage,
  now: number,
): CardMessageDecision {
  const { message, transaction } = command
  if (balance === null) throw new Error(`The card ${command.card.id} pays from a balance that does not exist.`)
  // No message moves money of a closed balance by itself: staff decide about it.
  if (balance.status === 'closed') return misfit(balance, 'balance_closed')
  // A reference names a transaction of its own card alone: money of another card, or customer, never moves by it.
  if (transaction !== null && transaction.cardId !== command.card.id) return misfit(balance, 'other_card')
  switch (message.phase) {
    case 'authorisation':
    case 'atm':
    case 'decline':
      if (transaction !== null) return misfit(balance, 'needs_no_transaction')
      return begin(balance, command, declineOf(balance, command, now), now)
    case 'force_post':
      if (transaction !== null) return misfit(balance, 'needs_no_transaction')
      return begin(balance, command, null, now)
    case 'refund':
      return transaction === null ? begin(balance, command, null, now) : follow(balance, command, transaction, now)
    default:
      return transaction === null ? misfit(balance, 'needs_transaction') : follow(balance, command, transaction, now)
  }
}

const misfit = (balance: BalanceState, reason: CardMisfit | 'balance_closed'): CardMessageDecision => ({
  state: balance,
  reply: { kind: 'card_misfit', misfit: reason },
  effects: null,
  refused: true,
})

/** Returns why a purchase, or an increment of it, is declined; null where it is approved. */
function declineOf(
  balance: BalanceState,
  { card, message, transaction }: DecideCardMessage,
  now: number,
): CardDeclineReason | null {
  if (message.phase === 'decline') return message.declined ?? 'do_not_honour'
  if (message.declined !== null) return message.declined
  if (card.status === 'frozen') return 'card_frozen'
  if (card.status === 'expired' || isExpiredCard(card, dateIn(now, card.zone))) return 'card_expired'
  if (card.status !== 'active') return 'do_not_honour'
  if (balance.status !== 'active' || moneyProblem(balance, 'pay') !== null) return 'do_not_honour'
  const { amount } = message
  const purchase = transaction ?? message
  const controlled = controlDecline(card.controls, purchase)
  if (controlled !== null) return controlled
  const whole = amount + (transaction === null ? 0n : transaction.authorised - transaction.reversed)
  if (exceedsLimits(card, { mcc: purchase.mcc, amount, whole }, now)) return 'limit_exceeded'
  return balance.available < amount + feesOf(balance, message, purchase, amount).fee ? 'insufficient_funds' : null
}

function feesOf(balance: BalanceState, message: CardMessage, { channel }: Purchase, amount: bigint): CardFees {
  return cardFees(balance.fees, {
    amount,
    isWithdrawal: channel === 'atm',
    isConverted: message.rate !== null,
  })
}

/** Begins a transaction: approved, declined, or posted at once. */
function begin(
  balance: BalanceState,
  command: DecideCardMessage,
  declined: CardDeclineReason | null,
  now: number,
): CardMessageDecision {
  const { message, card } = command
  const ids = idsFrom(command.seed)
  const id = ids.next()
  const movement: CardMovement =
    declined === null
      ? opened(message.phase as OpeningPhase, message.amount)
      : { sums: NO_SUMS, status: 'declined', money: { kind: 'none' } }
  const next: CardTransactionState = {
    id,
    version: 1,
    cardId: card.id,
    customerId: card.customerId,
    operatorId: card.operatorId,
    connectionId: card.connectionId,
    shard: card.shard,
    balanceId: card.balanceId,
    currency: card.currency,
    ref: message.ref,
    network: message.network,
    channel: message.channel,
    mcc: message.mcc,
    merchantName: message.merchantName,
    merchantCountry: message.merchantCountry,
    ...movement.sums,
    markup: 0n,
    status: movement.status,
    holdId: movement.sums.held > 0n ? ids.next() : null,
    expiresAt: movement.sums.held > 0n ? authorisationExpiry(message.network, message, now) : null,
    authorisedAt: now,
    declineReason: declined,
  }
  const counts = declined === null && message.phase !== 'refund'
  return decided(balance, command, { before: null, next, movement, declined, ids, now }, [
    counts
      ? {
          cardUses: [
            usedCard(
              card,
              countUse(card.used, { mcc: message.mcc, amount: message.amount, at: now, now, zone: card.zone }),
              1,
              now,
            ),
          ],
        }
      : {},
  ])
}

/** Moves a transaction that exists. */
function follow(
  balance: BalanceState,
  command: DecideCardMessage,
  before: CardTransactionState,
  now: number,
): CardMessageDecision {
  const { message, card } = command
  const { phase, amount } = message
  if (phase === 'authorisation' || phase === 'force_post' || phase === 'atm' || phase === 'decline')
    return misfit(balance, 'needs_no_transaction')
  const movement = moved(before, phase, amount, message.isFinal)
  if (isMisfit(movement)) return misfit(balance, movement)
  const ids = idsFrom(command.seed)
  const declined = phase === 'increment' ? declineOf(balance, command, now) : null
  const reached: CardMovement =
    declined === null ? movement : { sums: before, status: before.status, money: { kind: 'none' } }
  const isHeldAgain = reached.sums.held > 0n && reached.sums.held !== before.held
  const next: CardTransactionState = {
    ...before,
    ...reached.sums,
    version: before.version + 1,
    status: reached.status,
    holdId: reached.sums.held === 0n ? null : isHeldAgain ? ids.next() : before.holdId,
    expiresAt: reached.sums.held === 0n ? null : before.expiresAt,
  }
  const uncounted = next.reversed - before.reversed
  const counted = next.authorised - before.authorised
  return decided(balance, command, { before, next, movement: reached, declined, ids, now }, [
    uncounted === counted
      ? {}
      : {
          cardUses: [
            usedCard(
              card,
              countUse(card.used, {
                mcc: before.mcc,
                amount: counted - uncounted,
                // An increment counts when it is made, as the limits were checked; what is reversed, where it began.
                at: counted > 0n ? now : before.authorisedAt,
                now,
                zone: card.zone,
              }),
              next.status === 'reversed' ? -1 : 0,
              now,
            ),
          ],
        },
  ])
}

interface Step {
  readonly before: CardTransactionState | null
  readonly next: CardTransactionState
  readonly movement: CardMovement
  readonly declined: CardDeclineReason | null
  readonly ids: IdSource
  readonly now: number
}

/** Builds the decision: the rows of the transaction, its hold and its money. */
function decided(
  balance: BalanceState,
  command: DecideCardMessage,
  { before, next, movement, declined, ids, now }: Step,
  parts: readonly Effects[],
): CardMessageDecision {
  const { message, key, accounts, valueDate } = command
  const { channel } = next
  const money: CardMoney =
    movement.money.kind === 'pay' ? { ...movement.money, withdrawal: channel === 'atm' } : movement.money
  const fees = money.kind === 'pay' ? feesOf(balance, message, next, money.amount) : NO_CARD_FEES
  const isFirstEntry = money.kind === 'pay' && (before?.cleared ?? 0n) === 0n
  // The first clearing has the id of the transaction, so that it completes what its authorisation began.
  const entryId = isFirstEntry ? next.id : ids.next()
  const marked = { ...next, markup: next.markup + fees.markup }
  const answer: CardAnswer = { transactionId: next.id, approved: declined === null, declineReason: declined }
  const effects: Effects = {
    ...(before === null
      ? { cardTransactions: [newTransaction(marked, message, command.relatedTransactionId, now)] }
      : { cardTransactionChanges: [changedTransaction(before, marked, now)] }),
    cardEvents: [
      {
        id: message.id,
        transactionId: next.id,
        phase: message.phase,
        amount: message.amount,
        fee: fees.fee,
        declineReason: declined,
        at: now,
        merchantAmount: message.merchantAmount,
        merchantCurrency: message.merchantCurrency,
        rate: message.rate,
        markup: fees.markup,
        entryId: money.kind === 'none' ? null : entryId,
      },
    ],
    ...heldChange(before, next, money, now),
    postings: cardPostings(next, message, money, fees, { accounts, entryId, valueDate, now }),
    events: [cardTransactionEvent(before, next, ids.next(), now)],
    ...outcomeRecord(key, 200, { type: 'card_transaction', id: next.id }, JSON.stringify(answer), now),
    ...Object.assign({}, ...parts),
  }
  const paid = money.kind === 'none' ? 0n : money.kind === 'credit' ? -money.amount : money.amount + fees.fee
  return {
    state: { ...balance, available: balance.available - paid - (next.held - (before?.held ?? 0n)) },
    reply: { kind: 'card_decided', answer },
    effects,
  }
}
