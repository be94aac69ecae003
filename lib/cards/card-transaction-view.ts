/** Card transactions as the API shows them. */
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import type { CardTransaction } from './card-schema.ts'
import type { CardDeclineReason, CardPhase } from './card-transaction.ts'
import type { CardTransactionRow } from './effects.ts'
import { categoryOf } from './merchant-categories.ts'

/** A transaction with the messages about it, oldest first. */
export interface CardTransactionRecord extends CardTransactionRow {
  readonly version: number
  readonly updatedAt: number
  readonly events: readonly CardEventRecord[]
}

/** A message of the network. `amount` and `fee` are minor units as text, `at` is RFC 3339. */
export interface CardEventRecord {
  readonly id: string
  readonly phase: CardPhase
  readonly amount: string
  readonly fee: string
  readonly declineReason: CardDeclineReason | null
  /** Null for messages from before it was kept. */
  readonly merchantAmount: string | null
  readonly merchantCurrency: string | null
  readonly rate: string | null
  readonly markup: string
  readonly at: string
}

/** Makes a transaction as the API shows it. */
export function cardTransactionJson(record: CardTransactionRecord): CardTransaction {
  const { currency } = record
  const money = (amount: bigint | string) => moneyJson({ amountMinor: BigInt(amount), currency })
  return {
    id: record.id,
    customerId: record.customerId,
    cardId: record.cardId,
    balanceId: record.balanceId,
    ref: record.ref,
    status: record.status,
    declineReason: record.declineReason,
    relatedTransactionId: record.relatedTransactionId,
    network: record.network,
    channel: record.channel,
    merchant: {
      name: record.merchantName,
      mcc: record.mcc,
      category: categoryOf(record.mcc),
      country: record.merchantCountry,
    },
    authorisedAmount: money(record.authorised),
    clearedAmount: money(record.cleared),
    reversedAmount: money(record.reversed),
    refundedAmount: money(record.refunded),
    disputedAmount: money(record.disputed),
    recoveredAmount: money(record.recovered),
    heldAmount: money(record.held),
    merchantAmount: moneyJson({
      amountMinor: record.merchantAmount,
      currency: record.merchantCurrency as CurrencyCode,
    }),
    merchantCurrency: record.merchantCurrency,
    rate: record.rate,
    markup: record.rate === null ? null : money(record.markup),
    expiresAt: record.expiresAt === null ? null : timestamp(record.expiresAt),
    events: record.events.map(({ amount, fee, markup, merchantAmount, merchantCurrency, ...event }) => ({
      ...event,
      amount: money(amount),
      fee: money(fee),
      markup: event.rate === null ? null : money(markup),
      merchantAmount:
        merchantAmount === null
          ? null
          : moneyJson({ amountMinor: BigInt(merchantAmount), currency: merchantCurrency as CurrencyCode }),
    })),
    createdAt: timestamp(record.createdAt),
    updatedAt: timestamp(record.updatedAt),
  }
}
