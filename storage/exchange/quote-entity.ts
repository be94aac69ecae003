/** A quote, in the partition of the day on which it was made. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { QuoteRow } from '../../lib/exchange/effects.ts'
import { instant } from '../db/entity-types.ts'

export const Quote = defineEntity({
  name: 'Quote',
  tableName: 'quote',
  properties: {
    id: p.uuid().primary(),
    day: p.date().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    kind: p.text().$type<QuoteRow['kind']>(),
    sellCurrency: p.string().fieldName('sell_currency').columnType('char(3)'),
    buyCurrency: p.string().fieldName('buy_currency').columnType('char(3)'),
    sellAmount: p.bigint().fieldName('sell_amount'),
    buyAmount: p.bigint().fieldName('buy_amount'),
    rate: p.decimal().columnType('numeric(20,10)'),
    partnerRate: p.decimal().fieldName('partner_rate').columnType('numeric(20,10)'),
    fixedSide: p.text().$type<QuoteRow['fixedSide']>().fieldName('fixed_side'),
    fee: p.bigint(),
    settlementDate: p.date().fieldName('settlement_date').nullable(),
    depositRequired: p.bigint().fieldName('deposit_required').nullable(),
    holdMinutes: p.integer().fieldName('hold_minutes').nullable(),
    sellBalanceId: p.uuid().fieldName('sell_balance_id').nullable(),
    buyBalanceId: p.uuid().fieldName('buy_balance_id').nullable(),
    expiresAt: instant().fieldName('expires_at'),
    createdAt: instant().fieldName('created_at'),
  },
})
