/** An account of a customer. Only the commit writes its posted amount, its held amount and its sequence numbers. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { LifeStatus, MeasureTaken } from '../../lib/customers/status.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import type { Balance as Shown } from '../../lib/balances/balance-schema.ts'
import { STOPPED_INDEX } from './stopped-balances.ts'

const TELL_LOW = `create trigger balance_low after update of posted, held on balance
  for each row when (new.posted - new.held < new.low_balance_threshold and old.posted - old.held >= new.low_balance_threshold) execute function balance_low()`

export const Balance = defineEntity({
  name: 'Balance',
  tableName: 'balance',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    currency: p.string().$type<CurrencyCode>().columnType('char(3)'),
    name: p.text(),
    type: p.text().$type<Shown['type']>(),
    parentBalanceId: p.uuid().fieldName('parent_balance_id').nullable(),
    status: p.text().$type<BalanceState['status']>(),
    // Copies: a commit of payments locks balances, and reads no customer.
    customerStatus: p.text().$type<LifeStatus>().fieldName('customer_status').defaultRaw(`'active'`),
    customerMeasure: p.text().$type<MeasureTaken>().fieldName('customer_measure').nullable(),
    isDefault: p.boolean().fieldName('is_default'),
    detailsStatus: p.text().$type<NonNullable<Shown['detailsStatus']>>().fieldName('details_status').nullable(),
    posted: p.bigint().defaultRaw('0'),
    held: p.bigint().defaultRaw('0'),
    sequence: p.bigint().defaultRaw('0'),
    version: p.bigint().defaultRaw('1'),
    // Counts the changes by people, which `version` counts with all others.
    termsVersion: p.integer().fieldName('terms_version').defaultRaw('1'),
    lowBalanceThreshold: p.bigint().fieldName('low_balance_threshold').nullable(),
    metadata: p.json<Readonly<Record<string, string>>>().defaultRaw(`'{}'`),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
    closedAt: instant().fieldName('closed_at').nullable(),
  },
  indexes: [
    { name: 'balance_customer', properties: ['customerId', 'currency', 'id'] },
    { name: 'balance_customer_created', properties: ['customerId', 'id'] },
    {
      name: 'balance_customer_name',
      expression: 'create index balance_customer_name on balance (customer_id, lower(name), id)',
    },
    { name: 'balance_operator_currency', properties: ['operatorId', 'currency', 'id'] },
    { name: 'balance_operator_created', properties: ['operatorId', 'id'] },
    {
      name: 'balance_operator_name',
      expression: 'create index balance_operator_name on balance (operator_id, lower(name), id)',
    },
    {
      name: 'balance_stopped',
      properties: ['id'],
      where: STOPPED_INDEX,
    },
    { name: 'balance_parent', properties: ['parentBalanceId'], where: 'parent_balance_id is not null' },
    { name: 'balance_shard', properties: ['shard', 'id'] },
    {
      name: 'balance_search',
      expression:
        'create index balance_search on balance using gin ((search_words(customer_id, name) || search_words(operator_id, name)))',
    },
  ],
  uniques: [
    {
      name: 'balance_default',
      expression: 'create unique index balance_default on balance (customer_id, currency) where is_default',
    },
  ],
  triggers: [{ name: 'balance_low', timing: 'after', events: ['update'], expression: TELL_LOW }],
  checks: [{ name: 'balance_held_positive', expression: 'held >= 0' }],
})
