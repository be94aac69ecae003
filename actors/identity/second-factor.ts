/**
 * Checks second-factor codes against challenges. Wrong codes are counted one by one under the challenge's lock, so that
 * parallel guessing gains nothing. They are limited over all challenges of a person, so that requesting new challenges
 * gains nothing either.
 */
import {
  CHALLENGE_MS,
  WRONG_CODES_MAX,
  WRONG_CODES_PER_PERSON_MAX,
  WRONG_CODES_WINDOW_MS,
} from '../../lib/identity/step-up.ts'
import { totpStep } from '../../lib/identity/totp.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { lockFactors, useFactor } from '../../storage/identity/identity-people.ts'
import {
  countWrongCodes,
  lockChallenge,
  noteVerified,
  noteWrongCode,
  type ChallengeAction,
  type ChallengeRecord,
} from '../../storage/identity/identity-sessions.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'

export interface SecondFactorDeps {
  readonly secrets: SecretBox
  /**
   * True when a code is valid for one use, as it must be for real money. A system with play money accepts a code again
   * within its half minute, because people who try the API, and tests, would otherwise wait for the next code at every
   * step.
   */
  readonly singleUse: boolean
}

export type CodeOutcome =
  | { readonly kind: 'right'; readonly challenge: ChallengeRecord }
  | { readonly kind: 'wrong' | 'locked' | 'absent' | 'expired' | 'used' }

/** The context under which a factor's secret is sealed. */
export const factorContext = (factorId: string): string => `mfa_factor ${factorId}`

/** Checks a code against a person's factors and uses it up. `pending` limits the check to that unconfirmed factor. */
export async function takeCode(
  client: TransactionClient,
  { secrets, singleUse }: SecondFactorDeps,
  {
    userId,
    code,
    now,
    pending = null,
  }: { readonly userId: string; readonly code: string; readonly now: number; readonly pending?: string | null },
): Promise<boolean> {
  for (const factor of await lockFactors(client, userId)) {
    if (pending === null ? factor.status !== 'active' : factor.id !== pending) continue
    const secret = secrets.open(factor.secret, factorContext(factor.id))
    if (secret === null) throw new Error(`The second factor ${factor.id} was sealed under another SECRETS_KEY.`)
    const step = totpStep(secret, code, now)
    if (step === null || (singleUse && step <= factor.lastStep)) continue
    await useFactor(client, factor.id, step, now)
    return true
  }
  return false
}

/** Answers a challenge of a session with a code. A wrong code is counted even though nothing else happens. */
export async function answerChallenge(
  client: TransactionClient,
  deps: SecondFactorDeps,
  {
    sessionId,
    userId,
    challengeId,
    action,
    code,
    now,
  }: {
    readonly sessionId: string
    readonly userId: string
    readonly challengeId: string
    readonly code: string
    readonly now: number
    /** Returns true when a challenge for this action is accepted. */
    readonly action: (action: ChallengeAction) => boolean
  },
): Promise<CodeOutcome> {
  const challenge = await lockChallenge(client, sessionId, challengeId)
  if (challenge === null || !action(challenge.action)) return { kind: 'absent' }
  if (challenge.verifiedAt !== null) return { kind: 'used' }
  if (challenge.wrongCodes >= WRONG_CODES_MAX) return { kind: 'locked' }
  if (now >= challenge.expiresAt) return { kind: 'expired' }
  if ((await countWrongCodes(client, userId, now - WRONG_CODES_WINDOW_MS - CHALLENGE_MS)) >= WRONG_CODES_PER_PERSON_MAX)
    return { kind: 'locked' }
  if (await takeCode(client, deps, { userId, code, now })) {
    await noteVerified(client, challengeId, now)
    return { kind: 'right', challenge }
  }
  await noteWrongCode(client, challengeId)
  return { kind: challenge.wrongCodes + 1 >= WRONG_CODES_MAX ? 'locked' : 'wrong' }
}
