/** A card transaction, and the messages of the network about it. Only the commit writes them. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { CardNetwork } from '../../lib/cards/authorisation-expiry.ts'
import type { CardChannel } from '../../lib/cards/card-limits.ts'
import type { CardDeclineReason, CardPhase, CardTransactionStatus } from '../../lib/cards/card-transaction.ts'
import { instant } from '../db/entity-types.ts'

export const CardTransaction = defineEntity({
  name: 'CardTransaction',
  tableName: 'card_transaction',
  properties: {
    id: p.uuid().primary(),
    version: p.integer(),
    cardId: p.uuid().fieldName('card_id'),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    balanceId: p.uuid().fieldName('balance_id'),
    currency: p.string().$type<CurrencyCode>().columnType('char(3)'),
    ref: p.text(),
    status: p.text().$type<CardTransactionStatus>(),
    network: p.text().$type<CardNetwork>(),
    channel: p.text().$type<CardChannel>(),
    mcc: p.string().columnType('char(4)'),
    merchantName: p.text().fieldName('merchant_name'),
    merchantCountry: p.string().fieldName('merchant_country').columnType('char(2)').nullable(),
    merchantAmount: p.bigint().fieldName('merchant_amount'),
    merchantCurrency: p.string().fieldName('merchant_currency').columnType('char(3)'),
    rate: p.decimal().columnType('numeric(20,10)').nullable(),
    markup: p.bigint(),
    authorised: p.bigint(),
    reversed: p.bigint(),
    cleared: p.bigint(),
    refunded: p.bigint(),
    disputed: p.bigint(),
    recovered: p.bigint(),
    held: p.bigint(),
    holdId: p.uuid().fieldName('hold_id').nullable(),
    expiresAt: instant().fieldName('expires_at').nullable(),
    authorisedAt: instant().fieldName('authorised_at'),
    declineReason: p.text().$type<CardDeclineReason>().fieldName('decline_reason').nullable(),
    relatedTransactionId: p.uuid().fieldName('related_transaction_id').nullable(),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'card_transaction_customer', properties: ['customerId', 'id'] },
    { name: 'card_transaction_card', properties: ['cardId', 'id'] },
    {
      name: 'card_transaction_expiry',
      expression: 'create index card_transaction_expiry on card_transaction (expires_at) where expires_at is not null',
    },
  ],
  uniques: [{ name: 'card_transaction_ref', properties: ['ref', 'connectionId'] }],
  checks: [
    {
      name: 'card_transaction_sums',
      expression:
        'least(authorised, reversed, cleared, refunded, disputed, recovered, held) >= 0 and held <= greatest(authorised - reversed - cleared, 0)',
    },
    { name: 'card_transaction_hold', expression: '(held > 0) = (hold_id is not null)' },
  ],
})

export const CardEvent = defineEntity({
  name: 'CardEvent',
  tableName: 'card_event',
  properties: {
    id: p.uuid().primary(),
    transactionId: p.uuid().fieldName('transaction_id'),
    phase: p.text().$type<CardPhase>(),
    amount: p.bigint(),
    fee: p.bigint(),
    declineReason: p.text().$type<CardDeclineReason>().fieldName('decline_reason').nullable(),
    at: instant(),
    merchantAmount: p.bigint().fieldName('merchant_amount').nullable(),
    merchantCurrency: p.string().fieldName('merchant_currency').columnType('char(3)').nullable(),
    rate: p.decimal().columnType('numeric(20,10)').nullable(),
    markup: p.bigint().defaultRaw('0'),
    entryId: p.uuid().fieldName('entry_id').nullable(),
  },
  indexes: [{ name: 'card_event_transaction', properties: ['transactionId', 'at', 'id'] }],
})
