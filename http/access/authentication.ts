/**
 * Authentication: finds the caller of a request, an API key (http/access/api-key-callers.ts) or a person with a session
 * (http/access/session-callers.ts), from its Authorization header or its cookie. The number of failed look-ups per
 * address is limited (http/access/failed-credentials.ts).
 */
import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { Context } from 'koa'
import { refuse } from '../../lib/base/problems.ts'
import { apiKeyHash } from '../../lib/identity/api-key.ts'
import { isCsrfToken, sessionCookie, tokenHash } from '../../lib/identity/session.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import { isAllowed } from '../../lib/security/ip-allowlist.ts'
import type { ReadServices } from '../route/services.ts'
import { ApiKeyCallers, type KeyCaller } from './api-key-callers.ts'
import type { FailedCredentials, LookUp } from './failed-credentials.ts'
import { addHeaders } from './gate.ts'
import { findSessionCaller, type SessionCaller } from './session-callers.ts'

const BEARER = 'Bearer '
const HOW = 'Send an API key or a session token as "Authorization: Bearer <credential>", or the session\'s cookie.'

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

function unauthenticated(detail = HOW): never {
  refuse('unauthenticated', detail)
}

/** Builds the authentication of one service. */
export function createAuthentication(
  services: Pick<ReadServices, 'findApiKey' | 'identity' | 'clock' | 'sandbox' | 'log'>,
  failed: FailedCredentials,
): Authentication {
  const keys = new ApiKeyCallers(services)

  const lookUpSession = (
    context: Context,
    token: string,
    via: 'web' | 'mobile',
    beforeMfa: boolean,
  ): Promise<SessionCaller> =>
    failed.lookUp(lookUpOf(context, tokenHash(token)), () => findSessionCaller(services, token, via, beforeMfa))

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
      const known = keys.cached(sha256)
      if (known !== undefined) return keys.alive(known)
      return failed.lookUp(lookUpOf(context, sha256), () => keys.lookUp(secret, sha256))
    },

    partyOf({ headers: { authorization } }) {
      return authorization?.startsWith(BEARER) === true
        ? (keys.cached(apiKeyHash(authorization.slice(BEARER.length)))?.party ?? null)
        : null
    },

    checkAddress(allowlist, address) {
      if (!isAllowed(allowlist, address)) refuse('ip-not-allowed', 'The API key may not be used from this address.')
    },

    noteUse: (caller, address) => keys.noteUse(caller, address),
  }
}

const lookUpOf = (context: Context, hash: string): LookUp => ({
  hash,
  address: context.ip,
  onRefusal: (headers) => addHeaders(context, headers),
})
