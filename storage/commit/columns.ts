/**
 * Columns of a section (section.ts), declared by the fields of its rows, and the arrays in which their values are
 * bound.
 *
 * A declaration has a member for each field of the row type, in the order of the statement; a field without one does
 * not compile. The columns of an entity's table come from the entity (storage/db/columns.ts); for a table without
 * entity the type is written, and the name of the column is the name of its field in snake case.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import { columnName, type ColumnFor, type ColumnType } from '../db/columns.ts'

export type Value = string | number | bigint | boolean | null

/** The column types that hold values of a type. A time is a number of epoch milliseconds. */
type TypeFor<V> = V extends string
  ? 'uuid' | 'text' | 'json' | 'jsonb' | 'numeric' | 'date'
  : V extends number
    ? 'integer' | 'smallint' | 'bigint' | 'timestamptz'
    : V extends bigint
      ? 'bigint'
      : V extends boolean
        ? 'boolean'
        : never

/** A column whose values are computed from the row. */
export interface Computed<Row> {
  readonly type: ColumnType
  readonly value: (row: Row) => Value
}

/** Declares a computed column: of this type, or the column of an entity. */
export const computed = <Row>(
  column: ColumnType | { readonly type: ColumnType },
  value: (row: Row) => Value,
): Computed<Row> => ({
  type: typeof column === 'string' ? column : column.type,
  value,
})

/** Declares that a field of a row is no column of this section. */
export const NO_COLUMN = null

/** A member for each field of a row; `Extra` are the columns without a field of their name. */
export type Columns<Row, Extra extends string = never> = (Row extends object
  ? {
      readonly [Field in keyof Row]-?:
        | (undefined extends Row[Field] ? never : TypeFor<NonNullable<Row[Field]>>)
        | (undefined extends Row[Field] ? never : ColumnFor<Row[Field]>)
        | Computed<Row>
        | typeof NO_COLUMN
    }
  : unknown) & { readonly [Name in Extra]: Computed<Row> }

/** A column, and how its values are read from all rows of its section. */
export interface SectionColumn<Row> {
  readonly name: string
  readonly type: ColumnType
  readonly read: (rows: readonly Row[]) => Value[]
  /** Whether all rows, of which there is at least one, have the same value. */
  readonly isAlike: (rows: readonly Row[]) => boolean
}

/** A member of a declaration, whatever its row. */
type Declared = ColumnType | ColumnFor<never> | Computed<never> | typeof NO_COLUMN

/** The row that has a value for each column of a declaration. */
export type RowFor<Declaration> = {
  readonly [Field in keyof Declaration as Declaration[Field] extends ColumnFor<never> ? Field : never]: BoundIn<
    Declaration[Field]
  >
} & ComputedFrom<Declaration[keyof Declaration]>
type BoundIn<Member> = Member extends { readonly '~bound'?: (value: infer Bound) => void } ? Bound : never
/** The intersection of the rows that computed columns read. */
type ComputedFrom<Member> = (Member extends Computed<infer Row> ? (row: Row) => void : (row: unknown) => void) extends (
  row: infer Rows,
) => void
  ? Rows
  : never

/** Returns the columns of a declaration, in its order. */
export function columnsOf<Row>(declared: object): SectionColumn<Row>[] {
  return Object.entries(declared as Record<string, Declared>).flatMap(([field, column]) => {
    if (column === NO_COLUMN) return []
    if (typeof column === 'string') return { name: columnName(field), type: column, ...readersOf<Row>(field) }
    if ('value' in column) {
      const { type, value } = column as Computed<Row>
      const read = (rows: readonly Row[]) => valuesOf(rows, value)
      const isAlike = (rows: readonly Row[]) => {
        const first = value(rows[0] as Row)
        return rows.every((row) => value(row) === first)
      }
      return { name: columnName(field), type, read, isAlike }
    }
    return { name: column.name, type: column.type, ...readersOf<Row>(field) }
  })
}

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

/** SQL of a parameter as the value that a column has in all rows. */
export function valueOf(type: ColumnType, number: number): string {
  return `$${number}::${type === 'json' ? 'text' : type}`
}

/**
 * Compiles the functions that read a field of all rows. A commit reads some seventy fields of each command, of rows of
 * many shapes: a function for each field reads its rows at a known place, where one function for all of them looks
 * every field up by its name, which took a tenth of the time of building a statement. Fields are named by declarations
 * alone, never by data.
 */
function readersOf<Row>(field: string): Pick<SectionColumn<Row>, 'read' | 'isAlike'> {
  if (!/^[a-zA-Z]+$/.test(field)) throw new Error(`${field} is no field of a row.`)
  return {
    read: new Function(
      'rows',
      `const values = new Array(rows.length)
for (let i = 0; i < rows.length; i++) values[i] = rows[i].${field}
return values`,
    ) as SectionColumn<Row>['read'],
    isAlike: new Function(
      'rows',
      `const first = rows[0].${field}
for (let i = 1; i < rows.length; i++) if (rows[i].${field} !== first) return false
return true`,
    ) as SectionColumn<Row>['isAlike'],
  }
}

function valuesOf<Row>(rows: readonly Row[], value: (row: Row) => Value): Value[] {
  const values = new Array<Value>(rows.length)
  for (let i = 0; i < rows.length; i++) values[i] = value(rows[i] as Row)
  return values
}

/** Encodes the value that a column has in all rows; null is sent as null. */
export function encodeOne(type: ColumnType, value: Value): string | null {
  if (value === null) return null
  return type === 'timestamptz' ? timestamp(value as number) : String(value)
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
