/** Step-up challenges: requested by a session, answered with a code, valid for five minutes and for one action. */
import { timestamp } from '../../lib/base/clock.ts'
import { generateSessionToken, tokenHash } from '../../lib/identity/session.ts'
import {
  CHALLENGE_MS,
  challengeJson,
  STEP_UP_ACTIONS,
  STEP_UP_FRESH_MS,
  STEP_UP_OVERLAP_MS,
} from '../../lib/identity/step-up.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import { insertChallenge, renewSession } from '../../storage/identity/identity-sessions.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { IdentityCommands } from './identity.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import type { AuditChange } from '../../storage/trail/trail.ts'
import { recordChange, recordPersonalChange } from '../commands/changes.ts'
import { answerChallenge } from './second-factor.ts'

const ACTIONS: ReadonlySet<string> = new Set(STEP_UP_ACTIONS)

/** Creates the commands of step-up. */
export function createStepUpCommands(
  deps: IdentityDeps,
): Pick<IdentityCommands, 'createChallenge' | 'verifyChallenge'> {
  const { database, clock, ids, random } = deps
  return {
    async createChallenge({ session, tenant }, { action, subject }, display) {
      if (session.factors === 0) {
        refuseTransition('Add a second factor first: POST /v1/users/me/mfa-factors.', 'no_factor', [])
      }
      const now = clock.now()
      const challengeId = ids.next()
      const expiresAt = now + CHALLENGE_MS
      await inTransaction(database, (client) =>
        insertChallenge(client, {
          id: challengeId,
          sessionId: session.id,
          userId: session.userId,
          tenantId: tenant.id,
          action,
          subject: subject ?? null,
          now,
          expiresAt,
        }),
      )
      return challengeJson({ id: challengeId, action, expiresAt }, display)
    },

    async verifyChallenge(by, challengeId, { code }) {
      const { session } = by
      const now = clock.now()
      const outcome = await inTransaction(database, async (client) => {
        const answered = await answerChallenge(client, deps, {
          sessionId: session.id,
          userId: session.userId,
          challengeId,
          code,
          now,
          action: (action) => ACTIONS.has(action),
        })
        if (answered.kind !== 'right') return answered
        const token = generateSessionToken(random)
        if (
          !(await renewSession(client, {
            id: session.id,
            from: session.tokenSha256,
            to: tokenHash(token),
            now,
            overlapMs: STEP_UP_OVERLAP_MS,
          }))
        ) {
          refuse('session-expired', 'The session has ended. Sign in again.', { extra: { reason: 'revoked' } })
        }
        const { action, tenantId } = answered.challenge
        const change: AuditChange = {
          action: 'step_up.verified',
          object: { type: 'challenge', id: challengeId },
          before: null,
          after: { action, method: 'totp' },
        }
        const tx = { client, ids, now }
        if (tenantId === null) await recordPersonalChange(tx, auditPerson(by), change)
        else await recordChange(tx, auditPerson(by), tenantId, change)
        return { kind: 'proven' as const, token }
      })
      switch (outcome.kind) {
        case 'proven':
          return {
            token: outcome.token,
            proof: { challengeId, verifiedAt: timestamp(now), validUntil: timestamp(now + STEP_UP_FRESH_MS) },
          }
        case 'absent':
          return refuse('not-found', 'The session has no such challenge.')
        case 'locked':
          return refuse('challenge-locked', 'Too many wrong codes. Ask for a new challenge.')
        case 'expired':
          return refuseTransition('The challenge has expired. Create a new challenge.', 'expired', ['pending'])
        case 'used':
          return refuseTransition('The challenge has been answered.', 'verified', ['pending'])
        default: {
          const message = 'The code is wrong.'
          return refuse('validation-error', message, { errors: [{ field: '/code', code: 'invalid_value', message }] })
        }
      }
    },
  }
}
