/**
 * The token of a session. A session that gains rights (by the second factor, or by a refresh) gets a new token; the old
 * token is void at the same moment.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { generateSessionToken, tokenHash } from '../../lib/identity/session.ts'
import type { StepUpMethod } from '../../lib/identity/step-up.ts'
import { refuse } from '../../lib/base/problems.ts'
import { renewSession } from '../../storage/identity/identity-sessions.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { OpenedSession } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'

/**
 * Replaces the token of a session by a new one. `mfaMethod` is the second factor that the person has just proven to
 * sign in.
 *
 * @throws ProblemError `session-expired`
 */
export async function renewToken(
  { random }: IdentityDeps,
  client: TransactionClient,
  { session }: Caller<'self'>,
  now: number,
  mfaMethod: StepUpMethod | null = null,
): Promise<string> {
  const token = generateSessionToken(random)
  const renewed = await renewSession(client, {
    id: session.id,
    from: session.tokenSha256,
    to: tokenHash(token),
    now,
    mfaMethod,
  })
  if (!renewed) refuse('session-expired', 'The session has ended. Sign in again.', { extra: { reason: 'revoked' } })
  return token
}

/** Builds the answer with a session's token. `mfa` is the challenge that the person must still answer. */
export function openedSession(
  sessionId: string,
  token: string,
  { expiresAt, idleMs }: { readonly expiresAt: number; readonly idleMs: number },
  mfa: OpenedSession['mfa'] = null,
): OpenedSession {
  return {
    sessionId,
    status: mfa === null ? 'active' : 'mfa_required',
    mfa,
    token,
    expiresAt: timestamp(expiresAt),
    idleTimeoutSeconds: idleMs / 1000,
  }
}
