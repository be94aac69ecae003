/**
 * API keys: who they belong to, and whose data they may touch. What they look like is in lib/api-key.ts.
 *
 * Only the SHA-256 of a key is ever stored or kept in memory; found keys are remembered for a second, which is how late a
 * revocation may be noticed.
 */
import { timingSafeEqual } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { apiKeyHash, isApiKeyText } from '../lib/api-key.ts'
import { refuse } from '../lib/problems.ts'
import type { ApiKey, Principal, ReadWorld, Tenant } from './world.ts'

const BEARER = 'Bearer '

/** Keys kept in memory at once; each is a few hundred bytes. */
const CACHE_MAX = 10_000
/** A revoked key works this much longer at most. Under load this saves all but one look-up a second. */
const CACHE_TTL_MS = 1000

/** A principal with what has to be checked again on every request. */
export interface Caller {
  readonly principal: Principal
  readonly tenant: Tenant
  readonly expiresAtMs: number | null
  /** Null: every address. */
  readonly allowlist: BlockList | null
}

export interface Authentication {
  /** The caller behind an `Authorization` header, at once when the key was seen within the last second. */
  authenticate(header: string | undefined): Caller | Promise<Caller>
  /** Refuses addresses outside the key's list. */
  checkAddress(caller: Caller, address: string): void
}

function allowlistOf(key: ApiKey): BlockList | null {
  if (key.ipAllowlist.length === 0) return null
  const allowed = new BlockList()
  for (const entry of key.ipAllowlist) {
    const [address, bits] = entry.split('/') as [string, string | undefined]
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) allowed.addAddress(address, family)
    else allowed.addSubnet(address, Number(bits), family)
  }
  return allowed
}

function invalidKey(detail = 'The API key is unknown, revoked or expired.'): never {
  refuse('invalid-api-key', detail)
}

/** Builds the authentication of one service. */
export function createAuthentication(world: Pick<ReadWorld, 'findApiKey' | 'clock' | 'sandbox'>): Authentication {
  async function load(sha256: string): Promise<Caller | undefined> {
    const key = await world.findApiKey(sha256)
    if (key === null || !timingSafeEqual(Buffer.from(key.sha256, 'hex'), Buffer.from(sha256, 'hex'))) return undefined
    if (key.status !== 'active') return undefined
    const { id, name, level, tenantId, scopes, expiresAtMs } = key
    return {
      principal: { apiKeyId: id, name, level, tenantId, scopes: new Set(scopes) },
      tenant: { id: tenantId, kind: level },
      expiresAtMs,
      allowlist: allowlistOf(key),
    }
  }

  const callers = new LRUCache<string, Caller>({
    max: CACHE_MAX,
    ttl: CACHE_TTL_MS,
    perf: world.clock,
    // Ask the clock every time; the default trusts a timer instead, which would not follow another clock than the system's.
    ttlResolution: 0,
    // Requests that miss at the same moment share one look-up.
    fetchMethod: load,
  })

  function alive(caller: Caller): Caller {
    if (caller.expiresAtMs !== null && world.clock.now() >= caller.expiresAtMs) invalidKey()
    return caller
  }

  async function lookUp(secret: string, sha256: string): Promise<Caller> {
    if (!isApiKeyText(secret)) invalidKey('The API key is malformed.')
    if (!world.sandbox && secret.startsWith('svc_test_')) invalidKey('Test keys do not work here: this environment has no sandbox.')
    const caller = await callers.fetch(sha256)
    if (caller === undefined) invalidKey()
    return alive(caller)
  }

  return {
    authenticate(header) {
      if (header === undefined) refuse('unauthenticated', 'Send the API key as "Authorization: Bearer <key>".')
      // The scheme is case-insensitive; nearly everyone writes it like this.
      const scheme = header.slice(0, BEARER.length)
      if (scheme !== BEARER && scheme.toLowerCase() !== 'bearer ') {
        refuse('unauthenticated', 'Send the API key as "Authorization: Bearer <key>".')
      }
      const secret = header.slice(BEARER.length)
      const sha256 = apiKeyHash(secret)
      const known = callers.get(sha256)
      return known === undefined ? lookUp(secret, sha256) : alive(known)
    },

    checkAddress({ allowlist }, address) {
      if (allowlist === null) return
      const mapped = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
      if (!allowlist.check(mapped, isIPv6(mapped) ? 'ipv6' : 'ipv4')) {
        refuse('ip-not-allowed', 'The API key may not be used from this address.')
      }
    },
  }
}
