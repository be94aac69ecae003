/** API keys from their stored fields: for authentication, and for the users who manage keys. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { pick } from '../db/columns.ts'
import { expression, from, instantOrNull, select } from '../db/select.ts'
import { ApiKey } from './api-key-entity.ts'

const KEY = select({
  ...pick(from(ApiKey, ''), ['id', 'name', 'environment', 'status', 'level', 'tenantId', 'scopes', 'ipAllowlist']),
  sha256: expression<string>(`encode(sha256, 'hex')`),
  // A replaced key works until its grace period or its own expiry ends, whichever is earlier.
  expiresAtMs: instantOrNull('least(expires_at, grace_ends_at)'),
  lastUsedAtMs: instantOrNull('last_used_at'),
})

/** Finds the key whose text has this SHA-256 (64 hex digits), whatever its status; null when it does not exist. */
export async function findApiKey(database: Database, sha256: string) {
  const [row] = await database.query({
    name: 'find_api_key',
    text: `select ${KEY.sql} from api_key where sha256 = decode($1, 'hex')`,
    values: [sha256],
  })
  if (row === undefined) return null
  const key = KEY.read(row)
  return { ...key, status: key.status === 'revoked' ? ('revoked' as const) : ('active' as const) }
}

// The end of grace or expiry changes no row, so the status shown is derived from `$now`.
const status = (
  now: string,
) => `case when k.status = 'revoked' or (k.status = 'rotating' and k.grace_ends_at <= ${now}) then 'revoked'
    when k.expires_at <= ${now} then 'expired' else k.status end`

const ms = (column: string) => `(extract(epoch from k.${column}) * 1000)::float8 as ${column}_ms`

/** The columns of a key for display; `now` is the parameter of the time, for example `$1::timestamptz`. */
export const apiKeyColumns = (
  now: string,
): string => `k.id, k.tenant_id, k.level, k.name, k.environment, k.prefix, k.scopes, k.ip_allowlist,
  ${status(now)} as status, ${ms('expires_at')}, ${ms('grace_ends_at')}, k.replaced_by_id, k.replaces_id, ${ms('last_used_at')},
  k.last_used_ip, k.created_by, ${ms('created_at')}, k.revoked_by, k.version,
  (extract(epoch from coalesce(k.revoked_at, case when k.status = 'rotating' and k.grace_ends_at <= ${now} then k.grace_ends_at end)) * 1000)::float8 as revoked_at_ms`

export interface ApiKeyRow {
  readonly id: string
  readonly tenant_id: string
  readonly level: 'customer' | 'operator'
  readonly name: string
  readonly environment: 'live' | 'test'
  readonly prefix: string
  readonly scopes: string[]
  readonly ip_allowlist: string[]
  readonly status: 'active' | 'rotating' | 'expired' | 'revoked'
  readonly expires_at_ms: number | null
  readonly grace_ends_at_ms: number | null
  readonly replaced_by_id: string | null
  readonly replaces_id: string | null
  readonly last_used_at_ms: number | null
  readonly last_used_ip: string | null
  readonly created_by: string
  readonly created_at_ms: number
  readonly revoked_at_ms: number | null
  readonly revoked_by: string | null
  readonly version: string
}

const time = (value: number | null): string | null => (value === null ? null : timestamp(value))

/** A key as the API shows it. */
export function apiKeyView(row: ApiKeyRow) {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    level: row.level,
    name: row.name,
    environment: row.environment,
    prefix: row.prefix,
    scopes: row.scopes,
    ipAllowlist: row.ip_allowlist,
    status: row.status,
    expiresAt: time(row.expires_at_ms),
    graceEndsAt: time(row.grace_ends_at_ms),
    replacedById: row.replaced_by_id,
    replacesId: row.replaces_id,
    lastUsedAt: time(row.last_used_at_ms),
    lastUsedIp: row.last_used_ip,
    createdBy: row.created_by,
    createdAt: timestamp(row.created_at_ms),
    revokedAt: time(row.revoked_at_ms),
    revokedBy: row.revoked_by,
  }
}
export type ApiKeyJson = ReturnType<typeof apiKeyView>

/** A key with its version. Uses of the key change neither its version nor its entity tag. */
export function versionedApiKey(row: ApiKeyRow) {
  return { version: BigInt(row.version), view: apiKeyView(row), untagged: ['lastUsedAt', 'lastUsedIp'] }
}

export interface ApiKeyFilters {
  readonly status?: readonly string[]
  readonly environment?: readonly string[]
  readonly scope?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type ApiKeyListQuery = RowQuery<ApiKeyFilters, '-createdAt' | 'name'>

const ID = { expression: sql`k.id`, type: 'uuid' } as const
const ORDERS: Readonly<Record<ApiKeyListQuery['sort'], Order>> = {
  '-createdAt': { keys: [ID], descending: true },
  name: { keys: [{ expression: sql`lower(k.name)`, type: 'text' }, ID], descending: false },
}

/** Lists the keys of a tenant. `now` is epoch milliseconds. */
export async function listApiKeys(db: ReadDatabase, { tenant, filters, sort, ...page }: ApiKeyListQuery, now: number) {
  // The text is made from a number by this service, so it is safe inside the statement.
  const at = `'${timestamp(now)}'::timestamptz`
  const where = new Conditions()
    .add(sql`k.tenant_id = ${tenant.id}::uuid`)
    .anyOf(sql`k.environment`, filters.environment, 'text')
    .created('k', filters.createdFrom, filters.createdTo)
  if (filters.status !== undefined) where.anyOf(sql`(${sql.raw(status(at))})`, filters.status, 'text')
  if (filters.scope !== undefined) where.add(sql`k.scopes && ${filters.scope}::text[]`)
  const columns = sql.raw(apiKeyColumns(at))
  const { rows, ...rest } = await readPage<ApiKeyRow>(
    db,
    [{ columns, from: sql`api_key k`, where: where.list, order: ORDERS[sort] }],
    page,
  )
  return { ...rest, rows: rows.map(apiKeyView) }
}

/** Reads one key of a tenant; null when the key is not the tenant's. */
export async function getApiKey(database: Database, tenant: Tenant, id: string, now: number) {
  const { rows } = await database.pool.query<ApiKeyRow>({
    name: 'get_api_key',
    text: `select ${apiKeyColumns('$3::timestamptz')} from api_key k where k.id = $1 and k.tenant_id = $2`,
    values: [id, tenant.id, timestamp(now)],
  })
  return rows[0] === undefined ? null : versionedApiKey(rows[0])
}
