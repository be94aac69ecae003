/**
 * The columns of a bulk file: one table for CSV, spreadsheets, the JSON variant, templates and reports.
 *
 * Names are matched in any case and in any order. A name that is not in the table makes the whole file unusable,
 * because money would otherwise leave according to only a part of the file.
 */

/** The part of the row that a cell belongs to. */
export type ColumnTarget = 'instruction' | 'bank' | 'address'

export interface FileColumn {
  /** The name in the first line of a file. */
  readonly name: string
  /** The name in the JSON variant and in the object that the cell becomes. */
  readonly member: string
  readonly target: ColumnTarget
  /** Most code points of a cell. */
  readonly maxLength: number
}

/** The columns of one kind of table, and those without which a file is unusable. */
export interface BulkTable {
  readonly columns: readonly FileColumn[]
  /** Without each of these columns no row says enough. */
  readonly required: readonly string[]
  /** Of these columns the table has one at least, which names the party. */
  readonly named: readonly string[]
  /** Whether each row has an amount in a currency that the row names. */
  readonly hasAmount: boolean
}

export const column = (
  name: string,
  target: ColumnTarget,
  maxLength: number,
  member = camelCase(name),
): FileColumn => ({
  name,
  member,
  target,
  maxLength,
})

export const COLUMNS: readonly FileColumn[] = [
  column('recipient_id', 'instruction', 36),
  column('recipient_name', 'instruction', 140),
  column('recipient_type', 'instruction', 10),
  column('currency', 'instruction', 3),
  column('amount', 'instruction', 24),
  column('reference', 'instruction', 140),
  column('bank_country', 'bank', 2),
  column('iban', 'bank', 42),
  column('bic', 'bank', 11),
  column('account_number', 'bank', 34),
  column('sort_code', 'bank', 8),
  column('routing_number', 'bank', 11),
  column('account_type', 'bank', 8),
  column('bsb', 'bank', 7),
  column('institution_number', 'bank', 4),
  column('transit_number', 'bank', 5),
  column('bank_code', 'bank', 11),
  column('branch_code', 'bank', 6),
  column('clearing_number', 'bank', 8),
  column('ifsc', 'bank', 11),
  column('clabe', 'bank', 18),
  column('secondary_reference', 'bank', 35),
  column('address_line1', 'address', 70, 'line1'),
  column('address_line2', 'address', 70, 'line2'),
  column('city', 'address', 35),
  column('postal_code', 'address', 16),
  column('state', 'address', 35),
  column('country', 'address', 2),
  column('source_balance_id', 'instruction', 36),
  column('rail', 'instruction', 24),
  column('execution_date', 'instruction', 10),
  column('charge_bearer', 'instruction', 9),
  column('purpose_code', 'instruction', 35),
  column('purpose', 'instruction', 140),
  column('end_to_end_id', 'instruction', 35),
  column('external_id', 'instruction', 64),
  column('recipient_email', 'instruction', 254),
  column('notify_recipient', 'instruction', 5),
  column('internal_note', 'instruction', 500),
]

/** A column `metadata.<key>` becomes an attribute of each payment. */
export const METADATA_PREFIX = 'metadata.'
const METADATA_KEY = /^[A-Za-z0-9_-]{1,40}$/
export const METADATA_COLUMNS_MAX = 50
/** A header with more cells than this cannot be valid: it would need more columns than exist. */
export const COLUMNS_MAX = COLUMNS.length + METADATA_COLUMNS_MAX

export const PAYMENT_TABLE: BulkTable = {
  columns: COLUMNS,
  required: ['currency', 'amount'],
  named: ['recipient_id', 'recipient_name'],
  hasAmount: true,
}

const BY_NAME = new WeakMap<BulkTable, ReadonlyMap<string, FileColumn>>()

function namesOf(table: BulkTable): ReadonlyMap<string, FileColumn> {
  const names = BY_NAME.get(table) ?? new Map(table.columns.map((each) => [each.name, each]))
  BY_NAME.set(table, names)
  return names
}

const BY_MEMBER = new Map(COLUMNS.map((each) => [each.target === 'address' ? camelCase(each.name) : each.member, each]))

/** The destination of the cells of one column. */
export type CellTarget = { readonly column: FileColumn } | { readonly metadataKey: string }

/** Finds the column of a header cell; null when there is none. */
export function columnNamed(name: string, table: BulkTable = PAYMENT_TABLE): CellTarget | null {
  const plain = name.trim()
  const column = namesOf(table).get(plain.toLowerCase())
  if (column !== undefined) return { column }
  return metadataColumn(plain)
}

/**
 * Finds the column of a member of the JSON variant, such as `recipientName` for `recipient_name`; null when there is
 * none.
 */
export function columnOfMember(member: string): CellTarget | null {
  const column = BY_MEMBER.get(member)
  return column === undefined ? metadataColumn(member) : { column }
}

/** Returns the column name as it stands in files and messages. */
export const columnName = (target: CellTarget): string =>
  'column' in target ? target.column.name : `${METADATA_PREFIX}${target.metadataKey}`

function metadataColumn(name: string): CellTarget | null {
  if (name.slice(0, METADATA_PREFIX.length).toLowerCase() !== METADATA_PREFIX) return null
  const metadataKey = name.slice(METADATA_PREFIX.length)
  return METADATA_KEY.test(metadataKey) ? { metadataKey } : null
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
