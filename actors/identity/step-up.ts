/** Step-up challenges: requested by a session, answered with a factor, valid for five minutes and for one action. */
import { timestamp } from '../../lib/base/clock.ts'
import { generateSessionToken, tokenHash } from '../../lib/identity/session.ts'
import {
  CHALLENGE_MS,
  challengeJson,
  STEP_UP_ACTIONS,
  STEP_UP_FRESH_MS,
  STEP_UP_OVERLAP_MS,
} from '../../lib/identity/step-up.ts'
import { answerOf } from '../../lib/identity/step-up-schema.ts'
import { refuse, refuseField, refuseTransition } from '../../lib/base/problems.ts'
import { type ChallengeAction, insertChallenge, renewSession } from '../../storage/identity/identity-sessions.ts'
import { usableFactors } from '../../storage/identity/mfa-factors.ts'
import { through } from '../../storage/db/transaction.ts'
import type { IdentityCommands } from './identity.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import type { AuditChange } from '../../storage/trail/trail.ts'
import { recordChange, recordPersonalChange, runChange } from '../commands/changes.ts'
import { answerChallenge, offerOf } from './challenges.ts'

const ACTIONS: ReadonlySet<string> = new Set(STEP_UP_ACTIONS)

/** Creates the commands of step-up. */
export function createStepUpCommands(
  deps: IdentityDeps,
): Pick<IdentityCommands, 'createChallenge' | 'verifyChallenge'> {
  const { ids, random } = deps
  return {
    async createChallenge({ session, tenant }, { action, subject, method }, display) {
      if (session.factors === 0) {
        refuseTransition('Add a second factor first: POST /v1/users/me/mfa-factors.', 'no_factor', [])
      }
      const offer = await runChange(deps, async ({ client, now }) => {
        const id = ids.next()
        const offered = offerOf(
          deps,
          { id, action },
          await usableFactors(through(client), session.userId, { action, now }),
        )
        if (offered.methods.length === 0)
          refuseTransition(
            'The second factor was added with a recovery code, and proves this action when its wait is over: ' +
              'GET /v1/users/me/mfa-factors.',
            'factor_waits',
            [],
          )
        if (method !== undefined && !offered.methods.includes(method))
          refuseField('/method', 'invalid_value', `This action takes ${offered.methods.join(' or ')}.`)
        const expiresAt = now + CHALLENGE_MS
        await insertChallenge(client, {
          id,
          sessionId: session.id,
          userId: session.userId,
          tenantId: tenant.id,
          action,
          subject: subject ?? null,
          now,
          expiresAt,
        })
        return { ...offered, id, expiresAt }
      })
      return challengeJson({ ...offer, action }, offer, display, method)
    },

    async verifyChallenge(by, challengeId, body) {
      const { session } = by
      const answer = answerOf(body)
      const outcome = await runChange(deps, async (tx) => {
        const { client, now } = tx
        const action = (action: ChallengeAction) => ACTIONS.has(action)
        const answered = await answerChallenge(tx, deps, by, { challengeId, answer, action })
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
        const { tenantId } = answered.challenge
        const change: AuditChange = {
          action: 'step_up.verified',
          object: { type: 'challenge', id: challengeId },
          before: null,
          after: { action: answered.challenge.action, method: answer.method },
        }
        if (tenantId === null) await recordPersonalChange(tx, auditPerson(by), change)
        else await recordChange(tx, auditPerson(by), tenantId, change)
        return { kind: 'proven' as const, token, now }
      })
      switch (outcome.kind) {
        case 'proven':
          return {
            token: outcome.token,
            proof: {
              challengeId,
              verifiedAt: timestamp(outcome.now),
              validUntil: timestamp(outcome.now + STEP_UP_FRESH_MS),
            },
          }
        case 'absent':
          return refuse('not-found', 'The session has no such challenge.')
        case 'locked':
          return refuse('challenge-locked', 'Too many wrong codes. Ask for a new challenge.')
        case 'expired':
          return refuseTransition('The challenge has expired. Create a new challenge.', 'expired', ['pending'])
        case 'used':
          return refuseTransition('The challenge has been answered.', 'verified', ['pending'])
        case 'wrong':
          return refuse('validation-error', outcome.fault.message, { errors: [outcome.fault] })
      }
    },
  }
}
