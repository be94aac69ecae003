/** Rows of API keys for the users who manage them. Statements only; rules are elsewhere. */
import { shownStatus, type CustomerStanding, type CustomerStatus } from '../../lib/customers/status.ts'
import type pg from 'pg'
import { timestamp } from '../../lib/base/clock.ts'
import type { SqlStatement } from '../db/connection.ts'
import type { Database } from '../db/database.ts'
import { apiKeyColumns, versionedApiKey, type ApiKeyRow } from './api-key-queries.ts'

export type StoredApiKey = ReturnType<typeof versionedApiKey>

export interface NewApiKeyRow {
  readonly id: string
  readonly level: 'customer' | 'operator'
  readonly tenantId: string
  readonly name: string
  readonly environment: 'live' | 'test'
  readonly prefix: string
  readonly sha256: string
  readonly scopes: readonly string[]
  readonly ipAllowlist: readonly string[]
  readonly expiresAt: string | null
  readonly replacesId: string | null
  readonly createdBy: string
  readonly now: number
}

const HASH = `returning encode(sha256, 'hex') as hash`

/**
 * Returns the hash of the key that a statement changed, so that this node can drop it from its cache before it answers;
 * null when it changed none.
 */
async function hashOf(client: pg.ClientBase, statement: SqlStatement): Promise<string | null> {
  const { rows } = await client.query<{ hash: string }>(statement)
  return rows[0]?.hash ?? null
}

/** Serialises changes of one tenant's keys until the transaction ends, so that their number can be bounded. */
export async function lockTenantKeys(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query({
    name: 'lock_tenant_keys',
    text: `select pg_advisory_xact_lock(hashtextextended('api keys of ' || $1::text, 0))`,
    values: [tenantId],
  })
}

/** Counts the keys of a tenant that work and have not been replaced. */
export async function countActiveKeys(client: pg.ClientBase, tenantId: string, now: number): Promise<number> {
  const { rows } = await client.query<{ keys: number }>({
    name: 'count_active_keys',
    text: `select count(*)::int as keys from api_key where tenant_id = $1 and status = 'active' and (expires_at is null or expires_at > $2::timestamptz)`,
    values: [tenantId, timestamp(now)],
  })
  return rows[0]!.keys
}

/** Reads the status of a customer as the API shows it; null when the tenant is an operator. */
export async function customerStatus(client: pg.ClientBase, tenantId: string): Promise<CustomerStatus | null> {
  const { rows } = await client.query<CustomerStanding>({
    name: 'customer_status',
    text: 'select status as "customerStatus", measure as "customerMeasure" from customer where id = $1',
    values: [tenantId],
  })
  return rows[0] === undefined ? null : shownStatus(rows[0])
}

export async function insertApiKey(client: pg.ClientBase, key: NewApiKeyRow): Promise<void> {
  await client.query({
    name: 'insert_api_key',
    text: `insert into api_key (id, level, tenant_id, operator_id, name, environment, prefix, sha256, scopes, ip_allowlist, status, expires_at, replaces_id, created_by, created_at)
      select $1, $2, $3, coalesce((select operator_id from customer where id = $3), $3), $4, $5, $6, decode($7, 'hex'), $8, $9, 'active', $10, $11, $12, $13`,
    values: [
      key.id,
      key.level,
      key.tenantId,
      key.name,
      key.environment,
      key.prefix,
      key.sha256,
      key.scopes,
      key.ipAllowlist,
      key.expiresAt,
      key.replacesId,
      key.createdBy,
      timestamp(key.now),
    ],
  })
}

/** Locks a key of a tenant; null when it is not the tenant's. */
export async function lockApiKey(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  now: number,
): Promise<StoredApiKey | null> {
  const {
    rows: [row],
  } = await client.query<ApiKeyRow>({
    name: 'lock_api_key',
    text: `select ${apiKeyColumns('$3::timestamptz')} from api_key k where k.id = $1 and k.tenant_id = $2 for update`,
    values: [id, tenantId, timestamp(now)],
  })
  return row === undefined ? null : versionedApiKey(row)
}

export async function renameApiKey(
  client: pg.ClientBase,
  id: string,
  change: { readonly name: string; readonly ipAllowlist: readonly string[] },
): Promise<string | null> {
  return await hashOf(client, {
    name: 'update_api_key',
    text: `update api_key set name = $2, ip_allowlist = $3, version = version + 1 where id = $1 ${HASH}`,
    values: [id, change.name, change.ipAllowlist],
  })
}

/** Marks a key as replaced by another; it works until its grace period ends. */
export async function replaceApiKey(
  client: pg.ClientBase,
  id: string,
  { byId, graceEndsAt }: { readonly byId: string; readonly graceEndsAt: number },
): Promise<string | null> {
  return await hashOf(client, {
    name: 'replace_api_key',
    text: `update api_key set status = 'rotating', grace_ends_at = $3, replaced_by_id = $2, version = version + 1 where id = $1 ${HASH}`,
    values: [id, byId, timestamp(graceEndsAt)],
  })
}

export async function revokeApiKey(
  client: pg.ClientBase,
  id: string,
  {
    by,
    now,
    replacedById = null,
  }: { readonly by: string; readonly now: number; readonly replacedById?: string | null },
): Promise<string | null> {
  return await hashOf(client, {
    name: 'revoke_api_key',
    text: `update api_key set status = 'revoked', revoked_at = $3, revoked_by = $2, replaced_by_id = coalesce($4, replaced_by_id), version = version + 1
      where id = $1 and status <> 'revoked' ${HASH}`,
    values: [id, by, timestamp(now), replacedById],
  })
}

/** Records a use, unless a later one is recorded or another node has just done so. */
export async function noteKeyUse(database: Database, id: string, address: string, now: number): Promise<void> {
  await database.query({
    name: 'note_key_use',
    text: `update api_key set last_used_at = $2, last_used_ip = $3 where id = $1 and (last_used_at is null or last_used_at < $4::timestamptz)`,
    values: [id, timestamp(now), address, timestamp(now - 55_000)],
  })
}
