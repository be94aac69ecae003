/** An exchange of one currency for another, of every kind. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type {
  DepositStatus,
  ExchangeKind,
  ExchangeRecord,
  ExchangeStatus,
  ForwardType,
} from '../../lib/exchange/exchange.ts'
import type { FixedSide } from '../../lib/exchange/rate.ts'
import { jsonText } from '../db/columns.ts'

export const Exchange = defineEntity({
  name: 'Exchange',
  tableName: 'exchange',
  triggers: [
    {
      name: 'task_added',
      timing: 'after',
      events: ['insert', 'update'],
      expression: `create constraint trigger task_added after insert or update of due_at on exchange deferrable initially deferred for each row when (new.due_at is not null) execute function add_task_of_second('exchange.contracts', 'due_at')`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    number: p.text(),
    externalId: p.text().fieldName('external_id').nullable(),
    kind: p.text().$type<ExchangeKind>(),
    status: p.text().$type<ExchangeStatus>(),
    version: p.integer(),
    quoteId: p.uuid().fieldName('quote_id').nullable(),
    parentExchangeId: p.uuid().fieldName('parent_exchange_id').nullable(),
    paymentId: p.uuid().fieldName('payment_id').nullable(),
    sellBalanceId: p.uuid().fieldName('sell_balance_id'),
    buyBalanceId: p.uuid().fieldName('buy_balance_id'),
    sellCurrency: p.string().$type<CurrencyCode>().fieldName('sell_currency').columnType('char(3)'),
    buyCurrency: p.string().$type<CurrencyCode>().fieldName('buy_currency').columnType('char(3)'),
    sellAmount: p.bigint().fieldName('sell_amount'),
    buyAmount: p.bigint().fieldName('buy_amount'),
    rate: p.decimal().columnType('numeric(20,10)'),
    partnerRate: p.decimal().fieldName('partner_rate').columnType('numeric(20,10)'),
    fixedSide: p.text().$type<FixedSide>().fieldName('fixed_side'),
    fee: p.bigint(),
    holdId: p.uuid().fieldName('hold_id').nullable(),
    approvalId: p.uuid().fieldName('approval_id').nullable(),
    tradeDate: p.date().fieldName('trade_date'),
    settlementDate: p.date().fieldName('settlement_date'),
    settledAt: instant().fieldName('settled_at').nullable(),
    reference: p.text().nullable(),
    drawdownCount: p.integer().fieldName('drawdown_count').defaultRaw('0'),
    remainingSell: p.bigint().fieldName('remaining_sell').nullable(),
    remainingBuy: p.bigint().fieldName('remaining_buy').nullable(),
    forwardType: p.text().$type<ForwardType>().fieldName('forward_type').nullable(),
    drawdownFrom: p.date().fieldName('drawdown_from').nullable(),
    heldUntil: instant().fieldName('held_until').nullable(),
    depositStatus: p.text().$type<DepositStatus>().fieldName('deposit_status').nullable(),
    depositCurrency: p.string().$type<CurrencyCode>().fieldName('deposit_currency').columnType('char(3)').nullable(),
    depositRequired: p.bigint().fieldName('deposit_required').nullable(),
    depositReceived: p.bigint().fieldName('deposit_received').defaultRaw('0'),
    depositPlaced: p.bigint().fieldName('deposit_placed').defaultRaw('0'),
    depositDueAt: instant().fieldName('deposit_due_at').nullable(),
    dueAt: instant().fieldName('due_at').nullable(),
    depositUsed: p.bigint().fieldName('deposit_used').defaultRaw('0'),
    depositPlacedUsed: p.bigint().fieldName('deposit_placed_used').defaultRaw('0'),
    failure: jsonText<NonNullable<ExchangeRecord['failure']>>().nullable(),
    exception: jsonText<NonNullable<ExchangeRecord['exception']>>().nullable(),
    providerRef: p.text().fieldName('provider_ref').nullable(),
    partnerSold: p.bigint().fieldName('partner_sold').nullable(),
    partnerBought: p.bigint().fieldName('partner_bought').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdVia: p.text().$type<ExchangeRecord['createdVia']>().fieldName('created_via'),
    metadata: p.json<ExchangeRecord['metadata']>().nullable(),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    { name: 'exchange_customer', properties: ['customerId', 'id'] },
    { name: 'exchange_customer_settlement', properties: ['customerId', 'settlementDate', 'id'] },
    {
      name: 'exchange_parent',
      expression:
        'create index exchange_parent on exchange (parent_exchange_id, id) where parent_exchange_id is not null',
    },
    {
      name: 'exchange_payment',
      expression: 'create index exchange_payment on exchange (payment_id) where payment_id is not null',
    },
    {
      name: 'exchange_provider_ref',
      expression:
        'create index exchange_provider_ref on exchange (connection_id, provider_ref) where provider_ref is not null',
    },
    { name: 'exchange_due', expression: 'create index exchange_due on exchange (due_at) where due_at is not null' },
    {
      name: 'exchange_search',
      expression: `create index exchange_search on exchange using gin (search_words(customer_id, number || ' ' || coalesce(reference, '')))`,
    },
  ],
  uniques: [
    { name: 'exchange_number_unique', properties: ['number'] },
    {
      name: 'exchange_external_id_unique',
      expression:
        'create unique index exchange_external_id_unique on exchange (customer_id, external_id) where external_id is not null',
    },
    {
      name: 'exchange_quote_unique',
      expression: 'create unique index exchange_quote_unique on exchange (quote_id) where quote_id is not null',
    },
  ],
  checks: [
    { name: 'exchange_amounts_positive', expression: 'sell_amount > 0 and buy_amount > 0 and fee >= 0' },
    { name: 'exchange_currencies_differ', expression: 'sell_currency <> buy_currency' },
    {
      name: 'exchange_remaining',
      expression:
        'remaining_sell >= 0 and remaining_sell <= sell_amount and remaining_buy >= 0 and remaining_buy <= buy_amount',
    },
    {
      name: 'exchange_deposit',
      expression:
        'deposit_placed >= 0 and deposit_placed <= deposit_received and deposit_placed_used >= 0 and deposit_placed_used <= deposit_used',
    },
  ],
})
