/**
 * Accounts of customers at the sandbox bank: rows of sandbox_account. Times are epoch milliseconds. Statements only.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { Queries } from '../db/transaction.ts'

/** An account that is open, or opens at `opensAt`. */
export interface SandboxAccountEntry {
  readonly number: number
  readonly opensAt: number
}

/**
 * Reads an account; null when it was never opened.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function findSandboxAccount(database: Queries, reference: string): Promise<SandboxAccountEntry | null> {
  const [row] = await database.query<[number, number]>({
    name: 'sandbox_account',
    values: [reference],
    text: 'select number, (extract(epoch from opens_at) * 1000)::float8 from sandbox_account where reference = $1 and number is not null',
  })
  return row === undefined ? null : { number: row[0], opensAt: row[1] }
}

/**
 * Inserts an account that opens at `opensAt`, with the next free number; an existing reference is left as it is.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertSandboxAccount(database: Queries, reference: string, opensAt: number): Promise<void> {
  await database.query({
    name: 'sandbox_account_open',
    values: [reference, timestamp(opensAt)],
    text: `insert into sandbox_account (reference, number, opens_at) values ($1, nextval('sandbox_account_number'), $2) on conflict (reference) do nothing`,
  })
}

/**
 * Closes an account at `closesAt`, unless it has a closing time already.
 *
 * @returns when the account closes
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function closeSandboxAccount(database: Queries, reference: string, closesAt: number): Promise<number> {
  const [row] = await database.query<[number]>({
    name: 'sandbox_account_close',
    values: [reference, timestamp(closesAt)],
    text: `insert into sandbox_account as a (reference, closes_at) values ($1, $2)
        on conflict (reference) do update set closes_at = coalesce(a.closes_at, excluded.closes_at) returning (extract(epoch from a.closes_at) * 1000)::float8`,
  })
  return row![0]
}
