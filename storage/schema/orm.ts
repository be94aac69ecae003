/** MikroORM over one pool: the model, and queries that are rare. */
import { MikroORM } from '@mikro-orm/postgresql'
import type { Options } from '@mikro-orm/postgresql'

import { StartError } from '../../lib/base/errors.ts'

export interface OrmOptions {
  /** A `postgres://` address. Its parameters (`sslmode` and others) apply. */
  readonly url: string
  readonly entities?: NonNullable<Options['entities']>
  /** The most connections the pool opens. */
  readonly poolMax: number
}

/** Timeout of a connect: a server this slow is treated as gone. */
const CONNECT_TIMEOUT_MS = 5_000

/**
 * Opens the pool and checks that the database answers. The caller closes it.
 *
 * @throws StartError with one sentence that names the host and port when the database cannot be reached.
 */
export async function openOrm(options: OrmOptions): Promise<MikroORM> {
  const orm = await MikroORM.init(ormOptions(options))
  try {
    // `init` only reads the model; without this, an unreachable database would fail the first query instead.
    await orm.connect()
    await orm.em.execute('select 1')
  } catch (error) {
    await orm.close(true)
    throw unreachable(options.url, error)
  }
  return orm
}

/** The options that all of the service's ORM connections share. */
export function ormOptions(options: OrmOptions): Options {
  return {
    clientUrl: options.url,
    entities: [...(options.entities ?? [])],
    // The migrator, and a database without entities, are valid uses.
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: options.poolMax },
    // MikroORM takes only host, user and database from the address; passing the whole address to pg keeps `sslmode`.
    driverOptions: {
      connectionString: options.url,
      application_name: 'vostro',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    },
    debug: false,
    // Errors of the ORM arrive as exceptions; standard output belongs to the service's own log.
    logger: () => undefined,
    colors: false,
    forceUtcTimezone: true,
  }
}

/**
 * Makes the error for a database that cannot be reached or refuses the login: its host, port and name, never its
 * password.
 */
export function unreachable(url: string, cause: unknown): StartError {
  const { hostname, port, pathname } = new URL(url)
  const reason = reasonOf(cause)
  return new StartError(
    `The database ${decodeURIComponent(pathname.slice(1))} at ${hostname}:${port || '5432'} cannot be reached ` +
      `(${reason}); start it or correct DATABASE_URL.`,
    { cause },
  )
}

function reasonOf(cause: unknown): string {
  // A host with several addresses fails with one error for each.
  const error = cause instanceof AggregateError ? cause.errors[0] : cause
  if (!(error instanceof Error)) return String(error)
  return 'code' in error ? `${error.code}: ${error.message}` : error.message
}
