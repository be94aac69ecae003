/**
 * Signing in and out.
 *
 *  * An unknown address, a wrong password, a locked address and a disabled person get the same answer after the same
 *    work: the password is always compared with some hash, and every failure writes the same row.
 *  * A session that gains rights (by the second factor, or by a refresh) gets a new token; the old token is void at the
 *    same moment.
 */
import { hash } from 'node:crypto'
import { timestamp } from '../../lib/base/clock.ts'
import { emailKey, LOGIN_FAILURES_MAX, LOGIN_LOCK_MS } from '../../lib/identity/password-rules.ts'
import { generateSessionToken, SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, tokenHash } from '../../lib/identity/session.ts'
import { CHALLENGE_MS } from '../../lib/identity/step-up.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { AlertMail } from '../../storage/customers/alerts.ts'
import { writePersonalAudit } from '../../storage/trail/trail.ts'
import {
  clearFailures,
  findCredentials,
  lockedUntil,
  lockFactors,
  noteFailure,
} from '../../storage/identity/identity-people.ts'
import { tellOfNewLogin } from '../../storage/identity/new-login.ts'
import {
  endSessions,
  hasSession,
  insertChallenge,
  insertSession,
  renewSession,
  SIGN_IN,
} from '../../storage/identity/identity-sessions.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { IdentityCommands, OpenedSession } from './identity.ts'
import type { By } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-world.ts'
import { auditPerson } from '../commands/trail.ts'
import { answerChallenge } from './second-factor.ts'

/**
 * The hash to compare with when there is no person, so that the answer takes equally long: the hash of 32 random bytes
 * that were not kept.
 */
const NOBODYS_HASH = '$argon2id$v=19$m=19456,t=2,p=1$3907MoSz19TC76/uNfMh5g$zKrDYg5bUBtZaJ2irPJ1zLCpWXToZ7aHjO4PmTbh7iA'

/** The key under which failures of an address are counted. */
export function attemptKey(email: string): string {
  return hash('sha256', emailKey(email), 'hex')
}

/** The rule by which failures lock an address. */
export function lockRule(now: number) {
  return { now, failuresMax: LOGIN_FAILURES_MAX, lockMs: LOGIN_LOCK_MS }
}

function refuseSignIn(): never {
  refuse('unauthenticated', 'The e-mail address or the password is wrong.')
}

function gone(): never {
  refuse('session-expired', 'The session has ended. Sign in again.', { extra: { reason: 'revoked' } })
}

/** Creates the commands of sessions. */
export function createSessionCommands(
  world: IdentityDeps,
): Pick<IdentityCommands, 'signIn' | 'verifyMfa' | 'refresh' | 'signOut' | 'revokeSession'> {
  const { database, clock, ids, log, mailer, passwords, random } = world
  const nextId = () => ids.next()

  /** Sends mails without waiting for them. */
  function send(mails: readonly AlertMail[]): void {
    for (const mail of mails) mailer.send(mail).catch((error: unknown) => log.warn({ err: error }, 'mail'))
  }

  /** Replaces the token of a session by a new one. */
  async function renewed(client: Parameters<typeof renewSession>[0], { session }: By, now: number): Promise<string> {
    const token = generateSessionToken(random)
    if (!(await renewSession(client, { id: session.id, from: session.tokenSha256, to: tokenHash(token), now }))) gone()
    return token
  }

  function opened(
    sessionId: string,
    token: string,
    expiresAt: number,
    mfa: OpenedSession['mfa'] = null,
  ): OpenedSession {
    return {
      sessionId,
      status: mfa === null ? 'active' : 'mfa_required',
      mfa,
      token,
      expiresAt: timestamp(expiresAt),
      idleTimeoutSeconds: SESSION_IDLE_MS / 1000,
    }
  }

  return {
    async signIn(body, { source, requestId }) {
      const now = clock.now()
      const attempt = attemptKey(body.email)
      const [person, locked] = await Promise.all([
        findCredentials(database, emailKey(body.email)),
        lockedUntil(database, attempt, now),
      ])
      const fits = await passwords.verify(body.password, person?.passwordHash ?? NOBODYS_HASH)
      if (!fits || person === null || person.passwordHash === null || person.status !== 'active' || locked !== null) {
        const isLocked = await noteFailure(database, attempt, lockRule(now))
        log.info({ requestId, address: source.address, locked: isLocked }, 'sign-in refused')
        refuseSignIn()
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
          return { session: opened(sessionId, token, expiresAt, { methods: ['totp'], challengeId }), mails: [] }
        }
        await clearFailures(client, attempt)
        await writePersonalAudit(client, {
          actor: { type: 'member', id: person.userId, name: person.name },
          address: source.address,
          requestId,
          nextId,
          at: now,
          action: 'session.created',
          object: { type: 'session', id: sessionId },
          before: null,
          after: { deviceName: body.deviceName ?? null, mfa: false },
        })
        return {
          session: opened(sessionId, token, expiresAt),
          mails: await tellOfNewLogin(client, ids, { sessionId, userId: person.userId, now }),
        }
      })
      send(mails)
      return session
    },

    async verifyMfa(by, { challengeId, code }) {
      const { session } = by
      if (session.status === 'active') {
        refuse('invalid-transition', 'The session has its second factor already.', {
          extra: { currentStatus: 'active', allowed: [] },
        })
      }
      const now = clock.now()
      const outcome = await inTransaction(database, async (client) => {
        const answered = await answerChallenge(client, world, {
          sessionId: session.id,
          userId: session.userId,
          challengeId,
          code,
          now,
          action: (action) => action === SIGN_IN,
        })
        if (answered.kind !== 'right') return answered
        const token = await renewed(client, by, now)
        await clearFailures(client, attemptKey(session.email))
        await writePersonalAudit(client, {
          ...auditPerson(by),
          nextId,
          at: now,
          action: 'session.created',
          object: { type: 'session', id: session.id },
          before: null,
          after: { mfa: true },
        })
        return {
          kind: 'opened' as const,
          session: opened(session.id, token, session.expiresAt),
          mails: await tellOfNewLogin(client, ids, { sessionId: session.id, userId: session.userId, now }),
        }
      })
      switch (outcome.kind) {
        case 'opened':
          send(outcome.mails)
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
          log.info(
            { requestId: by.requestId, address: by.source.address, outcome: outcome.kind },
            'second factor refused',
          )
          return refuse('unauthenticated', 'The code is wrong or has expired.')
      }
    },

    async refresh(by) {
      const token = await inTransaction(database, (client) => renewed(client, by, clock.now()))
      return opened(by.session.id, token, by.session.expiresAt)
    },

    async signOut(by) {
      await inTransaction(database, (client) => end(client, by, by.session.id))
    },

    async revokeSession(by, sessionId) {
      return await inTransaction(database, async (client) => {
        if (!(await hasSession(client, by.session.userId, sessionId))) return false
        await end(client, by, sessionId)
        return true
      })
    },
  }

  async function end(client: Parameters<typeof endSessions>[0], by: By, sessionId: string): Promise<void> {
    const now = clock.now()
    if ((await endSessions(client, { userId: by.session.userId, only: sessionId, now })) === 0) return
    await writePersonalAudit(client, {
      ...auditPerson(by),
      nextId,
      at: now,
      action: 'session.revoked',
      object: { type: 'session', id: sessionId },
      before: { status: 'active' },
      after: { status: 'revoked' },
    })
  }
}
