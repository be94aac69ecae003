/**
 * API keys: what they look like, who they belong to, and whose data they may touch.
 *
 * A key is `svc_live_` or `svc_test_`, 8 base62 characters that may be shown, 32 that may not, and a checksum, so that
 * a mistyped key is told from an unknown one without asking storage. Only the SHA-256 of a key is ever stored or kept
 * in memory; found keys are remembered for a second, which is how late a revocation may be noticed.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { refuse } from '../lib/problems.ts'
import type { ApiKey, Principal, ReadWorld, Tenant } from './world.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX_CHARACTERS = 8
const SECRET_CHARACTERS = 32
const CHECKSUM_CHARACTERS = 6
/** `svc_live_` and the 8 characters after it: what lists of keys show. */
const DISPLAY_CHARACTERS = 17
const KEY_CHARACTERS = 9 + PREFIX_CHARACTERS + SECRET_CHARACTERS + CHECKSUM_CHARACTERS
const KEY_FORMAT = /^svc_(?:live|test)_[0-9A-Za-z]{46}$/
/** Bytes from here on would favour the first digits of base62. */
const UNBIASED_BELOW = 62 * 4
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

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_CHARACTERS; index++) {
    digits = (BASE62[rest % 62] as string) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Whether the text is a key as we make them. Says nothing about whether it exists. */
export function isApiKeyText(text: string): boolean {
  if (text.length !== KEY_CHARACTERS || !KEY_FORMAT.test(text)) return false
  const end = KEY_CHARACTERS - CHECKSUM_CHARACTERS
  return text.slice(end) === checksum(text.slice(0, end))
}

function base62(characters: number, random: (bytes: number) => Uint8Array): string {
  let text = ''
  while (text.length < characters) {
    for (const byte of random(characters)) {
      if (byte < UNBIASED_BELOW && text.length < characters) text += BASE62[byte % 62]
    }
  }
  return text
}

/** Makes a key. `random` returns that many random bytes; `secret` is shown once and must not be stored. */
export function generateApiKey(
  environment: 'live' | 'test',
  random: (bytes: number) => Uint8Array,
): { readonly secret: string; readonly prefix: string; readonly sha256: string } {
  const body = `svc_${environment}_${base62(PREFIX_CHARACTERS + SECRET_CHARACTERS, random)}`
  const secret = body + checksum(body)
  return { secret, prefix: secret.slice(0, DISPLAY_CHARACTERS), sha256: hash('sha256', secret, 'hex') }
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
      const sha256 = hash('sha256', secret, 'hex')
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
