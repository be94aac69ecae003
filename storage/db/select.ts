/**
 * Select lists, and the readers of their rows: SQL and types from one declaration, so that no statement is read by
 * counting its columns.
 *
 * A list is an object of expressions by the names that the reader gives their values: the columns of an entity
 * (`from`), and SQL text beside them (`expression`). Times are read as epoch milliseconds, days as `YYYY-MM-DD`,
 * amounts as bigint, JSON parsed.
 */
import { columnName, declaredColumns, type EntityColumn, type ColumnType, type Entity } from './columns.ts'

/** How the driver's value becomes the reader's. */
type Reading = 'plain' | 'bigint' | 'json'

/** An expression of a select list; `Value` is what the reader makes of it. */
export interface SelectExpression<Value> {
  readonly sql: string
  readonly reading: Reading
  /** Of the types alone. */
  readonly '~value'?: () => Value
}

/** The row that a reader makes of these expressions. */
export type SelectedRow<Selected> = {
  readonly [Name in keyof Selected]: Selected[Name] extends { readonly '~value'?: () => infer Value } ? Value : never
}

/** A select list, and the readers of its rows. */
export interface Selection<Row> {
  /** The list for rows that the driver gives as arrays. */
  readonly sql: string
  /** The list with a name for each expression, for rows that the driver gives as objects. */
  readonly named: string
  /**
   * `first` is the place of the list's first expression in the row, where it is not the first list of the statement.
   */
  readonly read: (row: readonly unknown[], first?: number) => Row
  readonly readNamed: (row: object) => Row
  /** The number of its expressions. */
  readonly width: number
}

/** The columns of an entity as expressions, under the alias of its table in the statement; '' where it has none. */
export function from<Properties extends object>(
  entity: Entity<Properties>,
  alias: string,
): { readonly [Field in keyof Properties]: SelectExpression<ReadFrom<EntityColumn<Properties[Field]>>> } {
  const prefix = alias === '' ? '' : `${alias}.`
  return Object.fromEntries(
    declaredColumns(entity).map(({ field, name, type }) => [field, shown(prefix + name, type)]),
  ) as never
}

type ReadFrom<Of> = Of extends { readonly '~read'?: () => infer Value } ? Value : never

const epochMs = (sql: string): string => `(extract(epoch from ${sql}) * 1000)::float8`

function shown(sql: string, type: ColumnType | null): SelectExpression<unknown> {
  switch (type) {
    case 'bigint':
      return { sql, reading: 'bigint' }
    case 'json':
      return { sql, reading: 'json' }
    // The driver turns times and days into dates of the local zone.
    case 'timestamptz':
      return { sql: epochMs(sql), reading: 'plain' }
    case 'date':
      return { sql: `${sql}::text`, reading: 'plain' }
    default:
      return { sql, reading: 'plain' }
  }
}

/** An expression whose values are as the driver gives them. */
export const expression = <Value>(sql: string): SelectExpression<Value> => ({ sql, reading: 'plain' })

/** An expression of type timestamptz that is never null: epoch milliseconds. */
export const instantExpression = (sql: string): SelectExpression<number> => expression(epochMs(sql))

/** An expression of type timestamptz that may be null: epoch milliseconds. */
export const instantOrNull = (sql: string): SelectExpression<number | null> => expression(epochMs(sql))

/** An expression of type bigint that is never null. */
export const bigintExpression = (sql: string): SelectExpression<bigint> => ({ sql, reading: 'bigint' })

/** An expression of type bigint that may be null. */
export const bigintOrNull = (sql: string): SelectExpression<bigint | null> => ({ sql, reading: 'bigint' })

/** Makes the select list of these expressions, in their order. */
export function select<Selected extends Readonly<Record<string, SelectExpression<unknown>>>>(
  selected: Selected,
): Selection<SelectedRow<Selected>> {
  const expressions = Object.entries(selected)
  return {
    sql: expressions.map(([, { sql }]) => sql).join(', '),
    named: expressions.map(([name, { sql }]) => `${sql} as ${columnName(name)}`).join(', '),
    read: compiled('row, first = 0', expressions, (_, place) => `row[first + ${place}]`),
    readNamed: compiled('row', expressions, (name) => `row.${columnName(name)}`),
    width: expressions.length,
  }
}

const READINGS: Readonly<Record<Reading, (value: string) => string>> = {
  plain: (value) => value,
  bigint: (value) => `${value} === null ? null : BigInt(${value})`,
  json: (value) => `${value} === null ? null : JSON.parse(${value})`,
}

/**
 * Compiles the function that reads a row: it is as fast as one that is written by hand, and rows of one list have one
 * shape. Its text is made of the names of declarations alone, never of data.
 */
function compiled<Reader>(
  parameters: string,
  expressions: readonly (readonly [string, SelectExpression<unknown>])[],
  valueOf: (name: string, place: number) => string,
): Reader {
  const members = expressions.map(([name, { reading }], place) => {
    if (!/^[a-zA-Z][a-zA-Z0-9]*$/.test(name)) throw new Error(`${name} is no name of a value.`)
    return `${name}: ${READINGS[reading](valueOf(name, place))}`
  })
  return new Function(parameters, `return { ${members.join(', ')} }`) as Reader
}
