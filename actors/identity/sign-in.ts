/** Signs a person in: by address and password, and by the second factor when they have one. */
import { generateSessionToken, tokenHash } from '../../lib/identity/session.ts'
import { CHALLENGE_MS } from '../../lib/identity/step-up.ts'
import { refuse, refuseField, refuseTransition } from '../../lib/base/problems.ts'
import { clearFailures } from '../../storage/identity/identity-people.ts'
import { usableFactors } from '../../storage/identity/mfa-factors.ts'
import { readSessionTerms } from '../../storage/identity/session-queries.ts'
import { tellOfNewLogin } from '../../storage/identity/new-login.ts'
import {
  type ChallengeAction,
  insertChallenge,
  insertSession,
  SIGN_IN,
} from '../../storage/identity/identity-sessions.ts'
import { inTransaction, through } from '../../storage/db/transaction.ts'
import type { OpenedSession } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import { recordPersonalChange, runChange } from '../commands/changes.ts'
import { beginOnboarding } from '../customers/begin-onboarding.ts'
import { answerChallenge, offerOf } from './challenges.ts'
import { answerOf, type ChallengeVerify } from '../../lib/identity/step-up-schema.ts'
import type { SignIn } from '../../lib/identity/session-schema.ts'
import type { Source } from '../../lib/commands/caller.ts'
import { attemptKey, provePassword } from './password-proof.ts'
import { openedSession, renewToken } from './session-token.ts'

/**
 * Opens a session by address and password. A person with a second factor must still prove it.
 *
 * @throws ProblemError `unauthenticated`
 */
export async function signIn(
  deps: IdentityDeps,
  body: SignIn,
  { source, requestId }: { readonly source: Source; readonly requestId: string },
): Promise<OpenedSession> {
  const { clock, database, ids, log, random } = deps
  const now = clock.now()
  const { person, locked } = await provePassword(deps, body.email, body.password, now)
  if (person === null) {
    log.info({ requestId, address: source.address, locked }, 'sign-in refused')
    return refuse('unauthenticated', 'The e-mail address or the password is wrong.')
  }
  const token = generateSessionToken(random)
  const sessionId = ids.next()
  const challengeId = ids.next()
  return await inTransaction(database, async (client) => {
    const { idleMs, absoluteMs } = await readSessionTerms(client, person.userId)
    const expiresAt = now + absoluteMs
    const usable = await usableFactors(through(client), person.userId, { action: SIGN_IN, now })
    const owed = usable.totp || usable.credentials.length > 0
    await insertSession(client, {
      id: sessionId,
      userId: person.userId,
      tokenSha256: tokenHash(token),
      status: owed ? 'mfa_required' : 'active',
      deviceName: body.deviceName ?? null,
      deviceId: body.deviceId ?? null,
      address: source.address,
      userAgent: source.userAgent,
      now,
      expiresAt,
    })
    if (owed) {
      await insertChallenge(client, {
        id: challengeId,
        sessionId,
        userId: person.userId,
        tenantId: null,
        action: SIGN_IN,
        subject: null,
        now,
        expiresAt: now + CHALLENGE_MS,
      })
      const offer = offerOf(deps, { id: challengeId, action: SIGN_IN }, usable)
      return openedSession(sessionId, token, { expiresAt, idleMs }, { ...offer, challengeId })
    }
    await clearFailures(client, attemptKey(body.email))
    const tx = { client, ids, now }
    const by = {
      actor: { type: 'member' as const, id: person.userId, name: person.name },
      address: source.address,
      requestId,
    }
    await recordPersonalChange(tx, by, {
      action: 'session.created',
      object: { type: 'session', id: sessionId },
      before: null,
      after: { deviceName: body.deviceName ?? null, mfa: false },
    })
    await beginOnboarding(tx, person.userId, by)
    await tellOfNewLogin(client, ids, { sessionId, userId: person.userId, now })
    return openedSession(sessionId, token, { expiresAt, idleMs })
  })
}

/**
 * Completes a sign-in with a second factor.
 *
 * @throws ProblemError `unauthenticated`, `challenge-locked`, `validation-error`
 */
export async function verifyMfa(
  deps: IdentityDeps,
  by: Caller<'self'>,
  { challengeId, ...body }: ChallengeVerify & { readonly challengeId: string },
): Promise<OpenedSession> {
  const { log } = deps
  const { session } = by
  if (session.status === 'active') {
    refuseTransition('The session already has its second factor.', 'active', ['mfa_required'])
  }
  const answer = answerOf(body)
  const { method } = answer
  const outcome = await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const action = (action: ChallengeAction) => action === SIGN_IN
    const answered = await answerChallenge(tx, deps, by, { challengeId, answer, action })
    if (answered.kind !== 'right') return answered
    const token = await renewToken(deps, client, by, now, method)
    await clearFailures(client, attemptKey(session.email))
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'session.created',
      object: { type: 'session', id: session.id },
      before: null,
      after: { mfa: true, method },
    })
    await beginOnboarding(tx, session.userId, auditPerson(by))
    await tellOfNewLogin(client, ids, { sessionId: session.id, userId: session.userId, now })
    return { kind: 'opened' as const, session: openedSession(session.id, token, session) }
  })
  switch (outcome.kind) {
    case 'opened':
      return outcome.session
    case 'locked':
      return refuse('challenge-locked', 'Too many wrong codes. Sign in again.')
    case 'absent':
      return refuseField('/challengeId', 'not_found', 'The session has no such challenge.')
    default:
      log.info({ requestId: by.requestId, address: by.source.address, outcome: outcome.kind }, 'second factor refused')
      return refuse(
        'unauthenticated',
        outcome.kind === 'wrong' && method === 'webauthn'
          ? `The proof of the authenticator is refused. ${outcome.fault.message}`
          : 'The code is wrong or has expired.',
      )
  }
}
