/**
 * The booking of an exchange: its money leaves the balance that sells, and the partner is told (X2, D1). Whoever decides it (the
 * balance, or people who approve it) writes this with the exchange's own row.
 */
import type { Effects, OutboxEvent, StatusUpdate } from '../decisions/effects.ts'
import type { Posting } from '../ledger/posting.ts'
import type { IdSource } from '../base/ids.ts'
import { exchangeEntry, type ExchangeAccounts } from './entries.ts'
import type { ExchangeRecord, ExchangeStatus } from './exchange.ts'

/** `L81` where the money is added to a balance by conversion: the same accounts. */
export type BookingRule = 'L30' | 'L81'

export interface BookingContext {
  readonly ids: IdSource
  /** Of the currency sold; with the customer's own `fx_deposit` where a deposit is used. */
  readonly accounts: ExchangeAccounts
  /** The business day the money counts for. */
  readonly valueDate: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly rule?: BookingRule
}

/** The entry that takes the money has the exchange's own id: one is booked once, and what takes it back can name it unread. */
export const bookingEntryId = ({ id }: Pick<ExchangeRecord, 'id'>): string => id

/** L30, or L43 for what a deposit pays; the partner's order. `exchange` is as it is from now on, in `processing`. */
export function bookingOf(exchange: ExchangeRecord, context: BookingContext): Pick<Effects, 'postings' | 'fxOrders'> & { readonly postings: readonly Posting[] } {
  const { accounts, ids, valueDate, now, rule = 'L30' } = context
  const common = { bookedAt: now, valueDate }
  const { sellAmount: S, fee: F, depositUsed: D } = exchange
  const postings = D === 0n
    ? exchangeEntry(exchange, accounts, { ...common, rule: F === 0n ? rule : 'L30', amounts: { S, F }, entryId: bookingEntryId(exchange) })
    : [
        ...exchangeEntry(exchange, accounts, { ...common, rule: 'L43', amounts: { S, D }, entryId: bookingEntryId(exchange) }),
        ...exchangeEntry(exchange, accounts, { ...common, rule: 'L30', amounts: { S: 0n, F }, entryId: ids.next() }),
      ]
  return { postings, fxOrders: [{ exchangeId: exchange.id, shard: exchange.shard, dueAt: now }] }
}

/** What the sell balance has to have for an exchange. */
export const neededFor = ({ sellAmount, fee, depositUsed }: Pick<ExchangeRecord, 'sellAmount' | 'fee' | 'depositUsed'>): bigint => sellAmount - depositUsed + fee

/** A step of an exchange in the update log. */
export function exchangeUpdate(exchange: Pick<ExchangeRecord, 'id' | 'version' | 'customerId' | 'status'>, previousStatus: ExchangeStatus | null, message: string, actor: StatusUpdate['actor'], at: number): StatusUpdate {
  return { objectId: exchange.id, version: exchange.version, customerId: exchange.customerId, status: exchange.status, previousStatus, message, actor, at }
}

/** What is told of a change of status: always `exchange.status_changed`, and the end that it was completed with. */
export function exchangeEvents(exchange: ExchangeRecord, previousStatus: ExchangeStatus | null, ids: IdSource, at: number): OutboxEvent[] {
  const event = (type: string): OutboxEvent => ({
    id: ids.next(), createdAt: at, customerId: exchange.customerId, operatorId: exchange.operatorId, shard: exchange.shard, type, object: 'exchange', objectId: exchange.id,
    status: exchange.status, previousStatus, amount: exchange.sellAmount, currency: exchange.sellCurrency,
  })
  return exchange.status === 'completed' ? [event('exchange.status_changed'), event('exchange.completed')] : [event('exchange.status_changed')]
}
