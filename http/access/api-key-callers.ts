/**
 * The callers of API keys, and their cache. Keys that were found are cached: a change of a key is announced to every
 * node, which removes the key from its cache at once; if the announcement is lost, the cached key expires after one
 * second. Unknown keys are cached for ten seconds. Only the SHA-256 of a key is stored or kept in memory.
 */
import { timingSafeEqual } from 'node:crypto'
import type { BlockList } from 'node:net'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'
import { isApiKeyText } from '../../lib/identity/api-key.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import { compileAllowlist, plainAddress } from '../../lib/security/ip-allowlist.ts'
import type { ReadServices } from '../route/services.ts'

/** Keys kept in memory at once; each is a few hundred bytes. */
const CACHE_MAX = 10_000
/** How much longer a revoked key works at most, when the announcement of its revocation was lost. */
const CACHE_TTL_MS = 1000
/** An unknown key is not looked up again within this time. A key that is created meanwhile has another text. */
const UNKNOWN_TTL_MS = 10_000
/** The use of a key is recorded at most this often. */
const KEY_USE_MS = MINUTE_MS

/** An authenticated key, with the properties that every request checks again. */
export interface KeyCaller {
  readonly kind: 'key'
  readonly principal: Principal
  readonly tenant: Tenant
  /** The party whose share of places its commands take. */
  readonly party: Party
  readonly expiresAtMs: number | null
  /** The allowed addresses; null allows every address. */
  readonly allowlist: BlockList | null
  /** When a use was last recorded, as far as this node knows. */
  notedAtMs: number
}

type FoundKey = NonNullable<Awaited<ReturnType<ReadServices['findApiKey']>>>

const NO_CAPABILITIES: ReadonlySet<string> = new Set()

/** Makes the caller of a key, with its scopes and allowed addresses prepared for the checks of each request. */
const callerOfKey = (key: FoundKey): KeyCaller => ({
  kind: 'key',
  principal: {
    kind: 'key',
    id: key.id,
    name: key.name,
    scopes: new Set(key.scopes),
    capabilities: NO_CAPABILITIES,
    createdVia: 'api_key',
    ...(key.environment === 'live' ? { live: true } : {}),
  },
  tenant: { id: key.tenantId, kind: key.level },
  party: { group: key.tenantId, member: key.id },
  expiresAtMs: key.expiresAtMs,
  allowlist: compileAllowlist(key.ipAllowlist),
  notedAtMs: key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY,
})

function refuseKey(detail = 'The API key is unknown, revoked or expired.'): never {
  refuse('invalid-api-key', detail)
}

/** The callers of the API keys that one node has seen. */
export class ApiKeyCallers {
  readonly #services: Pick<ReadServices, 'findApiKey' | 'identity' | 'clock' | 'sandbox' | 'log'>
  readonly #callers: LRUCache<string, KeyCaller>
  readonly #unknown: LRUCache<string, true>

  constructor(services: Pick<ReadServices, 'findApiKey' | 'identity' | 'clock' | 'sandbox' | 'log'>) {
    this.#services = services
    // Read the clock every time. The default relies on a timer, which would not follow a clock other than the system's.
    const clocked = { ...atMost(CACHE_MAX), perf: services.clock, ttlResolution: 0 }
    this.#callers = new LRUCache<string, KeyCaller>({
      ...clocked,
      ttl: CACHE_TTL_MS,
      // Requests that miss the cache at the same moment share one look-up.
      fetchMethod: (sha256) => this.#load(sha256),
    })
    this.#unknown = new LRUCache<string, true>({ ...clocked, ttl: UNKNOWN_TTL_MS })
    services.identity.onKeyChange((sha256) => this.#forget(sha256))
  }

  /** Returns the caller of a key that was seen within the last second, whether or not the key has expired since. */
  cached(sha256: string): KeyCaller | undefined {
    return this.#callers.get(sha256)
  }

  /** Returns the caller while its key lives. @throws ProblemError `invalid-api-key` when the key has expired */
  alive(caller: KeyCaller): KeyCaller {
    if (caller.expiresAtMs !== null && this.#services.clock.now() >= caller.expiresAtMs) refuseKey()
    return caller
  }

  /** Finds the caller of a key by its text and the hash of it. @throws ProblemError `invalid-api-key` */
  async lookUp(secret: string, sha256: string): Promise<KeyCaller> {
    if (!isApiKeyText(secret)) refuseKey('The API key is malformed.')
    if (!this.#services.sandbox && secret.startsWith('svc_test_'))
      refuseKey('Test keys do not work here: this environment has no sandbox.')
    const caller = this.#unknown.get(sha256) === true ? undefined : await this.#fetch(sha256)
    if (caller === undefined) refuseKey()
    return this.alive(caller)
  }

  /** Records that a key was used, about once a minute. */
  noteUse(caller: KeyCaller, address: string): void {
    const { clock, identity, log } = this.#services
    const now = clock.now()
    if (now - caller.notedAtMs < KEY_USE_MS) return
    caller.notedAtMs = now
    identity.noteKeyUse(caller.principal.id, plainAddress(address)).catch((error: unknown) => {
      log.warn({ err: error }, 'the use of a key could not be noted')
    })
  }

  /**
   * Finds a key through the cache. If the key changes during the look-up, the cache abandons it and it is loaded anew.
   */
  async #fetch(sha256: string): Promise<KeyCaller | undefined> {
    try {
      return await this.#callers.fetch(sha256)
    } catch (error) {
      if (error instanceof Error && error.message === 'deleted') return await this.#load(sha256)
      throw error
    }
  }

  async #load(sha256: string): Promise<KeyCaller | undefined> {
    const key = await this.#services.findApiKey(sha256)
    if (key === null) this.#unknown.set(sha256, true)
    if (key === null || !timingSafeEqual(Buffer.from(key.sha256, 'hex'), Buffer.from(sha256, 'hex'))) return undefined
    return key.status === 'active' ? callerOfKey(key) : undefined
  }

  /** Removes a key from the cache; all keys where the announcement names none. */
  #forget(sha256: string | null): void {
    if (sha256 === null) {
      this.#callers.clear()
      this.#unknown.clear()
    } else {
      this.#callers.delete(sha256)
      this.#unknown.delete(sha256)
    }
  }
}
