/** Rows of users: passwords and failed attempts for signing in, and profiles. Statements only; rules are elsewhere. */
import type pg from 'pg'
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { pick } from '../db/columns.ts'
import { from, select } from '../db/select.ts'
import { PlatformUser } from './platform-user-entity.ts'

/** The facts that signing in checks. Times are epoch milliseconds. */
export interface Credentials {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  readonly passwordHash: string | null
}

const { id: userId, ...USER } = pick(from(PlatformUser, 'u'), ['id', 'email', 'name', 'status', 'passwordHash'])
const CREDENTIALS = select({ userId, ...USER })

/** Finds the user with this folded e-mail address; null when no user has it. */
export async function findCredentials(database: Database, emailKey: string): Promise<Credentials | null> {
  const [row] = await database.query({
    name: 'find_credentials',
    text: `select ${CREDENTIALS.sql} from platform_user u where u.email_key = $1`,
    values: [emailKey],
  })
  return row === undefined ? null : CREDENTIALS.read(row)
}

/** Reads when the lock of an address ends, epoch milliseconds; null when the address is not locked now. */
export async function lockedUntil(database: Database, emailSha256: string, now: number): Promise<number | null> {
  const [row] = await database.query<[number]>({
    name: 'login_locked',
    text: `select (extract(epoch from locked_until) * 1000)::float8 from login_attempt
      where email_sha256 = decode($1, 'hex') and locked_until > $2::timestamptz`,
    values: [emailSha256, timestamp(now)],
  })
  return row?.[0] ?? null
}

/**
 * Counts a failed attempt. Each failure also deletes up to 20 rows of addresses without attempts for a day, so that
 * they cannot pile up.
 */
const FAILURE = `with old as (
    delete from login_attempt where email_sha256 in (
      select email_sha256 from login_attempt where updated_at < $2::timestamptz - interval '1 day' and email_sha256 <> decode($1, 'hex')
      order by updated_at limit 20 for update skip locked)
  )
  insert into login_attempt as a (email_sha256, failures, locked_until, updated_at) values (decode($1, 'hex'), 1, null, $2)
  on conflict (email_sha256) do update set
    failures = case when a.locked_until <= $2::timestamptz or a.updated_at <= $3::timestamptz then 1 else least(a.failures + 1, 1000) end,
    locked_until = case
      when a.locked_until > $2::timestamptz then a.locked_until
      when a.locked_until is null and a.updated_at > $3::timestamptz and a.failures + 1 >= $4 then $5::timestamptz end,
    updated_at = $2
  returning locked_until is not null`

/** Records a failed attempt, whether or not a user has the address. @returns whether the address is locked now */
export async function noteFailure(
  database: Database,
  emailSha256: string,
  { now, failuresMax, lockMs }: { readonly now: number; readonly failuresMax: number; readonly lockMs: number },
): Promise<boolean> {
  const [row] = await database.query<[boolean]>({
    name: 'login_failure',
    text: FAILURE,
    values: [emailSha256, timestamp(now), timestamp(now - lockMs), failuresMax, timestamp(now + lockMs)],
  })
  return row?.[0] === true
}

/** Deletes the failed attempts of an address. */
export async function clearFailures(client: pg.ClientBase, emailSha256: string): Promise<void> {
  await client.query({
    name: 'login_clear',
    text: `delete from login_attempt where email_sha256 = decode($1, 'hex')`,
    values: [emailSha256],
  })
}

/** The fields that users may change about themselves. */
export interface Profile {
  readonly name: string
  readonly phone: string | null
  readonly locale: string
}

/** Locks a person until the transaction ends, so that what is counted for the person is counted one after the other. */
export async function lockPerson(client: pg.ClientBase, userId: string): Promise<void> {
  await client.query({
    name: 'lock_person',
    text: 'select from platform_user where id = $1 for no key update',
    values: [userId],
  })
}

/** Locks a user's profile until the transaction ends, with its version; null when the user does not exist. */
export async function lockProfile(
  client: pg.ClientBase,
  userId: string,
): Promise<(Profile & { readonly version: bigint }) | null> {
  const {
    rows: [row],
  } = await client.query<Profile & { readonly version: string }>({
    name: 'lock_user',
    text: 'select name, phone, locale, version from platform_user where id = $1 for update',
    values: [userId],
  })
  return row === undefined ? null : { ...row, version: BigInt(row.version) }
}

export async function updateProfile(
  client: pg.ClientBase,
  userId: string,
  { name, phone, locale }: Profile,
  now: number,
): Promise<void> {
  await client.query({
    name: 'update_user',
    text: 'update platform_user set name = $2, phone = $3, locale = $4, version = version + 1, updated_at = $5 where id = $1',
    values: [userId, name, phone, locale, timestamp(now)],
  })
}
