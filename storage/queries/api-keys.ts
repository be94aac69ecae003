/** API keys by what is stored of them. */
import type { Database } from '../database.ts'

const FIND = `select id, name, encode(sha256, 'hex'), environment, status, level, tenant_id, scopes,
    (extract(epoch from expires_at) * 1000)::float8
  from api_key where sha256 = decode($1, 'hex')`

type FindRow = [string, string, string, 'live' | 'test', 'active' | 'revoked', 'customer' | 'operator', string, string[], number | null]

/** The key whose text has this SHA-256 (64 hex digits), whatever its status; null when there is none. */
export async function findApiKey(database: Database, sha256: string) {
  const [row] = await database.query<FindRow>({ name: 'find_api_key', text: FIND, values: [sha256] })
  if (row === undefined) return null
  const [id, name, hash, environment, status, level, tenantId, scopes, expiresAtMs] = row
  // Keys are not bound to addresses yet.
  const ipAllowlist: readonly string[] = []
  return { id, name, sha256: hash, environment, status, level, tenantId, scopes, ipAllowlist, expiresAtMs }
}
