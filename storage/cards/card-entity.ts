/**
 * A card. People change it through the entity manager; the commit writes its status, its count and its sums when it is
 * used. Both raise the version, by which a decision on an older card is refused.
 */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { CardCloseReason, CardStatus, CardType } from '../../lib/cards/card.ts'
import type { CardControls } from '../../lib/cards/card-limits.ts'
import type { CardLimitsJson, CardUseJson } from '../../lib/cards/card-json.ts'
import { instant, managed } from '../db/entity-types.ts'

export const Card = managed(
  defineEntity({
    name: 'Card',
    tableName: 'card',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      connectionId: p.uuid().fieldName('connection_id'),
      shard: p.smallint(),
      balanceId: p.uuid().fieldName('balance_id'),
      currency: p.string().$type<CurrencyCode>().columnType('char(3)'),
      holderUserId: p.uuid().fieldName('holder_user_id'),
      type: p.text().$type<CardType>(),
      label: p.text().nullable(),
      status: p.text().$type<CardStatus>(),
      version: p.integer().version(),
      last4: p.string().columnType('char(4)'),
      expiry: p.string().columnType('char(7)'),
      networkTokenRef: p.text().fieldName('network_token_ref').nullable(),
      limits: p.json<CardLimitsJson>(),
      controls: p.json<CardControls>(),
      cancelAfterPayments: p.integer().fieldName('cancel_after_payments').nullable(),
      payments: p.integer().defaultRaw('0'),
      used: p.json<CardUseJson>().defaultRaw(`'[]'`),
      closeReason: p.text().$type<CardCloseReason>().fieldName('close_reason').nullable(),
      replacesCardId: p.uuid().fieldName('replaces_card_id').nullable(),
      replacedByCardId: p.uuid().fieldName('replaced_by_card_id').nullable(),
      createdBy: p.uuid().fieldName('created_by'),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [
      { name: 'card_customer', properties: ['customerId', 'id'] },
      { name: 'card_holder', properties: ['customerId', 'holderUserId', 'id'] },
      { name: 'card_balance', properties: ['balanceId', 'id'] },
      {
        name: 'card_expiring',
        expression: `create index card_expiring on card (expiry) where status not in ('expired', 'closed')`,
      },
    ],
    checks: [
      {
        name: 'card_status',
        expression: `status in ('inactive', 'active', 'frozen', 'blocked', 'expired', 'closed')`,
      },
      { name: 'card_payments', expression: 'payments >= 0' },
    ],
  }),
)
