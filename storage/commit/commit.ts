/**
 * The hot transaction: writes the effects of many decisions in one prepared statement of chained CTEs.
 *
 * Promises
 * - I1/I3: rows are locked in one global order (`order by id for update`, balances before payments before exchanges).
 *   The versions that the decisions were made on are compared; unless all of them match, nothing is written, and the
 *   caller gets the list of stale decisions and sends the rest again. A single statement is its own transaction: it has
 *   committed when its answer arrives.
 * - I5: a command whose idempotency record or external id exists already is reported with the recorded answer.
 * - I6: posted amounts move only by postings, each of one debit and one credit of the same amount.
 *
 * This engine knows no kind of row: it is given the sections (section.ts) of all nouns. It gathers their rows, finds
 * which of them have any, puts the text together, and reads the conflicts back.
 *
 * Decisions, with figures (two cores, fsync on, embedded Postgres 18)
 * - All or nothing, rather than leaving out the stale turns in SQL: a stale turn needs two writers for one customer,
 *   which leases make rare, and a predicate on every insert would slow every commit.
 * - The statement is put together from the sections that have rows and the parameters they share, and each combination
 *   is prepared once under its own name: an empty section costs some 20 µs, and only a few dozen combinations occur.
 * - Columns that the locked row of the balance or the payment has too (customer, operator, connection, shard) are sent
 *   all the same. CPU of payments accepted, handed over and settled, in commits of 8 and 32 of different customers,
 *   forms in turn, medians of 2 to 4 runs: read from the lock's CTE instead, these columns cost the backend up to 6 %
 *   more, never less, and save Node nothing, because a join for each section costs more than its arrays. Sent once,
 *   without any join (wrong rows, but the limit of what can be saved), they save at most 6 %, at 8 nothing that is
 *   clear of the noise. One unnest for all sections of equally many rows: between 3 % less and 2 % more. A statement
 *   for settlements alone, whose rows all come from the locked payments (16 values, here 51), takes 13 to 20 % less of
 *   the backend and 31 to 53 % less of Node; it would be a second way to write their effects.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { GatheredBatch, Sections } from './batch.ts'
import { arrayOf, valueOf, type SectionColumn, type Value } from './columns.ts'
import { Parameters } from './parameters.ts'
import { NO_DETAIL, type Conflicts, type Fence, type Found, type Lock, type Section } from './section.ts'
import type { CommitCommand, CommitConnection, CommitTurn } from './turn.ts'

/**
 * `balances`: the rows of the first section as Postgres now holds them; `conflicts`: every reason why nothing was
 * written; `late`: nothing was sent either, because these commands change rows that earlier commands of this commit
 * change. Without them the others can be committed.
 */
export type CommitAnswer<Written, C> =
  | { readonly ok: true; readonly balances: readonly Written[] }
  | { readonly ok: false; readonly late: boolean; readonly conflicts: readonly C[] }

/** The section of which the rows are answered, and the first that is locked. */
export interface AnsweredSection<Written> {
  readonly part: Section<never>
  readonly lock: Lock
  /** The first column of its rows in the answer, which tells them from conflicts. */
  readonly kind: string
  /** SQL that selects the rows of its CTE in the columns of the answer. */
  readonly sql: string
  readonly read: (row: readonly unknown[]) => Written
}

/** The sections of all nouns. */
export interface CommitSections<Written, C> {
  readonly answered: AnsweredSection<Written>
  /** The sections that write, in the order of the statement, after the one that is answered. */
  readonly writes: readonly Section<never>[]
  readonly fences: readonly Fence<never, C>[]
}

/**
 * Commits the turns together, or writes nothing.
 *
 * @param nowMs the time the batch is written at; balances show it as `updatedAt`.
 * @returns the balances as Postgres now holds them, or every reason why nothing was written.
 * @throws the driver's errors. An error with an SQLSTATE proves that nothing was written; a lost connection does not
 * (I7).
 */
export type Commit<Written, C> = (
  connection: CommitConnection,
  turns: readonly CommitTurn[],
  nowMs: number,
) => Promise<CommitAnswer<Written, C>>

/**
 * Statements that are prepared, at most; each takes some 100 kB on each lane. A day of payments needs about two dozen,
 * three for each combination of sections. Beyond this number parameters are no longer shared, which leaves one
 * statement for each combination.
 */
const SHAPES_MAX = 256

/** The columns of the answer: those of a conflict, and the amounts of a balance. */
const CONFLICT_COLUMNS = 'kind, nth, fingerprint, resource_type, resource_id, status, answer, decided_at'

/**
 * Returns the commit that writes these sections, of at most `shapesMax` statements in which columns share parameters.
 *
 * @throws Error when two sections have one name, or two fences tell one kind of conflict differently, which is a bug
 */
export function commitOf<Written, C>(
  { answered, writes, fences }: CommitSections<Written, C>,
  shapesMax = SHAPES_MAX,
): Commit<Written, C> {
  const sections = new Sections([answered.part, ...writes], fences)
  const statements = new Statements(sections, answered)
  const conflicts = conflictsByKind(fences)

  return async (connection, turns, nowMs) => {
    const batch = new GatheredBatch(sections)
    turns.forEach((turn, index) => batch.turn(turn, index))
    if (batch.late.length > 0) return { ok: false, late: true, conflicts: batch.late }
    /** Indexes of the sections that have rows, ascending. */
    const present: number[] = []
    const parameters = new Parameters(timestamp(nowMs), statements.size < shapesMax)
    for (let index = 0; index < sections.all.length; index++) {
      const rows = batch.rowsAt(index)
      if (rows === undefined || rows.length === 0) continue
      present.push(index)
      bindRows(parameters, sections.all[index] as Section<unknown>, rows)
    }
    const { rows } = await connection.query({
      ...statements.statementFor(present, parameters.numbers),
      values: parameters.values,
      rowMode: 'array',
    })
    const found: C[] = []
    const balances: Written[] = []
    for (const row of rows) {
      if (row[0] === answered.kind) balances.push(answered.read(row))
      else found.push(conflictOf(conflicts.get(row[0] as string) as Conflicts<C>, row, batch.commands))
    }
    return found.length > 0 ? { ok: false, late: false, conflicts: found } : { ok: true, balances }
  }
}

/** Binds the rows of a section, of which there is at least one. */
function bindRows(parameters: Parameters, { columns, alike }: Section<unknown>, rows: readonly unknown[]): void {
  if (alike === undefined || !parameters.shares) {
    for (const column of columns) parameters.bind(column.type, column.read(rows))
    return
  }
  const once = new Set<number>()
  for (const group of alike)
    if (group.every((index) => (columns[index] as SectionColumn<unknown>).isAlike(rows)))
      for (const index of group) once.add(index)
  for (let index = 0; index < columns.length; index++) {
    const { type, read } = columns[index] as SectionColumn<unknown>
    if (once.has(index)) parameters.bindOne(type, read(rows.slice(0, 1))[0] as Value)
    else parameters.bind(type, read(rows))
  }
}

function conflictsByKind<C>(fences: readonly Fence<never, C>[]): ReadonlyMap<string, Conflicts<C>> {
  const conflicts = new Map<string, Conflicts<C>>()
  for (const { conflict } of fences) {
    if ((conflicts.get(conflict.kind)?.of ?? conflict.of) !== conflict.of)
      throw new Error(`Two fences tell ${conflict.kind} differently.`)
    conflicts.set(conflict.kind, conflict)
  }
  return conflicts
}

function conflictOf<C>(conflict: Conflicts<C>, row: readonly unknown[], commands: readonly CommitCommand[]): C {
  const [, nth, fingerprint, resourceType, resourceId, status, answer, decidedAt] = row as [
    string,
    ...Found[keyof Found][],
  ]
  return conflict.of({ nth, fingerprint, resourceType, resourceId, status, answer, decidedAt } as Found, commands)
}

/** SQL of the rows of a section: unnested arrays, and the columns that have one value in all rows. */
function sourceOf(bound: ReadonlyMap<string, string>, once: readonly string[]): string {
  const unnested = (alias: string) =>
    `unnest(${[...bound.values()].join(', ')}) as ${alias}(${[...bound.keys()].join(', ')})`
  return once.length === 0 ? unnested('u') : `(select r.*, ${once.join(', ')} from ${unnested('r')}) as u`
}

interface Statement {
  readonly name: string
  readonly text: string
}

/** The prepared texts, by their sections and shared parameters. */
class Statements<Written, C> {
  readonly #sections: Sections<C>
  readonly #answered: AnsweredSection<Written>
  readonly #statements = new Map<string, Statement>()

  constructor(sections: Sections<C>, answered: AnsweredSection<Written>) {
    this.#sections = sections
    this.#answered = answered
  }

  get size(): number {
    return this.#statements.size
  }

  /** Returns the statement of the sections that are present; `numbers` are the parameters of their columns. */
  statementFor(present: readonly number[], numbers: readonly number[]): Statement {
    const shape = `${present.join('.')}:${numbers.join(',')}`
    const known = this.#statements.get(shape)
    if (known !== undefined) return known
    const statement = { name: `commit_${this.#statements.size}`, text: this.#text(present, numbers) }
    this.#statements.set(shape, statement)
    return statement
  }

  #text(present: readonly number[], numbers: readonly number[]): string {
    let next = 0
    const writes: string[] = []
    const fences: string[] = []
    const locks = new Map<Lock, string>([[this.#answered.lock, 'array[]::uuid[]']])
    for (const index of present) {
      const part = this.#sections.all[index] as Section<never>
      const bound = new Map<string, string>()
      const once: string[] = []
      for (const { name, type } of part.columns) {
        const number = numbers[next++] as number
        if (number > 0) bound.set(name, arrayOf(type, number))
        else once.push(`${valueOf(type, -number)} as ${name}`)
      }
      const source = sourceOf(bound, once)
      const sql = part.sql(source, (name) => bound.get(name) as string)
      const lock = index === 0 ? this.#answered.lock : part.lock
      if (lock !== undefined) locks.set(lock, bound.get('id') as string)
      if (this.#sections.isFence(index)) fences.push(sql)
      else writes.push(sql)
    }
    const names = [...locks.keys()].map(({ name }) => name)
    const locked = [...locks].map(
      ([{ name, sql }, ids], nth) => `${name} as materialized (${sql(ids, names.slice(0, nth))})`,
    )
    const stale = fences.length > 0 ? fences.join('\n  union all ') : `select null, null, ${NO_DETAIL} where false`
    return `with ${locked.join(', ')},
stale(${CONFLICT_COLUMNS}) as materialized (
  ${stale}),
verdict as materialized (select not exists (select from stale) and (select count(*) from ${names[0]}) >= 0 and $1::timestamptz is not null as ok),
${writes.join(',\n')}
select ${CONFLICT_COLUMNS}, null::bigint, null::bigint, null::bigint, null::bigint from stale
${present[0] !== 0 ? '' : `union all ${this.#answered.sql}`}`
  }
}
