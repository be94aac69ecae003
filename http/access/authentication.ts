/**
 * Authentication: finds the caller of a request, an API key or a person with a session.
 *
 * Only the SHA-256 of a key or token is stored or kept in memory. Keys that were found are cached: a change of a key is
 * announced to every node, which removes the key from its cache at once; if the announcement is lost, the cached key
 * expires after one second. Sessions are looked up every time: people send few requests, and an ended session must be
 * ended on every node. Unknown keys are cached for ten seconds. The number of failed look-ups per address is limited
 * (http/access/failed-credentials.ts).
 */
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { Context } from 'koa'
import { LRUCache } from 'lru-cache'
import { apiKeyHash, isApiKeyText } from '../../lib/identity/api-key.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import {
  isCsrfToken,
  isSessionToken,
  sessionCookie,
  SESSION_TOUCH_MS,
  sessionStatus,
  tokenHash,
} from '../../lib/identity/session.ts'
import { compileAllowlist, isAllowed, plainAddress } from '../../lib/security/ip-allowlist.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { FailedCredentials, LookUp } from './failed-credentials.ts'
import { addHeaders } from './gate.ts'
import type { SessionIdentity } from '../../lib/identity/caller.ts'
import type { ReadServices } from '../route/services.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

const BEARER = 'Bearer '
const HOW = 'Send an API key or a session token as "Authorization: Bearer <credential>", or the session\'s cookie.'

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

/** An authenticated person. The request names the tenant for which the person acts. */
export interface SessionCaller {
  readonly kind: 'session'
  readonly session: SessionIdentity
}

export type AuthenticatedCaller = KeyCaller | SessionCaller

/** Finds the callers of requests, with a cache of API keys. */
export interface Authentication {
  /**
   * Finds the caller of a request; returns without a promise for a key that was seen within the last second.
   * `beforeMfa` also accepts sessions that still need their second factor.
   *
   * @throws ProblemError the 401s; `rate-limited` when too many credentials of the client's address were wrong
   */
  authenticate(context: Context, beforeMfa: boolean): AuthenticatedCaller | Promise<AuthenticatedCaller>
  /** The party of a request that carries a key seen within the last second, else null. Checks nothing else. */
  partyOf(request: IncomingMessage): Party | null
  /** Refuses addresses outside the key's list. */
  checkAddress(allowlist: BlockList, address: string): void
  /** Records that a key was used, about once a minute. */
  noteUse(caller: KeyCaller, address: string): void
}

function invalidKey(detail = 'The API key is unknown, revoked or expired.'): never {
  refuse('invalid-api-key', detail)
}

function unauthenticated(detail = HOW): never {
  refuse('unauthenticated', detail)
}

/** Builds the authentication of one service. */
export function createAuthentication(
  world: Pick<ReadServices, 'findApiKey' | 'identity' | 'clock' | 'sandbox' | 'log'>,
  failed: FailedCredentials,
): Authentication {
  const { identity } = world

  async function load(sha256: string): Promise<KeyCaller | undefined> {
    const key = await world.findApiKey(sha256)
    if (key === null) unknown.set(sha256, true)
    if (key === null || !timingSafeEqual(Buffer.from(key.sha256, 'hex'), Buffer.from(sha256, 'hex'))) return undefined
    if (key.status !== 'active') return undefined
    const { id, name, level, tenantId, scopes, expiresAtMs, lastUsedAtMs } = key
    return {
      kind: 'key',
      principal: {
        kind: 'key',
        id,
        name,
        scopes: new Set(scopes),
        capabilities: NO_CAPABILITIES,
        createdVia: 'api_key',
        ...(key.environment === 'live' ? { live: true } : {}),
      },
      tenant: { id: tenantId, kind: level },
      party: { group: tenantId, member: id },
      expiresAtMs,
      allowlist: compileAllowlist(key.ipAllowlist),
      notedAtMs: lastUsedAtMs ?? Number.NEGATIVE_INFINITY,
    }
  }

  const callers = new LRUCache<string, KeyCaller>({
    max: CACHE_MAX,
    ttl: CACHE_TTL_MS,
    perf: world.clock,
    // Read the clock every time. The default relies on a timer, which would not follow a clock other than the system's.
    ttlResolution: 0,
    // Requests that miss the cache at the same moment share one look-up.
    fetchMethod: load,
  })
  const unknown = new LRUCache<string, true>({
    max: CACHE_MAX,
    ttl: UNKNOWN_TTL_MS,
    perf: world.clock,
    ttlResolution: 0,
  })
  identity.onKeyChange((sha256) => {
    if (sha256 === null) {
      callers.clear()
      unknown.clear()
    } else {
      callers.delete(sha256)
      unknown.delete(sha256)
    }
  })

  function alive(caller: KeyCaller): KeyCaller {
    if (caller.expiresAtMs !== null && world.clock.now() >= caller.expiresAtMs) invalidKey()
    return caller
  }

  /**
   * Finds a key through the cache. If the key changes during the look-up, the cache abandons it and the key is loaded
   * anew.
   */
  async function fetchKey(sha256: string): Promise<KeyCaller | undefined> {
    try {
      return await callers.fetch(sha256)
    } catch (error) {
      if (error instanceof Error && error.message === 'deleted') return await load(sha256)
      throw error
    }
  }

  async function lookUpKey(secret: string, sha256: string): Promise<KeyCaller> {
    if (!isApiKeyText(secret)) invalidKey('The API key is malformed.')
    if (!world.sandbox && secret.startsWith('svc_test_'))
      invalidKey('Test keys do not work here: this environment has no sandbox.')
    const caller = unknown.get(sha256) === true ? undefined : await fetchKey(sha256)
    if (caller === undefined) invalidKey()
    return alive(caller)
  }

  async function findSession(token: string, via: 'web' | 'mobile', beforeMfa: boolean): Promise<SessionCaller> {
    const tokenSha256 = tokenHash(token)
    const found = isSessionToken(token) ? await identity.findSession(tokenSha256) : null
    if (found === null) unauthenticated('The session is not known. Sign in again.')
    const now = world.clock.now()
    const status = sessionStatus(found, now)
    if (status === 'idle' || status === 'expired' || status === 'revoked') {
      refuse('session-expired', 'The session has ended. Sign in again.', { extra: { reason: status } })
    }
    if (found.userStatus !== 'active')
      refuse('session-expired', 'The session has ended.', { extra: { reason: 'revoked' } })
    if (status === 'mfa_required' && !beforeMfa) {
      const challenge = await identity.loginChallenge(found.id)
      refuse('mfa-required', 'Finish signing in: POST /v1/sessions/current/mfa.', {
        extra: { challengeId: challenge?.challengeId ?? null, methods: challenge?.methods ?? [] },
      })
    }
    if (now - found.lastSeenAt >= SESSION_TOUCH_MS) await identity.touchSession(found.id)
    return { kind: 'session', session: { ...found, tokenSha256, token, via } }
  }

  const lookUpSession = (
    context: Context,
    token: string,
    via: 'web' | 'mobile',
    beforeMfa: boolean,
  ): Promise<SessionCaller> =>
    failed.lookUp(lookUpOf(context, tokenHash(token)), () => findSession(token, via, beforeMfa))

  function fromCookie(context: Context, token: string, beforeMfa: boolean): Promise<SessionCaller> {
    const request = context.req
    const writes = request.method !== 'GET' && request.method !== 'HEAD'
    // Another site can make a browser send the cookie, but it can neither read nor guess the token that goes with it.
    if (writes && !isCsrfToken(request.headers['x-csrf-token'] as string | undefined, token)) {
      unauthenticated("Requests that write with the session's cookie need the X-CSRF-Token of the session.")
    }
    return lookUpSession(context, token, 'web', beforeMfa)
  }

  return {
    authenticate(context, beforeMfa) {
      const { authorization, cookie } = context.req.headers
      if (authorization === undefined) {
        const token = sessionCookie(cookie)
        if (token === null || token === '') unauthenticated()
        return fromCookie(context, token, beforeMfa)
      }
      // The scheme is case-insensitive, but nearly all clients write it in this form.
      const scheme = authorization.slice(0, BEARER.length)
      if (scheme !== BEARER && scheme.toLowerCase() !== 'bearer ') unauthenticated()
      const secret = authorization.slice(BEARER.length)
      if (secret.startsWith('ses_')) return lookUpSession(context, secret, 'mobile', beforeMfa)
      const sha256 = apiKeyHash(secret)
      const known = callers.get(sha256)
      if (known !== undefined) return alive(known)
      return failed.lookUp(lookUpOf(context, sha256), () => lookUpKey(secret, sha256))
    },

    partyOf({ headers: { authorization } }) {
      return authorization?.startsWith(BEARER) === true
        ? (callers.get(apiKeyHash(authorization.slice(BEARER.length)))?.party ?? null)
        : null
    },

    checkAddress(allowlist, address) {
      if (!isAllowed(allowlist, address)) refuse('ip-not-allowed', 'The API key may not be used from this address.')
    },

    noteUse(caller, address) {
      const now = world.clock.now()
      if (now - caller.notedAtMs < KEY_USE_MS) return
      caller.notedAtMs = now
      identity.noteKeyUse(caller.principal.id, plainAddress(address)).catch((error: unknown) => {
        world.log.warn({ err: error }, 'the use of a key could not be noted')
      })
    },
  }
}

const lookUpOf = (context: Context, hash: string): LookUp => ({
  hash,
  address: context.ip,
  onRefusal: (headers) => addHeaders(context, headers),
})

const NO_CAPABILITIES: ReadonlySet<string> = new Set()
