/** Templates of bulk files: the columns that the reader accepts, and one example row for each usual case. Pure. */
import { COLUMNS } from './columns.ts'

/**
 * The example rows, by column. Their accounts are those of the sandbox, so an unchanged template is read without a
 * fault.
 */
const EXAMPLES: readonly Readonly<Record<string, string>>[] = [
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

/** The header. A customer may add columns `metadata.<key>`. */
export const TEMPLATE_COLUMNS: readonly string[] = COLUMNS.map(({ name }) => name)

/** The rows below the header; null is an empty cell. */
export const TEMPLATE_ROWS: readonly (readonly (string | null)[])[] = EXAMPLES.map((example) =>
  TEMPLATE_COLUMNS.map((name) => example[name] ?? null),
)
