/** Callers of operations: API keys and people, and the tenant whose data they use. */

/**
 * The customer or operator whose data an operation uses. For a key, the tenant that owns it; for a person, the tenant
 * named in the header, if the person is a member of it or belongs to its operator's staff.
 */
export interface Tenant {
  readonly id: string
  readonly kind: 'customer' | 'operator'
}

/** An API key as stored, without the key itself. */
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
  /** Epoch milliseconds; null for a key that does not expire. Also the end of a rotation's grace period. */
  readonly expiresAtMs: number | null
  /** The time at which the last use was recorded, at most about a minute behind. Null before the first use. */
  readonly lastUsedAtMs: number | null
}

/** The caller: an API key, or a person who is signed in. */
export interface Principal {
  readonly kind: 'key' | 'session'
  /** The id of the key or the person; `createdBy` shows it, and Idempotency-Keys are kept apart by it. */
  readonly id: string
  readonly name: string
  /** The operations open to keys that this caller may call; for a person, by the role in the tenant. */
  readonly scopes: ReadonlySet<string>
  /** The operations open only to people that this caller may call; empty for keys. */
  readonly capabilities: ReadonlySet<string>
  /**
   * The value of `createdVia` for the objects that the caller creates: `web` for a cookie, `mobile` for a bearer token.
   */
  readonly createdVia: 'api_key' | 'web' | 'mobile'
  /** True for a key that moves real money. */
  readonly live?: true
}

/** The origin of a request, as far as the audit trail stores it. */
export interface Source {
  readonly address: string
  readonly userAgent: string | null
}
