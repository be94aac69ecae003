/** A customer of an operator: a tenant with its own balances, recipients and payments. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { IdentityType, RiskRating } from '../../lib/customers/customer.ts'
import type { LifeStatus, MeasureTaken, MeasureTaker } from '../../lib/customers/status.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import { Operator } from '../operators/operator-entity.ts'

/** The trigger as the migration defines it: nodes that cache the standing of customers are notified when it changes. */
const TELL_NODES = `create trigger customer_changed after update of status, measure on customer
  for each row when (new.status is distinct from old.status or new.measure is distinct from old.measure) execute function customer_changed()`

export const Customer = defineEntity({
  name: 'Customer',
  tableName: 'customer',
  properties: {
    id: p.uuid().primary(),
    operator: () =>
      p
        .manyToOne(Operator)
        .fieldName('operator_id')
        .foreignKeyName('customer_operator_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    number: p.text(),
    legalName: p.text().fieldName('legal_name'),
    tradingName: p.text().fieldName('trading_name').nullable(),
    identityType: p.text().$type<IdentityType>().fieldName('identity_type'),
    registrationNumber: p.text().fieldName('registration_number').nullable(),
    incorporationCountry: p.string().columnType('char(2)').fieldName('incorporation_country'),
    incorporationDate: p.date().fieldName('incorporation_date').nullable(),
    customerType: p.text().$type<CustomerType>().fieldName('customer_type'),
    risk: p.text().$type<RiskRating>().nullable(),
    pricingTemplateId: p.uuid().fieldName('pricing_template_id').nullable(),
    metadata: p.json<Readonly<Record<string, string>>>().defaultRaw(`'{}'`),
    status: p.text().$type<LifeStatus>(),
    measure: p.text().$type<MeasureTaken>().nullable(),
    measureBy: p.text().$type<MeasureTaker>().fieldName('measure_by').nullable(),
    shard: p.smallint(),
    version: p.bigint().defaultRaw('1'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
    approvedAt: instant().fieldName('approved_at').nullable(),
    closedAt: instant().fieldName('closed_at').nullable(),
  },
  indexes: [
    { name: 'customer_pricing', properties: ['pricingTemplateId'], where: 'pricing_template_id is not null' },
    { name: 'customer_operator_created', properties: ['operator', 'id'] },
    {
      name: 'customer_operator_name',
      expression: 'create index customer_operator_name on customer (operator_id, lower(legal_name), id)',
    },
    {
      name: 'customer_search',
      expression: `create index customer_search on customer using gin (
        search_words(operator_id, legal_name || ' ' || coalesce(trading_name, '') || ' ' || number || ' ' || coalesce(registration_number, '')))`,
    },
  ],
  triggers: [{ name: 'customer_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
  uniques: [{ name: 'customer_number_unique', properties: ['operator', 'number'] }],
})
