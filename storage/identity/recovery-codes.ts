/** Rows of recovery codes. Statements only; rules are elsewhere. Hashes are 64 lower-case hex digits. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'

/** Replaces a user's codes; none of the earlier ones works any more. The caller holds the lock of the profile. */
export async function replaceRecoveryCodes(
  client: TransactionClient,
  { userId, hashes, now }: { readonly userId: string; readonly hashes: readonly string[]; readonly now: number },
): Promise<void> {
  await client.query({ name: 'clear_codes', text: 'delete from recovery_code where user_id = $1', values: [userId] })
  await client.query({
    name: 'insert_codes',
    text: `insert into recovery_code (user_id, code_hash, created_at)
      select $1, decode(hash, 'hex'), $3 from unnest($2::text[]) hash`,
    values: [userId, hashes, timestamp(now)],
  })
}

/**
 * Uses a code up. Of two transactions that use one code the second waits for the first, and finds it used.
 *
 * @returns false when the user has no such code that was not used
 */
export async function useRecoveryCode(
  client: TransactionClient,
  { userId, hash, now }: { readonly userId: string; readonly hash: string; readonly now: number },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'use_code',
    text: `update recovery_code set used_at = $3 where user_id = $1 and code_hash = decode($2, 'hex') and used_at is null`,
    values: [userId, hash, timestamp(now)],
  })
  return rowCount === 1
}

/** Reads how many codes of a user are left, and when they were made, epoch milliseconds; null: none were made. */
export async function countRecoveryCodes(
  database: Queries,
  userId: string,
): Promise<{ readonly left: number; readonly createdAt: number | null }> {
  const [row] = await database.query<[number, number | null]>({
    name: 'count_codes',
    text: `select count(*) filter (where used_at is null)::int, (extract(epoch from max(created_at)) * 1000)::float8
      from recovery_code where user_id = $1`,
    values: [userId],
  })
  const [left, createdAt] = row!
  return { left, createdAt }
}
