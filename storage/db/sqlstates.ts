/**
 * Classifies the driver's errors: the only file that knows SQLSTATEs by their meaning.
 *
 * An error with an SQLSTATE comes from the server, which has rolled the statement back, with the exceptions named here.
 * An error without an SQLSTATE is of the connection, and leaves the outcome of a sent statement unknown.
 */

/**
 * The transaction may have committed despite the error: the connection broke, or the server was stopped, between the
 * commit and its confirmation.
 */
export const OUTCOME_UNKNOWN_SQLSTATES = /^(08...|57P0[12345])$/

/**
 * The database is unavailable at present: the connection broke (08), the server is read-only, out of disk, memory or
 * connections (53), is stopping or starting (57) or cannot use its files (58). The statement itself is not at fault.
 */
export const UNAVAILABLE_SQLSTATES = /^(08...|25006|53...|57...|58...)$/

/**
 * Another transaction was in the way: a serialization failure, or a deadlock that this one lost. A repetition may
 * succeed.
 */
export const LOST_RACE_SQLSTATES: ReadonlySet<string> = new Set(['40001', '40P01'])

/** A row with this key exists already. */
export const UNIQUE_VIOLATION = '23505'

/**
 * Errors after which a group commit is repeated: a lost race; a duplicate key, which may be of one of its commands or
 * of a row that becomes visible at the next attempt; and a lock that was not granted in time.
 */
export const REPEATED_COMMIT_SQLSTATES: ReadonlySet<string> = new Set([
  ...LOST_RACE_SQLSTATES,
  UNIQUE_VIOLATION,
  '55P03',
])

/** The role has not the right to do this. */
export const INSUFFICIENT_PRIVILEGE = '42501'

/** The statement took longer than its statement_timeout, or was cancelled. */
export const QUERY_CANCELED = '57014'

/**
 * Returns the five characters of a server error, or null for an error of the connection itself (whose code, such as
 * EPIPE, has no digit).
 */
export function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null
}

/** Whether an error of the driver proves that the statement was rolled back. */
export function provesRollback(error: unknown): boolean {
  const state = sqlState(error)
  return state !== null && !OUTCOME_UNKNOWN_SQLSTATES.test(state)
}

/** Whether the error means that another transaction was in the way, and nothing was written. */
export function lostRace(error: unknown): boolean {
  return LOST_RACE_SQLSTATES.has(sqlState(error) ?? '')
}
