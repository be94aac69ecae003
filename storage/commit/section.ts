/**
 * Sections of the commit statement (commit.ts): rows of one shape, bound as one array per column, and the SQL that uses
 * them. A noun declares the sections of its rows in its own folder; storage/sections lists them all.
 *
 * A section that writes is a CTE; a section that compares (a fence) selects the rows of which the facts are stale, and
 * says which conflict each of them is.
 */
import type { Effects } from '../../lib/decisions/effects.ts'
import type { ResourceType } from '../../lib/base/resource-types.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { ColumnFor, Entity } from '../db/columns.ts'
import { columnsOf, computed, NO_COLUMN, type SectionColumn, type Columns, type RowFor, type Value } from './columns.ts'
import type { CommitCommand, TurnFence } from './turn.ts'

/** A section of the statement: rows of one shape, bound as one array per column. */
export interface Section<Row> {
  readonly name: string
  readonly columns: readonly SectionColumn<Row>[]
  /** Indexes of columns that have one value in all rows of most commits, in groups (`alike`). */
  readonly alike?: readonly (readonly number[])[]
  /** `source` is the unnested rows as `u`; `bound(column)` is that column's array, for use in an index condition. */
  readonly sql: (source: string, bound: (column: string) => string) => string
  /** The member of Effects that brings rows; absent where the rows come with those of another section. */
  readonly effect?: Gathering
  /**
   * Rows are gathered under a key, and several changes of one key make one row: a statement cannot write a row twice.
   * They are written as they arrived, or sorted by their keys.
   */
  readonly keyed?: 'as they arrive' | 'sorted'
  /** Locks the rows that the statement compares or changes, before it does. */
  readonly lock?: Lock
}

/** A row of a member of Effects; the member itself where it is no list. */
export type RowOf<Member extends keyof Effects> =
  NonNullable<Effects[Member]> extends readonly (infer Row)[] ? Row : NonNullable<Effects[Member]>

/** A member of Effects, and what each of its rows adds to the batch. */
export interface Gathering {
  readonly member: keyof Effects
  /** Null: each row of the member is a row of the section, and adds nothing else. */
  readonly gather: ((row: never, batch: Batch) => void) | null
}

/** A CTE that locks rows in the order of their ids. */
export interface Lock {
  readonly name: string
  /**
   * `ids` is the array of the ids; `after` are the locks that this lock must wait for (`waitsFor`): without that the
   * planner chose which table is locked first, batch by batch, and two nodes that moved the same rows deadlocked.
   */
  readonly sql: (ids: string, after: readonly string[]) => string
}

/** SQL condition that makes a CTE wait for those locks. */
export const waitsFor = (locks: readonly string[]): string =>
  locks.map((lock) => `and (select count(*) from ${lock}) >= 0`).join(' ')

/** The rows of a commit while they are gathered from its commands. */
export interface Batch {
  /** The index of the command of which the effects are gathered. */
  readonly nth: number
  /** The balance whose turn it is; null when no balance decides. */
  readonly decides: string | null
  add<Row>(section: Section<Row>, row: Row): void
  /** The rows of a keyed section by their keys. */
  keyed<Row>(section: Section<Row>): Map<string, Row>
  /**
   * Adds the fence of a row that this command changes. One statement writes a row once, and a second change would be
   * lost, while its postings would not: of two commands that change one row, the later is stale.
   */
  change(fence: VersionFence, id: string, version: number): void
  /** Adds the effects that a row of this command brings with it. */
  effects(effects: Effects): void
}

export function section<Row, Extra extends string = never>(
  name: string,
  columns: Columns<Row, Extra>,
  sql: Section<Row>['sql'],
): Section<Row> {
  return { name, columns: columnsOf(columns), sql }
}

/**
 * An insert of whole rows; `constants` are columns with the same value in every row. `name` tells two sections of one
 * table apart.
 */
export function insert<Row, Extra extends string = never>(
  table: string,
  declared: Columns<Row, Extra>,
  constants: Readonly<Record<string, string>> = {},
  name: string = table,
): Section<Row> {
  return insertOf(table, declared, constants, name)
}

/**
 * An insert of whole rows into an entity's table. `declared` is made of the entity's columns: each of them is a field
 * of the rows, so a column that the entity has and the rows lack does not compile.
 */
export function insertInto<Declaration extends object>(
  { tableName }: Pick<Entity<unknown>, 'tableName'>,
  declared: Declaration,
  constants: Readonly<Record<string, string>> = {},
  name: string = tableName,
): Section<RowFor<Declaration>> {
  return insertOf(tableName, declared, constants, name)
}

function insertOf<Row>(
  table: string,
  declared: object,
  constants: Readonly<Record<string, string>>,
  name: string,
): Section<Row> {
  const columns = columnsOf<Row>(declared)
  const names = [...columns.map((c) => c.name), ...Object.keys(constants)].join(', ')
  const values = [...columns.map((c) => `u.${c.name}`), ...Object.values(constants)].join(', ')
  return {
    name,
    columns,
    sql: (source) =>
      `${name}_written as (insert into ${table} (${names}) select ${values} from ${source} where (select ok from verdict))`,
  }
}

/**
 * Declares columns that have one value in all rows of most commits. When every column of a group has one value in the
 * rows of a commit, each of them is sent once instead of as an array; otherwise all of the group are arrays. Groups
 * follow what makes rows differ (the kind of change, the balance), because each combination is one more statement.
 *
 * @throws Error when the section has no column of a name, which is a bug
 */
export function alike<Row>(part: Section<Row>, ...groups: readonly (readonly string[])[]): Section<Row> {
  const indexOf = (name: string): number => {
    const index = part.columns.findIndex((column) => column.name === name)
    if (index < 0) throw new Error(`The section ${part.name} has no column ${name}.`)
    return index
  }
  return { ...part, alike: groups.map((names) => names.map(indexOf)) }
}

/** Binds a section to a member of Effects: each row of the member is a row of the section. */
export function rowsOf<Member extends keyof Effects>(
  member: Member,
  part: Section<RowOf<Member>>,
): Section<RowOf<Member>> {
  return { ...part, effect: { member, gather: null } }
}

/** Binds a section to a member of Effects of which each row adds what `gather` adds. */
export function gathered<Member extends keyof Effects, Part extends Section<never>>(
  member: Member,
  part: Part,
  gather: (row: RowOf<Member>, batch: Batch) => void,
): Part {
  return { ...part, effect: { member, gather } }
}

// ── Changes of some columns
// ───────────────────────────────────────────────────────────────────────────────────────────

/** The members that each rare move has. */
interface MoveRow {
  readonly id: string
  readonly version: number
  readonly status: string
  readonly updatedAt: number
}
/** The columns of the fields that a rare move may write. A field without a column does not compile. */
export type Changeable<Row> = {
  readonly [Field in Exclude<keyof Row, keyof MoveRow>]-?: ColumnFor<Exclude<Row[Field], undefined>>
}
type AnyChangeable = Readonly<Record<string, ColumnFor<never>>>

/**
 * A section of rare moves. Its column `changes` holds the fields that are present in a move, as JSON: one parameter
 * tells cleared columns (null) from unchanged ones (absent).
 */
export function moves<Row>(name: string, changeable: Changeable<Row>, sql: Section<Row>['sql']): Section<Row> {
  const fields = Object.entries(changeable as AnyChangeable)
  const changes = computed('jsonb', (row: unknown) => {
    const present: Record<string, string | null> = {}
    for (let i = 0; i < fields.length; i++) {
      const [field, column] = fields[i] as (typeof fields)[number]
      const value = (row as Record<string, Value | undefined>)[field]
      if (value !== undefined)
        present[column.name] =
          value === null ? null : column.type === 'timestamptz' ? timestamp(value as number) : String(value)
    }
    return JSON.stringify(present)
  })
  return {
    name,
    columns: columnsOf<unknown>({
      id: 'uuid',
      version: NO_COLUMN,
      status: 'text',
      updatedAt: 'timestamptz',
      changes,
    } satisfies Columns<MoveRow, 'changes'>),
    sql,
  }
}

/** SQL that assigns such changes, `u.changes`, to the columns of a table's alias. */
export function changed<Row>(changeable: Changeable<Row>, alias: string): string {
  return Object.values(changeable as AnyChangeable)
    .map(({ name, type }) => {
      const text = `(u.changes->>'${name}')::${type === 'json' ? 'text' : type}`
      return `${name} = case when u.changes ? '${name}' then ${text} else ${alias}.${name} end`
    })
    .join(', ')
}

// ── Fences
// ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The finding of a fence: the turn or command that it belongs to, and the detail columns (null where it selects none).
 */
export interface Found {
  /** The index of the turn or of the command. */
  readonly nth: number
  readonly fingerprint: string | null
  readonly resourceType: ResourceType | null
  readonly resourceId: string | null
  readonly status: number | null
  readonly answer: string | null
  readonly decidedAt: Date | null
}

/** A section that writes nothing and finds stale facts; `C` is the conflict that a row of its answer becomes. */
export interface Fence<Row, C> extends Section<Row> {
  readonly conflict: Conflicts<C>
  /** Adds the fence of a turn, where it is the turns that this fence compares. */
  readonly turn?: (fence: TurnFence, index: number, batch: Batch) => void
}

/** A kind of conflict, and how it is told to the caller of the commit. */
export interface Conflicts<C> {
  readonly kind: string
  readonly of: (found: Found, commands: readonly CommitCommand[]) => C
}

/** A conflict that consists of its kind and the command that cannot be written as it was decided. */
export interface CommandConflict<Kind extends string> {
  readonly kind: Kind
  readonly command: CommitCommand
}

/** Conflicts of a command, without further detail. */
export const commandConflict = <Kind extends string>(kind: Kind): Conflicts<CommandConflict<Kind>> => ({
  kind,
  of: ({ nth }, commands) => ({ kind, command: commands[nth] as CommitCommand }),
})

/** Conflicts of a command with a resource that exists: its id is the detail `resourceId`. */
export const existingConflict = <Kind extends string>(
  kind: Kind,
): Conflicts<CommandConflict<Kind> & { readonly existingId: string }> => ({
  kind,
  of: ({ nth, resourceId }, commands) => ({
    kind,
    command: commands[nth] as CommitCommand,
    existingId: resourceId as string,
  }),
})

/** The detail columns of a conflict with a resource that exists. */
export function existingDetail(id: string): string {
  return `null::uuid, null::text, ${id}, null::smallint, null::text, null::timestamptz`
}

/** The detail columns of a conflict that consists of its kind and its command only. */
export const NO_DETAIL = existingDetail('null::uuid')

/**
 * A fence. Its first column is the index of the turn or command; `sql` returns what follows `select` of the conflict's
 * kind and that index: the detail columns, and the rows that are stale.
 */
export function fence<Row, C>(
  conflict: Conflicts<C>,
  name: string,
  declared: Columns<Row>,
  sql: Section<Row>['sql'],
): Fence<Row, C> {
  const columns = columnsOf<Row>(declared)
  const beginning = `select '${conflict.kind}', u.${columns[0]?.name}, `
  return { name, columns, conflict, sql: (source, bound) => beginning + sql(source, bound) }
}

/** A row of which the version is compared; the turn is the index of a command. */
export interface VersionRow {
  readonly turn: number
  readonly id: string
  readonly version: number
}
export type VersionFence = Fence<VersionRow, unknown>

/**
 * A fence that locks the rows of a table which change, and finds those of another version than the decision has read.
 * `alias` is the name of the table in the statement.
 */
export function versionFence<C>(conflict: Conflicts<C>, table: string, alias: string) {
  const locked = `locked_${table}`
  const id = `${alias}.id`
  return {
    ...fence<VersionRow, C>(
      conflict,
      `${table}_fence`,
      { turn: 'integer', id: 'uuid', version: 'integer' },
      (source) => `${NO_DETAIL} from ${source} left join ${locked} l on l.id = u.id
  where l.version is distinct from u.version`,
    ),
    lock: {
      name: locked,
      sql: (ids: string, after: readonly string[]) => `
  select ${id}, ${alias}.version from ${table} ${alias} where ${id} = any(${ids}) ${waitsFor(after)} order by ${id} for update`,
    },
  }
}

export interface CommandRef {
  readonly command: number
  readonly id: string
}

/** A decision rests on a fact of another row that has changed since. */
export const FACT_STALE = commandConflict('fact_stale')

const EXTERNAL_ID_USED = existingConflict('external_id_used')

/** A client's reference of a new row. */
export interface ExternalId {
  readonly command: number
  readonly externalId: string
  readonly customerId: string
}

/** A fence that finds rows of a table that have the client's reference already. */
export const externalIds = (table: string) =>
  fence<ExternalId, ReturnType<typeof EXTERNAL_ID_USED.of>>(
    EXTERNAL_ID_USED,
    `${table}_external_id`,
    { command: 'integer', externalId: 'text', customerId: 'uuid' },
    (source) => `${existingDetail('x.id')}
    from ${source} join ${table} x on x.customer_id = u.customer_id and x.external_id = u.external_id`,
  )
