/** Someone a customer pays. */
import { defineEntity, p } from '@mikro-orm/core'

export const Recipient = defineEntity({
  name: 'Recipient',
  tableName: 'recipient',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    type: p.text(),
    name: p.text(),
    nickname: p.text().nullable(),
    email: p.text().nullable(),
    currency: p.string().columnType('char(3)'),
    bankCountry: p.string().fieldName('bank_country').columnType('char(2)'),
    bank: p.json(),
    address: p.json().nullable(),
    maskedIdentifier: p.text().fieldName('masked_identifier'),
    defaultReference: p.text().fieldName('default_reference').nullable(),
    purpose: p.text().nullable(),
    externalId: p.text().fieldName('external_id').nullable(),
    status: p.text(),
    metadata: p.json().defaultRaw(`'{}'`),
    version: p.bigint().defaultRaw('1'),
    lastPaidAt: p.datetime().fieldName('last_paid_at').columnType('timestamptz').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  indexes: [
    { name: 'recipient_customer', expression: 'create index recipient_customer on recipient (customer_id, lower(name), id)' },
    { name: 'recipient_created', properties: ['customerId', 'id'] },
    { name: 'recipient_last_paid', expression: `create index recipient_last_paid on recipient (customer_id, coalesce(last_paid_at, '-infinity'::timestamptz), id)` },
    { name: 'recipient_search', expression: `create index recipient_search on recipient using gin ((search_words(customer_id, name || ' ' || coalesce(nickname, '') || ' ' || coalesce(email, '') || ' ' || masked_identifier)))` },
  ],
})
