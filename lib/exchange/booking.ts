/**
 * The booking of an exchange: its money leaves the balance that sells, and the partner receives an order. The deciding
 * code (of the balance, or of an approval) writes these rows together with the exchange's own row.
 */
import type { EventType } from '../base/event-types.ts'
import type { Effects, OutboxEvent, StatusUpdate } from '../decisions/effects.ts'
import type { Posting } from '../ledger/posting.ts'
import type { IdSource } from '../base/ids.ts'
import { exchangeEntry, type ExchangeAccounts } from './entries.ts'
import type { ExchangeRow } from './effects.ts'
import type { ExchangeRecord, ExchangeStatus } from './exchange.ts'
import { formatRate } from './rate.ts'

/** `L81` where money is added to a balance by conversion: the same accounts as L30. */
export type BookingRule = 'L30' | 'L81'

export interface BookingContext {
  readonly ids: IdSource
  /** The accounts of both currencies; with the customer's own `fx_deposit` where a deposit is used. */
  readonly accounts: ExchangeAccounts
  /** The business day for which the money counts. */
  readonly valueDate: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly rule?: BookingRule
}

/**
 * The entry that takes the money has the exchange's own id: an exchange is booked only once, and the entry's reversal
 * can name it without a read.
 */
export const bookingEntryId = ({ id }: Pick<ExchangeRecord, 'id'>): string => id

/**
 * Builds the postings of the booking and the partner's order. The entry is L30; where a deposit pays, L43 with the fee
 * by L30. `exchange` is the exchange after the booking, in `processing`.
 */
export function bookingOf(
  exchange: ExchangeRecord,
  context: BookingContext,
): Pick<Effects, 'postings' | 'fxOrders'> & { readonly postings: readonly Posting[] } {
  const { accounts, ids, valueDate, now, rule = 'L30' } = context
  const common = { bookedAt: now, valueDate }
  const { sellAmount: S, fee: F, depositUsed: D } = exchange
  const postings =
    D === 0n
      ? exchangeEntry(exchange, accounts, {
          ...common,
          rule: F === 0n ? rule : 'L30',
          amounts: { S, F },
          entryId: bookingEntryId(exchange),
        })
      : [
          ...exchangeEntry(exchange, accounts, {
            ...common,
            rule: 'L43',
            amounts: { S, D },
            entryId: bookingEntryId(exchange),
          }),
          ...exchangeEntry(exchange, accounts, { ...common, rule: 'L30', amounts: { S: 0n, F }, entryId: ids.next() }),
        ]
  return { postings, fxOrders: [{ exchangeId: exchange.id, shard: exchange.shard, dueAt: now }] }
}

/** Returns the amount that the sell balance must have for an exchange, minor units. */
export const neededFor = ({
  sellAmount,
  fee,
  depositUsed,
}: Pick<ExchangeRecord, 'sellAmount' | 'fee' | 'depositUsed'>): bigint => sellAmount - depositUsed + fee

/** Builds the row of the update log for a change of an exchange. */
export function exchangeUpdate(
  exchange: Pick<ExchangeRecord, 'id' | 'version' | 'customerId' | 'status'>,
  previousStatus: ExchangeStatus | null,
  message: string,
  actor: StatusUpdate['actor'],
  at: number,
): StatusUpdate {
  return {
    objectId: exchange.id,
    version: exchange.version,
    customerId: exchange.customerId,
    status: exchange.status,
    previousStatus,
    message,
    actor,
    at,
  }
}

/**
 * Builds the events of a change of status: always `exchange.status_changed`, and `exchange.completed` when it is
 * completed.
 */
export function exchangeEvents(
  exchange: ExchangeRecord,
  previousStatus: ExchangeStatus | null,
  ids: IdSource,
  at: number,
): OutboxEvent[] {
  const event = (type: EventType): OutboxEvent => ({
    id: ids.next(),
    createdAt: at,
    customerId: exchange.customerId,
    operatorId: exchange.operatorId,
    shard: exchange.shard,
    type,
    object: 'exchange',
    objectId: exchange.id,
    status: exchange.status,
    previousStatus,
    amount: exchange.sellAmount,
    currency: exchange.sellCurrency,
  })
  return exchange.status === 'completed'
    ? [event('exchange.status_changed'), event('exchange.completed')]
    : [event('exchange.status_changed')]
}

/** Builds the row of a new exchange. */
export function exchangeRow(exchange: ExchangeRecord): ExchangeRow {
  const {
    deposit,
    version: _,
    updatedAt: __,
    settledAt: ___,
    failure: ____,
    exception: _____,
    providerRef,
    partnerSold,
    partnerBought,
    ...kept
  } = exchange
  if (providerRef !== null || partnerSold !== null || partnerBought !== null)
    throw new Error(`The exchange ${exchange.id} is new and cannot have been settled.`)
  return {
    ...kept,
    rate: formatRate(exchange.rate),
    partnerRate: formatRate(exchange.partnerRate),
    metadata: Object.keys(exchange.metadata).length > 0 ? JSON.stringify(exchange.metadata) : null,
    depositStatus: deposit?.status ?? null,
    depositCurrency: deposit?.currency ?? null,
    depositRequired: deposit?.required ?? null,
    depositReceived: deposit?.received ?? 0n,
    depositPlaced: deposit?.placed ?? 0n,
    depositDueAt: deposit?.dueAt ?? null,
  }
}
