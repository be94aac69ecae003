/** Templates of bulk files, by format: the columns that the reader accepts, and one example row for each usual case. Pure. */
import { PAYMENT_TABLE, type BulkTable } from './columns.ts'
import { COLLECTION_TABLE, MANDATE_TABLE } from './debit-columns.ts'
import type { TemplateFormat } from './formats.ts'

/**
 * The example rows, by column. Their accounts are those of the sandbox, so an unchanged template is read without a
 * fault.
 */
const PAYMENTS: readonly Readonly<Record<string, string>>[] = [
  // A recipient that already exists.
  {
    recipient_id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
    currency: 'EUR',
    amount: '125.00',
    reference: 'Invoice 42',
    external_id: 'INV-42',
  },
  // Euro by IBAN.
  {
    recipient_name: 'Lumen GmbH',
    currency: 'EUR',
    amount: '1250.50',
    reference: 'Invoice 43',
    bank_country: 'NL',
    iban: 'NL77SBOX0100000001',
    external_id: 'INV-43',
  },
  // An individual, in pounds by sort code.
  {
    recipient_name: 'Ada Marsh',
    recipient_type: 'individual',
    currency: 'GBP',
    amount: '80.00',
    reference: 'Salary',
    bank_country: 'GB',
    sort_code: '990001',
    account_number: '12345678',
  },
  // Dollars by routing number, where an address is required.
  {
    recipient_name: 'Harbor Supplies Inc',
    currency: 'USD',
    amount: '310.75',
    reference: 'Order 7001',
    bank_country: 'US',
    routing_number: '099000011',
    account_number: '1000000001',
    account_type: 'checking',
    address_line1: '1 Pier Street',
    city: 'New York',
    postal_code: '10004',
    state: 'NY',
    country: 'US',
  },
]

/** A mandate of each kind of account. */
const MANDATES: typeof PAYMENTS = [
  {
    scheme: 'sepa_dd_core',
    balance_id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
    counterparty_name: 'Ada Marsh',
    counterparty_kind: 'consumer',
    iban: 'NL77SBOX0100000001',
    signed_at: '2026-05-04',
  },
  {
    scheme: 'bacs_dd',
    balance_id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e60',
    counterparty_name: 'Lumen Ltd',
    counterparty_kind: 'business',
    sort_code: '990001',
    account_number: '12345678',
    amount_limit: '500.00',
    authorisation_source: 'paper',
  },
]

/** Collections by the mandate's id, and by its reference. */
const COLLECTIONS: typeof PAYMENTS = [
  {
    mandate_id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
    currency: 'EUR',
    amount: '49.90',
    reference: 'Subscription May',
    due_date: '2026-06-01',
    external_id: 'SUB-42',
  },
  { mandate_reference: 'WBK3J9X2M4P7Q1ZT', currency: 'EUR', amount: '120.00', reference: 'Invoice 43' },
]

interface Template {
  /** The name of the file, without its ending. */
  readonly name: string
  /** The name of the sheet, where the format has sheets. */
  readonly sheetName: string
  readonly file: 'csv' | 'xlsx'
  /** The header. A customer may add columns `metadata.<key>`. */
  readonly columns: readonly string[]
  /** The rows below the header; null is an empty cell. */
  readonly rows: readonly (readonly (string | null)[])[]
}

function template(
  { columns: all }: BulkTable,
  examples: typeof PAYMENTS,
  named: Pick<Template, 'name' | 'sheetName' | 'file'>,
): Template {
  const columns = all.map(({ name }) => name)
  return { ...named, columns, rows: examples.map((example) => columns.map((name) => example[name] ?? null)) }
}

const payments = { name: 'bulk-payments', sheetName: 'Payments' } as const

export const TEMPLATES: Readonly<Record<TemplateFormat, Template>> = {
  csv: template(PAYMENT_TABLE, PAYMENTS, { ...payments, file: 'csv' }),
  xlsx: template(PAYMENT_TABLE, PAYMENTS, { ...payments, file: 'xlsx' }),
  mandates_csv: template(MANDATE_TABLE, MANDATES, { name: 'mandates', sheetName: 'Mandates', file: 'csv' }),
  collections_csv: template(COLLECTION_TABLE, COLLECTIONS, {
    name: 'collections',
    sheetName: 'Collections',
    file: 'csv',
  }),
}
