/** A recipient: a payee of a customer. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { Editor } from '../../lib/approvals/requesters.ts'
import type { RecipientSnapshot } from '../../lib/payments/payment.ts'
import type { RecipientStatus } from '../../lib/recipients/review.ts'
import type { RecipientVerification } from '../../lib/recipients/verification.ts'

/** The trigger as the migration defines it: nodes that cache a recipient are notified when it changes. */
const TELL_NODES = `create trigger recipient_changed after update of version, status on recipient
  for each row execute function recipient_changed()`

export const Recipient = defineEntity({
  name: 'Recipient',
  tableName: 'recipient',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    type: p.text().$type<RecipientSnapshot['type']>(),
    name: p.text(),
    nickname: p.text().nullable(),
    email: p.text().nullable(),
    currency: p.string().columnType('char(3)'),
    bankCountry: p.string().fieldName('bank_country').columnType('char(2)'),
    bank: p.json<Record<string, string | null>>(),
    address: p.json().nullable(),
    maskedIdentifier: p.text().fieldName('masked_identifier'),
    defaultReference: p.text().fieldName('default_reference').nullable(),
    purpose: p.text().nullable(),
    externalId: p.text().fieldName('external_id').nullable(),
    accountIdentity: p.text().fieldName('account_identity').nullable(),
    verification: p.json<RecipientVerification>().nullable(),
    approval: p.json().nullable(),
    status: p.text().$type<RecipientStatus>(),
    metadata: p.json().defaultRaw(`'{}'`),
    version: p.bigint().defaultRaw('1'),
    lastPaidAt: instant().fieldName('last_paid_at').nullable(),
    editors: p.json<Editor[]>().defaultRaw(`'[]'`),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  indexes: [
    {
      name: 'recipient_customer',
      expression: 'create index recipient_customer on recipient (customer_id, lower(name), id)',
    },
    { name: 'recipient_created', properties: ['customerId', 'id'] },
    {
      name: 'recipient_last_paid',
      expression: `create index recipient_last_paid on recipient (customer_id, coalesce(last_paid_at, '-infinity'::timestamptz), id)`,
    },
    {
      name: 'recipient_account_unique',
      expression: `create unique index recipient_account_unique on recipient (customer_id, currency, account_identity) where status <> 'deleted'`,
    },
    {
      name: 'recipient_external_id_unique',
      expression: `create unique index recipient_external_id_unique on recipient (customer_id, external_id) where external_id is not null and status <> 'deleted'`,
    },
    {
      name: 'recipient_iban',
      expression: `create index recipient_iban on recipient ((bank->>'iban')) where status <> 'deleted'`,
    },
    {
      name: 'recipient_account_number',
      expression: `create index recipient_account_number on recipient ((bank->>'accountNumber')) where status <> 'deleted'`,
    },
    {
      name: 'recipient_clabe',
      expression: `create index recipient_clabe on recipient ((bank->>'clabe')) where status <> 'deleted'`,
    },
    {
      name: 'recipient_search',
      expression: `create index recipient_search on recipient using gin ((search_words(customer_id, name || ' ' || coalesce(nickname, '') || ' ' || coalesce(email, '') || ' ' || masked_identifier)))`,
    },
  ],
  triggers: [{ name: 'recipient_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
})
