/**
 * MikroORM's driver over the connections of this service. It opens none: a statement runs on the client of the running
 * transaction, or on the pool, whichever its entity manager was opened for. Values are bound and statements prepared,
 * where MikroORM's own connection writes the values into the SQL text, which Postgres then parses and plans each time.
 */
import {
  AbstractSqlDriver,
  isRaw,
  NativeQueryBuilder,
  PostgreSqlConnection,
  PostgreSqlPlatform,
  type Configuration,
  type RawQueryFragment,
  type Transaction,
} from '@mikro-orm/postgresql'
import pg from 'pg'

/** Runs statements: the pool, or the client of a transaction. */
export type StatementRunner = Pick<pg.ClientBase, 'query'>

/**
 * The number of texts that are prepared under a name; those beyond it are parsed at each call. There are a few for each
 * entity, but a condition on a list of values has one for each length.
 */
const NAMED_MAX = 1_000

/** OIDs of date, timestamp and timestamptz: MikroORM parses their text itself. */
const TEXT_OIDS: ReadonlySet<number> = new Set([1082, 1114, 1184])
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    TEXT_OIDS.has(oid) ? (value: string) => value : pg.types.getTypeParser(oid, format as 'text'),
}

export class EntityDriver extends AbstractSqlDriver<ClientConnection, PostgreSqlPlatform> {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), ClientConnection, ['kysely', 'pg'])
  }

  /** Errors stay those of pg, which callers classify by their SQLSTATE. */
  override convertException(exception: Error): never {
    throw exception
  }
}

class ClientConnection extends PostgreSqlConnection {
  /** The names of prepared statements by their text. */
  readonly #names = new Map<string, string>()

  override async execute<Result>(
    query: string | NativeQueryBuilder | RawQueryFragment,
    params: readonly unknown[] | Record<string, unknown> = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: Transaction,
  ): Promise<Result> {
    if (ctx === undefined) throw new Error('The entity manager was opened without a transaction or a pool.')
    const raw = query instanceof NativeQueryBuilder ? query.toRaw() : query
    const [template, given] = typeof raw === 'string' ? [raw, params as readonly unknown[]] : [raw.sql, raw.params]
    const { text, values } = bind(template, given, (name) => this.platform.quoteIdentifier(name))
    const name = this.#nameOf(text)
    const runner = ctx as unknown as StatementRunner
    const { rows, rowCount } = await runner.query<Record<string, unknown>>({
      ...(name === undefined ? {} : { name }),
      text,
      values,
      types: TYPES,
    })
    if (method === 'get') return rows[0] as Result
    if (method === 'all') return rows as Result
    return { affectedRows: rowCount ?? 0, row: rows[0], rows } as Result
  }

  #nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined || this.#names.size >= NAMED_MAX) return known
    const name = `entity_${this.#names.size}`
    this.#names.set(text, name)
    return name
  }
}

/** Matches a place in MikroORM's text: an escaped question mark, an identifier or a value. */
const PLACE = /\\\?|\?\??/g

/** Turns MikroORM's `?` into Postgres' `$1`; identifiers (`??`) and raw fragments are written into the text. */
function bind(
  template: string,
  params: readonly unknown[],
  quote: (name: string) => string,
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = []
  const place = (value: unknown): string => {
    if (isRaw(value)) return fill(value.sql, value.params)
    if (Array.isArray(value)) return value.map(place).join(', ')
    values.push(value)
    return `$${values.length}`
  }
  function fill(text: string, given: readonly unknown[]): string {
    let next = 0
    return text.replace(PLACE, (found) =>
      found === '\\?' ? '?' : found === '??' ? quote(given[next++] as string) : place(given[next++]),
    )
  }
  return { text: fill(template, params), values }
}
