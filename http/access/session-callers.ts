/**
 * The callers of sessions. Sessions are looked up every time: people send few requests, and an ended session must be
 * ended on every node. Only the SHA-256 of a token is stored.
 */
import { refuse } from '../../lib/base/problems.ts'
import type { SessionIdentity } from '../../lib/identity/caller.ts'
import { isSessionToken, SESSION_TOUCH_MS, sessionStatus, tokenHash } from '../../lib/identity/session.ts'
import type { ReadServices } from '../route/services.ts'

/** An authenticated person. The request names the tenant for which the person acts. */
export interface SessionCaller {
  readonly kind: 'session'
  readonly session: SessionIdentity
}

/**
 * Finds the person of a session by its token. `beforeMfa` also accepts a session that still needs its second factor.
 *
 * @throws ProblemError `unauthenticated`, `session-expired`, `mfa-required`
 */
export async function findSessionCaller(
  { identity, clock }: Pick<ReadServices, 'identity' | 'clock'>,
  token: string,
  via: 'web' | 'mobile',
  beforeMfa: boolean,
): Promise<SessionCaller> {
  const tokenSha256 = tokenHash(token)
  const found = isSessionToken(token) ? await identity.findSession(tokenSha256) : null
  if (found === null) refuse('unauthenticated', 'The session is not known. Sign in again.')
  const now = clock.now()
  const status = sessionStatus(found, now)
  if (status === 'idle' || status === 'expired' || status === 'revoked') {
    refuse('session-expired', 'The session has ended. Sign in again.', { extra: { reason: status } })
  }
  if (found.userStatus !== 'active')
    refuse('session-expired', 'The session has ended.', { extra: { reason: 'revoked' } })
  if (status === 'mfa_required' && !beforeMfa) {
    const { challengeId = null, methods = [], publicKey = null } = (await identity.loginChallenge(found)) ?? {}
    refuse('mfa-required', 'Finish signing in: POST /v1/sessions/current/mfa.', {
      extra: { challengeId, methods, publicKey },
    })
  }
  if (now - found.lastSeenAt >= SESSION_TOUCH_MS) await identity.touchSession(found.id)
  return { kind: 'session', session: { ...found, tokenSha256, token, via } }
}
