/**
 * The columns of entities, for statements that are written by hand.
 *
 * An entity (`<noun>-entity.ts`) is the one declaration of its table's columns: their names and types in SQL are read
 * from MikroORM's metadata, once, when a module is loaded; the types of their values are those of the entity. A field
 * that the entity does not have does not compile.
 */
import { p, Type } from '@mikro-orm/core'
import { PostgreSqlPlatform } from '@mikro-orm/postgresql'

/** `json` is a column of type text that holds a JSON document. */
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

/** JSON in a column of type text: Postgres keeps the text as it was written, and neither side parses it on the way. */
class JsonText<T> extends Type<T, string> {
  override convertToDatabaseValue(value: T): string {
    return JSON.stringify(value)
  }
  override convertToJSValue(text: string): T {
    return JSON.parse(text) as T
  }
  override getColumnType(): string {
    return 'text'
  }
}

/** A property of an entity: a JSON document in a column of type text. */
export const jsonText = <T>() => p.type(JsonText<T>)

/** An entity, as far as its columns go. */
export interface Entity<Properties> {
  readonly tableName: string
  readonly properties: Properties
}

/** The type of a property's values, null included where the column can be null. */
type ValueOf<Property> = Property extends {
  readonly '~type'?: { value: infer Value }
  readonly '~options': infer Options
}
  ? Value | (Options extends { nullable: true } ? null : never)
  : never

/** A value as it is bound: a document is JSON text. */
type Bound<Value> = unknown extends Value
  ? string | null
  : Value extends string | number | bigint | boolean | null
    ? Value
    : string

/** A column that takes values of a type. */
export interface ColumnFor<in Bound> {
  readonly name: string
  readonly type: ColumnType
  /** Of the types alone. */
  readonly '~bound'?: (value: Bound) => void
}

/** A column of an entity, for a property of this type. */
export interface EntityColumn<Property> extends ColumnFor<Bound<ValueOf<Property>>> {
  /** Of the types alone. */
  readonly '~read'?: () => ValueOf<Property>
}

/** The columns of an entity by their fields. */
export type EntityColumns<Properties> = { readonly [Field in keyof Properties]: EntityColumn<Properties[Field]> }

const platform = new PostgreSqlPlatform()

const TYPES: Readonly<Record<string, ColumnType>> = {
  uuid: 'uuid',
  bigint: 'bigint',
  int: 'integer',
  smallint: 'smallint',
  numeric: 'numeric',
  boolean: 'boolean',
  text: 'text',
  char: 'text',
  varchar: 'text',
  timestamptz: 'timestamptz',
  date: 'date',
  jsonb: 'jsonb',
}

interface Metadata {
  readonly fieldName?: string
  readonly columnType?: string
  readonly columnTypes?: readonly string[]
  readonly type?: unknown
}

/** A column as it is declared; the type is null where it is none that commits bind, such as an array. */
export interface DeclaredColumn {
  readonly field: string
  readonly name: string
  readonly type: ColumnType | null
}

/** Reads the columns of an entity from MikroORM's metadata, in the order of the entity's declaration. */
export function declaredColumns({ properties }: Entity<object>): readonly DeclaredColumn[] {
  return Object.entries(properties as Record<string, Metadata>).map(([field, property]) => ({
    field,
    name: property.fieldName ?? columnName(field),
    type: property.type === JsonText ? 'json' : (TYPES[declaredType(property).replace(/\(.*/, '')] ?? null),
  }))
}

/**
 * Returns the columns of an entity by their fields, in the order of its declaration.
 *
 * @throws Error for a column that commits cannot bind
 */
export function columns<Properties extends object>(entity: Entity<Properties>): EntityColumns<Properties> {
  return Object.fromEntries(
    declaredColumns(entity).map(({ field, name, type }) => {
      if (type === null) throw new Error(`The column ${name} has a type that no commit binds.`)
      return [field, { name, type }]
    }),
  ) as unknown as EntityColumns<Properties>
}

/** The type in SQL as the entity declares it; '' for a relation, whose column has the type of the other's key. */
function declaredType(property: Metadata): string {
  const [declared = property.columnType] = property.columnTypes ?? []
  if (declared !== undefined) return declared
  if (property.type === undefined) return ''
  const type = property.type instanceof Type ? property.type : Type.getType(property.type as new () => Type)
  return type.getColumnType(property as never, platform)
}

/** Returns the name of a field's column: `customerId` is `customer_id`. */
export const columnName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** SQL of the names of columns, as an insert lists them. */
export const namesOf = (of: Readonly<Record<string, { readonly name: string }>>): string =>
  Object.values(of)
    .map(({ name }) => name)
    .join(', ')

/** Returns these members of columns, or of expressions, in this order. */
export const pick = <Members extends object, const Field extends keyof Members & string>(
  members: Members,
  fields: readonly Field[],
): Pick<Members, Field> => Object.fromEntries(fields.map((field) => [field, members[field]])) as Pick<Members, Field>

/** Returns the members but for these. */
export const without = <Members extends object, const Field extends keyof Members & string>(
  members: Members,
  fields: readonly Field[],
): Omit<Members, Field> =>
  Object.fromEntries(
    Object.entries(members).filter(([field]) => !(fields as readonly string[]).includes(field)),
  ) as Omit<Members, Field>
