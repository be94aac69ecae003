/** Signs a person in: by address and password, and by the second factor when they have one. */
import { generateSessionToken, SESSION_ABSOLUTE_MS, tokenHash } from '../../lib/identity/session.ts'
import { CHALLENGE_MS } from '../../lib/identity/step-up.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import type { AlertMail } from '../../storage/customers/alerts.ts'
import { clearFailures, lockFactors } from '../../storage/identity/identity-people.ts'
import { tellOfNewLogin } from '../../storage/identity/new-login.ts'
import { insertChallenge, insertSession, SIGN_IN } from '../../storage/identity/identity-sessions.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { OpenedSession } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import { recordPersonalChange } from '../commands/changes.ts'
import { answerChallenge } from './second-factor.ts'
import type { ChallengeVerify } from '../../lib/identity/step-up-schema.ts'
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
  const expiresAt = now + SESSION_ABSOLUTE_MS
  const { session, mails } = await inTransaction(database, async (client) => {
    const owed = (await lockFactors(client, person.userId)).some(({ status }) => status === 'active')
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
      return { session: openedSession(sessionId, token, expiresAt, { methods: ['totp'], challengeId }), mails: [] }
    }
    await clearFailures(client, attemptKey(body.email))
    await recordPersonalChange(
      { client, ids, now },
      { actor: { type: 'member', id: person.userId, name: person.name }, address: source.address, requestId },
      {
        action: 'session.created',
        object: { type: 'session', id: sessionId },
        before: null,
        after: { deviceName: body.deviceName ?? null, mfa: false },
      },
    )
    return {
      session: openedSession(sessionId, token, expiresAt),
      mails: await tellOfNewLogin(client, ids, { sessionId, userId: person.userId, now }),
    }
  })
  mailAlerts(deps, mails)
  return session
}

/**
 * Completes a sign-in with a code of the second factor.
 *
 * @throws ProblemError `unauthenticated`, `challenge-locked`
 */
export async function verifyMfa(
  deps: IdentityDeps,
  by: Caller<'self'>,
  { challengeId, code }: ChallengeVerify & { readonly challengeId: string },
): Promise<OpenedSession> {
  const { clock, database, ids, log } = deps
  const { session } = by
  if (session.status === 'active') {
    refuseTransition('The session already has its second factor.', 'active', ['mfa_required'])
  }
  const now = clock.now()
  const outcome = await inTransaction(database, async (client) => {
    const answered = await answerChallenge(client, deps, {
      sessionId: session.id,
      userId: session.userId,
      challengeId,
      code,
      now,
      action: (action) => action === SIGN_IN,
    })
    if (answered.kind !== 'right') return answered
    const token = await renewToken(deps, client, by, now)
    await clearFailures(client, attemptKey(session.email))
    await recordPersonalChange({ client, ids, now }, auditPerson(by), {
      action: 'session.created',
      object: { type: 'session', id: session.id },
      before: null,
      after: { mfa: true },
    })
    return {
      kind: 'opened' as const,
      session: openedSession(session.id, token, session.expiresAt),
      mails: await tellOfNewLogin(client, ids, { sessionId: session.id, userId: session.userId, now }),
    }
  })
  switch (outcome.kind) {
    case 'opened':
      mailAlerts(deps, outcome.mails)
      return outcome.session
    case 'locked':
      return refuse('challenge-locked', 'Too many wrong codes. Sign in again.')
    case 'absent': {
      const message = 'The session has no such challenge.'
      return refuse('validation-error', message, {
        errors: [{ field: '/challengeId', code: 'not_found', message }],
      })
    }
    default:
      log.info({ requestId: by.requestId, address: by.source.address, outcome: outcome.kind }, 'second factor refused')
      return refuse('unauthenticated', 'The code is wrong or has expired.')
  }
}

/** Mails the alerts of a new sign-in without waiting for them. */
function mailAlerts({ mailer, log }: IdentityDeps, mails: readonly AlertMail[]): void {
  for (const mail of mails)
    mailer.send(mail).catch((error: unknown) => log.warn({ err: error }, 'the alert of a sign-in could not be mailed'))
}
