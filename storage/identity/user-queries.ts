/** Users: their profile and second factors, as they see them. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { Queries } from '../db/transaction.ts'

const USER = `select u.id, u.email, u.name, u.phone, u.locale, (extract(epoch from u.password_changed_at) * 1000)::float8,
    (extract(epoch from u.created_at) * 1000)::float8, (extract(epoch from u.updated_at) * 1000)::float8, u.version,
    exists (select from mfa_factor f where f.user_id = u.id and f.status = 'active')
  from platform_user u where u.id = $1`

type UserRow = [string, string, string, string | null, string, number | null, number, number, string, boolean]

/** Reads a user's profile with its version; null when the user does not exist. */
export async function getUser(database: Queries, id: string) {
  const [row] = await database.query<UserRow>({ name: 'get_user', text: USER, values: [id] })
  if (row === undefined) return null
  const [userId, email, name, phone, locale, passwordChangedAt, createdAt, updatedAt, version, mfaEnabled] = row
  return {
    version: BigInt(version),
    view: {
      id: userId,
      email,
      name,
      phone,
      locale,
      mfaEnabled,
      passwordChangedAt: passwordChangedAt === null ? null : timestamp(passwordChangedAt),
      createdAt: timestamp(createdAt),
      updatedAt: timestamp(updatedAt),
    },
  }
}

const FACTORS = `select id, kind, name, status, (extract(epoch from created_at) * 1000)::float8, (extract(epoch from last_used_at) * 1000)::float8
  from mfa_factor where user_id = $1 order by id`

type FactorRow = [string, 'totp', string, 'pending' | 'active', number, number | null]

/** Lists a user's second factors, oldest first; never their secrets. */
export async function listFactors(database: Database, userId: string) {
  const rows = await database.query<FactorRow>({ name: 'list_factors', text: FACTORS, values: [userId] })
  return rows.map(([id, kind, name, status, createdAt, lastUsedAt]) => ({
    id,
    kind,
    name,
    status,
    createdAt: timestamp(createdAt),
    lastUsedAt: lastUsedAt === null ? null : timestamp(lastUsedAt),
  }))
}
