/** Callers of operations: API keys and people, and the tenant that they work on. */

/**
 * Whose data an operation works on. For a key the tenant it belongs to; for a person the one that the header names, if they
 * are a member of it, or its operator's staff.
 */
export interface Tenant {
  readonly id: string
  readonly kind: 'customer' | 'operator'
}

/** What storage keeps about an API key. Never the key itself. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  /** SHA-256 of the whole key text, 64 lower-case hex digits. */
  readonly sha256: string
  readonly environment: 'live' | 'test'
  readonly status: 'active' | 'revoked'
  /** A customer key works for its customer, an operator key for its operator. */
  readonly level: 'customer' | 'operator'
  readonly tenantId: string
  readonly scopes: readonly string[]
  /** Addresses and CIDR blocks; empty means every address. */
  readonly ipAllowlist: readonly string[]
  /** Milliseconds since 1970, or null for a key that does not expire. Also the end of a rotation's grace period. */
  readonly expiresAtMs: number | null
  /** When its last use was noted; at most about a minute behind. Null before its first. */
  readonly lastUsedAtMs: number | null
}

/** Who is calling: an API key, or a person who is signed in. */
export interface Principal {
  readonly kind: 'key' | 'session'
  /** Of the key or the person: what `createdBy` shows, and what Idempotency-Keys are kept apart by. */
  readonly id: string
  readonly name: string
  /** What may be called of the operations that keys can call; for a person by their role in the tenant. */
  readonly scopes: ReadonlySet<string>
  /** What may be called of the operations for people; keys have none. */
  readonly capabilities: ReadonlySet<string>
  /** How what they make was made: `web` by cookie, `mobile` by bearer token. */
  readonly createdVia: 'api_key' | 'web' | 'mobile'
  /** A key for real money. */
  readonly live?: true
}

/** Where a request comes from, as far as the trail of changes keeps it. */
export interface Source {
  readonly address: string
  readonly userAgent: string | null
}
