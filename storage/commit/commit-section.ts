/**
 * Sections of the commit statement (commit.ts): rows of one shape, bound as one array per column, and the SQL that uses
 * them.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, textArray } from '../db/array-literal.ts'

export type Value = string | number | bigint | null
/** `json` is text that holds a JSON document. */
export type ColumnType =
  | 'uuid'
  | 'bigint'
  | 'integer'
  | 'smallint'
  | 'numeric'
  | 'boolean'
  | 'text'
  | 'json'
  | 'timestamptz'
  | 'date'
  | 'jsonb'
export interface SectionColumn<Row> {
  readonly name: string
  readonly type: ColumnType
  readonly value: (row: Row) => Value
}

export const column = <Row>(name: string, type: ColumnType, value: (row: Row) => Value): SectionColumn<Row> => ({
  name,
  type,
  value,
})

/**
 * Separator: a control character, which JSON text never contains. An empty string between two separators stands for
 * null, because it is no JSON.
 */
const JSON_SEPARATOR = '\x1e'

/** SQL of a parameter as the array of a column's values. */
export function arrayOf(type: ColumnType, number: number): string {
  switch (type) {
    case 'json':
      return `string_to_array($${number}, e'\\x1e', '')`
    case 'jsonb':
      return `string_to_array($${number}, e'\\x1e', '')::jsonb[]`
    default:
      return `$${number}::${type}[]`
  }
}

export function valuesOf<Row>(rows: readonly Row[], { value }: SectionColumn<Row>): Value[] {
  const values = new Array<Value>(rows.length)
  for (let i = 0; i < rows.length; i++) values[i] = value(rows[i] as Row)
  return values
}

/** Encodes the values of a column for its parameter. */
export function encode(type: ColumnType, values: readonly Value[]): string {
  switch (type) {
    case 'text':
      return textArray(values as (string | null)[])
    // JSON values are by far the largest, and the service wrote them, so neither side needs to scan each character for
    // quotes and backslashes.
    case 'json':
    case 'jsonb':
      return values.join(JSON_SEPARATOR)
    // Times are milliseconds up to here.
    case 'timestamptz':
      return plainArray(values.map((ms) => (ms === null ? null : timestamp(ms as number))))
    default:
      return plainArray(values)
  }
}

/** A section of the statement: rows of one shape, bound as one array per column. */
export interface Section {
  readonly name: string
  readonly columns: readonly SectionColumn<never>[]
  /** `source` is the unnested rows as `u`; `bound(column)` is that column's array, for use in an index condition. */
  readonly sql: (source: string, bound: (column: string) => string) => string
}

export function section<Row>(
  name: string,
  columns: readonly SectionColumn<Row>[],
  sql: Section['sql'],
): Section & { readonly row?: Row } {
  return { name, columns: columns as unknown as readonly SectionColumn<never>[], sql }
}

/**
 * An insert of whole rows; `constants` are columns with the same value in every row. `name` tells two sections of one
 * table apart.
 */
export function insert<Row>(
  table: string,
  columns: readonly SectionColumn<Row>[],
  constants: Readonly<Record<string, string>> = {},
  name: string = table,
) {
  const names = [...columns.map((c) => c.name), ...Object.keys(constants)].join(', ')
  const values = [...columns.map((c) => `u.${c.name}`), ...Object.values(constants)].join(', ')
  return section<Row>(
    name,
    columns,
    (source) =>
      `${name}_written as (insert into ${table} (${names}) select ${values} from ${source} where (select ok from verdict))`,
  )
}

/** The fields that a rare move may write, each with its column. */
export type Changeable<Row> = {
  readonly [Member in keyof Row]?: readonly [name: string, type: Exclude<ColumnType, 'json'>]
}

/**
 * Collects the fields that are present in a rare move, as JSON: one parameter tells cleared columns (null) from
 * unchanged ones (absent).
 */
export function changesOf<Row>(changeable: Changeable<Row>, row: Row): string {
  const changes: Record<string, string | null> = {}
  for (const member in changeable) {
    const [name, type] = changeable[member] as readonly [string, ColumnType]
    const value = row[member] as Value | undefined
    if (value !== undefined)
      changes[name] = value === null ? null : type === 'timestamptz' ? timestamp(value as number) : String(value)
  }
  return JSON.stringify(changes)
}

/** SQL that assigns such changes, `u.changes`, to the columns of a table's alias. */
export function changed<Row>(changeable: Changeable<Row>, alias: string): string {
  return (Object.values(changeable) as (readonly [string, ColumnType])[])
    .map(
      ([name, type]) =>
        `${name} = case when u.changes ? '${name}' then (u.changes->>'${name}')::${type} else ${alias}.${name} end`,
    )
    .join(', ')
}

// ── Fences and stale facts ────────────────────────────────────────────────────────────────────────────────────────────

export interface Fence {
  readonly turn: number
  readonly id: string
  readonly version: bigint | number
}
export interface CommandRef {
  readonly command: number
  readonly id: string
}

/** The detail columns of a conflict that consists of its kind and its command only. */
export const NO_DETAIL = 'null::uuid, null::uuid, null::smallint, null::text, null::timestamptz'

/** Finds rows of this table that have the client's reference already. */
export function externalIds(table: 'payment' | 'transfer' | 'exchange') {
  return section<CommandRef & { readonly customerId: string }>(
    `${table}_external_id`,
    [
      column('command', 'integer', (e) => e.command),
      column('external_id', 'text', (e) => e.id),
      column('customer_id', 'uuid', (e) => e.customerId),
    ],
    (source) => `select 'external_id_used', u.command, null::uuid, x.id, null::smallint, null::text, null::timestamptz
    from ${source} join ${table} x on x.customer_id = u.customer_id and x.external_id = u.external_id`,
  )
}
