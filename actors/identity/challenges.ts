/**
 * Challenges: the methods that they take, and the answers to them. Wrong answers are limited for each challenge and over
 * all challenges of a person. Answers of one person are taken one after the other, under the lock of the person, so that
 * neither parallel guessing nor further challenges gain anything.
 */
import { type FieldError, refuseField } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import {
  CHALLENGE_MS,
  methodsFor,
  type Offer,
  type UsableFactors,
  WRONG_CODES_MAX,
  WRONG_CODES_PER_PERSON_MAX,
  WRONG_CODES_WINDOW_MS,
} from '../../lib/identity/step-up.ts'
import type { SecondFactorAnswer } from '../../lib/identity/step-up-schema.ts'
import { requestOptions } from '../../lib/identity/webauthn.ts'
import type { WebAuthnRequestOptions } from '../../lib/identity/webauthn-schema.ts'
import { through } from '../../storage/db/transaction.ts'
import {
  countWrongCodes,
  lockChallenge,
  noteVerified,
  noteWrongCode,
  type ChallengeAction,
  type ChallengeRecord,
} from '../../storage/identity/identity-sessions.ts'
import { lockPerson } from '../../storage/identity/identity-people.ts'
import { usableFactors } from '../../storage/identity/mfa-factors.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { ceremonyOf, takeAnswer } from './second-factor.ts'

/** Builds the methods of a challenge, and the options for the browser when WebAuthn is among them. */
export function offerOf(
  deps: Pick<IdentityDeps, 'secrets' | 'relyingParty'>,
  { id, action }: { readonly id: string; readonly action: ChallengeAction },
  usable: UsableFactors,
): Offer<WebAuthnRequestOptions> {
  const methods = methodsFor(action, usable)
  return {
    methods,
    publicKey: methods.includes('webauthn') ? requestOptions(ceremonyOf(deps, id), usable.credentials) : null,
  }
}

/** The reasons for which a challenge takes no answer. */
export type ClosedChallenge = 'locked' | 'absent' | 'expired' | 'used'

/** The outcome of an answer. A wrong answer may have raised an alert, so its transaction commits too. */
export type AnswerOutcome =
  | { readonly kind: 'right'; readonly challenge: ChallengeRecord }
  | { readonly kind: 'wrong' | 'locked'; readonly fault: FieldError }
  | { readonly kind: ClosedChallenge }

/** Locks the person, and a challenge of the session that still takes an answer. `action` tells which challenges are accepted. */
export async function openChallenge(
  { client, now }: ChangeTransaction,
  { session }: Caller<'self'>,
  challengeId: string,
  action: (action: ChallengeAction) => boolean,
): Promise<ChallengeRecord | ClosedChallenge> {
  await lockPerson(client, session.userId)
  const challenge = await lockChallenge(client, session.id, challengeId)
  if (challenge === null || !action(challenge.action)) return 'absent'
  if (challenge.verifiedAt !== null) return 'used'
  if (challenge.wrongCodes >= WRONG_CODES_MAX) return 'locked'
  if (now >= challenge.expiresAt) return 'expired'
  const since = now - WRONG_CODES_WINDOW_MS - CHALLENGE_MS
  if ((await countWrongCodes(client, session.userId, since)) >= WRONG_CODES_PER_PERSON_MAX) return 'locked'
  return challenge
}

/**
 * Answers a challenge of a session. A wrong answer is counted even though nothing else happens.
 *
 * @throws ProblemError `validation-error` when the challenge does not take the method; that is not counted
 */
export async function answerChallenge(
  tx: ChangeTransaction,
  deps: IdentityDeps,
  by: Caller<'self'>,
  {
    challengeId,
    action,
    answer,
  }: {
    readonly challengeId: string
    readonly answer: SecondFactorAnswer
    /** Returns true when a challenge for this action is accepted. */
    readonly action: (action: ChallengeAction) => boolean
  },
): Promise<AnswerOutcome> {
  const challenge = await openChallenge(tx, by, challengeId, action)
  if (typeof challenge === 'string') return { kind: challenge }
  const methods = methodsFor(
    challenge.action,
    await usableFactors(through(tx.client), by.session.userId, { action: challenge.action, now: tx.now }),
  )
  if (!methods.includes(answer.method))
    refuseField('/method', 'invalid_value', `This challenge takes ${methods.join(' or ')}.`)
  const fault = await takeAnswer(tx, deps, by, { id: challengeId, action: challenge.action }, answer)
  if (fault === null) {
    await noteVerified(tx.client, challengeId, answer.method, tx.now)
    return { kind: 'right', challenge }
  }
  await noteWrongCode(tx.client, challengeId)
  return { kind: challenge.wrongCodes + 1 >= WRONG_CODES_MAX ? 'locked' : 'wrong', fault }
}
