/** Rows of mandates and collections as the bodies of a client, and their faults as columns. */
import t from 'tap'
import { columnNamed } from '../../../lib/bulk-payments/columns.ts'
import { COLLECTION_TABLE, MANDATE_TABLE } from '../../../lib/bulk-payments/debit-columns.ts'
import { collectionBodyOf, columnOfDebitField, mandateBodyOf } from '../../../lib/bulk-payments/debit-of-row.ts'
import { RowReader, type RowFault } from '../../../lib/bulk-payments/instruction.ts'
import { readHeader } from '../../../lib/bulk-payments/header.ts'
import { TEMPLATES } from '../../../lib/bulk-payments/template.ts'
import type { BulkTable } from '../../../lib/bulk-payments/columns.ts'

function row(table: BulkTable, cells: Readonly<Record<string, string>>, separator: '.' | ',' = '.') {
  const reader = new RowReader(separator, table)
  for (const [name, text] of Object.entries(cells)) {
    const target = columnNamed(name, table)
    if (target === null) throw new Error(`There is no column ${name}.`)
    reader.cell(target, text)
  }
  return reader.end(1, 2)
}

t.test('a row of mandates is the body of a mandate', async (t) => {
  const { instruction, faults } = row(
    MANDATE_TABLE,
    {
      scheme: 'bacs_dd',
      balance_id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e60',
      counterparty_name: 'Lumen Ltd',
      counterparty_kind: 'business',
      sort_code: '990001',
      account_number: '12345678',
      amount_limit: '500,5',
      address_line1: '1 High Street',
      city: 'Leeds',
      country: 'gb',
      signed_at: '2026-05-04',
      'metadata.contract': 'C-42',
    },
    ',',
  )
  t.strictSame(faults, [], 'no currency and no amount is needed')
  const more: RowFault[] = []
  t.strictSame(mandateBodyOf(instruction, ',', more), {
    direction: 'collect',
    scheme: 'bacs_dd',
    reference: '',
    balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e60',
    amountLimit: { amountMinor: '50050', currency: 'GBP' },
    signedAt: '2026-05-04',
    counterparty: {
      name: 'Lumen Ltd',
      kind: 'business',
      sortCode: '990001',
      accountNumber: '12345678',
      address: { line1: '1 High Street', city: 'Leeds', country: 'GB' },
    },
    metadata: { contract: 'C-42' },
  })
  t.strictSame(more, [])
})

t.test('a limit that cannot be read is a fault of its column', async (t) => {
  const { instruction } = row(MANDATE_TABLE, { scheme: 'pad', counterparty_name: 'A', amount_limit: '1.234' })
  const faults: RowFault[] = []
  t.notOk('amountLimit' in mandateBodyOf(instruction, '.', faults))
  t.match(faults, [{ column: 'amount_limit', code: 'invalid_value' }])
})

t.test('a row of collections is the body of a collection', async (t) => {
  const { instruction, faults } = row(COLLECTION_TABLE, {
    mandate_reference: 'WB1',
    currency: 'eur',
    amount: '49.90',
    reference: 'May',
    due_date: '2026-06-01',
    external_id: 'S-1',
  })
  t.strictSame(faults, [])
  t.equal(instruction.mandateReference, 'WB1')
  t.strictSame(collectionBodyOf(instruction, 'm-1'), {
    mandateId: 'm-1',
    amount: { amountMinor: '4990', currency: 'EUR' },
    reference: 'May',
    dueDate: '2026-06-01',
    externalId: 'S-1',
  })
  t.match(row(COLLECTION_TABLE, { mandate_id: 'x', currency: 'EUR', reference: 'a' }).faults, [
    { column: 'amount', code: 'required' },
  ])
})

t.test('fields of the API are told by their columns', async (t) => {
  for (const [field, column] of [
    ['/counterparty/iban', 'iban'],
    ['/counterparty/name', 'counterparty_name'],
    ['/counterparty/address/line1', 'address_line1'],
    ['/amountLimit/amountMinor', 'amount_limit'],
    ['/balanceId', 'balance_id'],
    ['/dueDate', 'due_date'],
    ['/mandateId', 'mandate_id'],
    ['/amount/currency', 'currency'],
    ['/metadata/a', 'metadata.a'],
    [null, ''],
  ] as const)
    t.equal(columnOfDebitField(field), column)
})

t.test('a header of another kind of file is refused, and templates have their own', async (t) => {
  const header = (names: string, table: BulkTable) => {
    try {
      return readHeader(names.split(','), 1, table).length
    } catch (error) {
      return (error as { readonly errors: readonly { readonly code: string; readonly message: string }[] }).errors.map(
        ({ code, message }) => `${code} ${message}`,
      )
    }
  }
  t.strictSame(header('recipient_name,currency,amount', MANDATE_TABLE), [
    'unknown_column There is no column recipient_name.',
    'unknown_column There is no column currency.',
    'unknown_column There is no column amount.',
    'missing_column The column scheme is missing.',
    'missing_column The column balance_id is missing.',
    'missing_column The column counterparty_name is missing.',
  ])
  t.strictSame(header('currency,amount,reference', COLLECTION_TABLE), [
    'missing_column The file has neither a column mandate_id nor a column mandate_reference.',
  ])
  t.equal(header('mandate_id,currency,amount,reference,metadata.a', COLLECTION_TABLE), 5)
  for (const [format, table] of [
    ['mandates_csv', MANDATE_TABLE],
    ['collections_csv', COLLECTION_TABLE],
  ] as const) {
    const { columns, rows } = TEMPLATES[format]
    for (const cells of rows) {
      const given = Object.fromEntries(columns.flatMap((name, nth) => (cells[nth] == null ? [] : [[name, cells[nth]]])))
      t.strictSame(row(table, given).faults, [], format)
    }
  }
})
