/** The columns of files of mandates and of collections. Accounts and addresses have the names that they have in files of payments. */
import { column, COLUMNS, type BulkTable } from './columns.ts'

/** The columns of payments with these names, which mean the same here. */
const shared = (...names: readonly string[]) => COLUMNS.filter(({ name }) => names.includes(name))

export const MANDATE_TABLE: BulkTable = {
  columns: [
    column('scheme', 'instruction', 20),
    column('direction', 'instruction', 10),
    column('reference', 'instruction', 35),
    column('balance_id', 'instruction', 36),
    column('counterparty_name', 'instruction', 140),
    column('counterparty_kind', 'instruction', 10),
    column('creditor_id', 'instruction', 35),
    ...shared(
      'iban',
      'bic',
      'sort_code',
      'account_number',
      'routing_number',
      'account_type',
      'bsb',
      'institution_number',
      'transit_number',
    ),
    ...shared('address_line1', 'address_line2', 'city', 'postal_code', 'state', 'country'),
    column('sequence_type', 'instruction', 10),
    column('amount_limit', 'instruction', 24),
    column('consent_type', 'instruction', 10),
    column('authorisation_source', 'instruction', 10),
    column('signed_at', 'instruction', 10),
  ],
  required: ['scheme', 'balance_id'],
  named: ['counterparty_name'],
  hasAmount: false,
}

export const COLLECTION_TABLE: BulkTable = {
  columns: [
    column('mandate_id', 'instruction', 36),
    column('mandate_reference', 'instruction', 35),
    ...shared('currency', 'amount', 'reference'),
    column('due_date', 'instruction', 10),
    ...shared('external_id'),
  ],
  required: ['currency', 'amount', 'reference'],
  named: ['mandate_id', 'mandate_reference'],
  hasAmount: true,
}
