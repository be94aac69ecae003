/** Account details of a balance: one row for each set of bank identifiers by which payers reach the balance. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import type { AccountDetailsRecord, AccountIdentifiers } from '../../lib/accounts/details.ts'
import { dueTriggers } from '../db/due-work.ts'

const TELL_NODES = `create trigger own_accounts_changed after insert or delete or update of status, identifiers, shared on account_details
  for each row execute function own_accounts_changed()`

export const AccountDetails = defineEntity({
  name: 'AccountDetails',
  tableName: 'account_details',
  properties: {
    id: p.uuid().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    balanceId: p.uuid().fieldName('balance_id'),
    currency: p.string().columnType('char(3)'),
    scope: p.text().$type<AccountDetailsRecord['scope']>(),
    rails: p.array().$type<AccountDetailsRecord['rails']>().columnType('text[]'),
    status: p.text().$type<AccountDetailsRecord['status']>(),
    statusReason: p.text().fieldName('status_reason').nullable(),
    accountHolderName: p.text().fieldName('account_holder_name'),
    identifiers: p.json<AccountIdentifiers>().nullable(),
    bankName: p.text().fieldName('bank_name').nullable(),
    bankAddress: p.json<NonNullable<AccountDetailsRecord['bankAddress']>>().fieldName('bank_address').nullable(),
    country: p.string().columnType('char(2)').nullable(),
    shared: p.boolean(),
    reference: p.text().nullable(),
    estimatedArrival: p
      .json<NonNullable<AccountDetailsRecord['estimatedArrival']>>()
      .fieldName('estimated_arrival')
      .nullable(),
    validFrom: instant().fieldName('valid_from').nullable(),
    validUntil: instant().fieldName('valid_until').nullable(),
    replacedById: p.uuid().fieldName('replaced_by_id').nullable(),
    createdAt: instant().fieldName('created_at'),
    connectionId: p.uuid().fieldName('connection_id'),
    shard: p.smallint(),
    dueAt: instant().fieldName('due_at').nullable(),
  },
  indexes: [
    { name: 'account_details_balance', properties: ['balanceId', 'id'] },
    { name: 'account_details_customer', properties: ['customerId'] },
    {
      name: 'account_details_iban',
      expression: `create index account_details_iban on account_details ((identifiers->>'iban'))`,
    },
    {
      name: 'account_details_account_number',
      expression: `create index account_details_account_number on account_details ((identifiers->>'accountNumber'))`,
    },
    {
      name: 'account_details_clabe',
      expression: `create index account_details_clabe on account_details ((identifiers->>'clabe'))`,
    },
    { name: 'account_details_due', properties: ['dueAt'], where: 'due_at is not null' },
  ],
  triggers: [
    ...dueTriggers('account_details', 'due_at'),

    { name: 'own_accounts_changed', timing: 'after', events: ['insert', 'delete', 'update'], expression: TELL_NODES },
  ],
})
