/** Rows of passwords and of the links that reset them. Statements only; rules are elsewhere. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { lockPerson } from './identity-people.ts'

/** Sets a user's password. */
export async function setPassword(
  client: TransactionClient,
  userId: string,
  passwordHash: string,
  now: number,
): Promise<void> {
  await client.query({
    name: 'set_password',
    text: 'update platform_user set password_hash = $2, password_changed_at = $3, updated_at = $3, version = version + 1 where id = $1',
    values: [userId, passwordHash, timestamp(now)],
  })
}

/** Finds the user of a link that is still valid; null when the link is not. */
export async function findReset(database: Database, tokenSha256: string, now: number) {
  const [row] = await database.query<[string, string, string]>({
    name: 'find_reset',
    text: `select u.id, u.email, u.name from password_reset r join platform_user u on u.id = r.user_id
      where r.token_sha256 = decode($1, 'hex') and r.used_at is null and r.expires_at > $2::timestamptz and u.status = 'active'`,
    values: [tokenSha256, timestamp(now)],
  })
  return row === undefined ? null : { userId: row[0], email: row[1], name: row[2] }
}

/**
 * Writes a link unless the user has `resetsMax` of them; deletes expired ones. @returns whether the link was written
 */
export async function insertReset(
  client: TransactionClient,
  reset: {
    readonly tokenSha256: string
    readonly userId: string
    readonly now: number
    readonly expiresAt: number
    readonly resetsMax: number
  },
): Promise<boolean> {
  // The lock makes concurrent requests count one after the other.
  await lockPerson(client, reset.userId)
  await client.query({
    name: 'clear_resets',
    text: 'delete from password_reset where expires_at < $1',
    values: [timestamp(reset.now)],
  })
  const { rowCount } = await client.query({
    name: 'insert_reset',
    text: `insert into password_reset (token_sha256, user_id, created_at, expires_at)
      select decode($1, 'hex'), $2, $3, $4 where (select count(*) from password_reset where user_id = $2) < $5`,
    values: [reset.tokenSha256, reset.userId, timestamp(reset.now), timestamp(reset.expiresAt), reset.resetsMax],
  })
  return rowCount === 1
}

/**
 * Uses a link, and voids the user's other links. @returns false when it was used already: when two requests use one
 * link, the second gets false
 */
export async function useReset(
  client: TransactionClient,
  { tokenSha256, userId, now }: { readonly tokenSha256: string; readonly userId: string; readonly now: number },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'use_reset',
    text: `update password_reset set used_at = $2 where token_sha256 = decode($1, 'hex') and used_at is null`,
    values: [tokenSha256, timestamp(now)],
  })
  if (rowCount !== 1) return false
  await client.query({
    name: 'void_resets',
    text: 'update password_reset set used_at = $2 where user_id = $1 and used_at is null',
    values: [userId, timestamp(now)],
  })
  return true
}
