/**
 * Codes of second factors against challenges: counted one by one under the challenge's lock, so that guessing in parallel
 * gains nothing, and bounded over all challenges of a person, so that asking for new ones gains nothing either.
 */
import { CHALLENGE_MS, WRONG_CODES_MAX, WRONG_CODES_PER_PERSON_MAX, WRONG_CODES_WINDOW_MS } from '../../lib/identity/step-up.ts'
import { totpStep } from '../../lib/identity/totp.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { lockFactors, useFactor } from '../../storage/identity/identity-people.ts'
import { countWrongCodes, lockChallenge, noteVerified, noteWrongCode, type ChallengeRecord } from '../../storage/identity/identity-sessions.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'

export interface SecondFactorDeps {
  readonly secrets: SecretBox
  /**
   * Whether a code is good for one use, as it must be. Where there is only play money it may be used again within its half
   * minute: people who try things out, and tests, would otherwise wait for the next code at every step.
   */
  readonly singleUse: boolean
}

export type CodeOutcome =
  | { readonly kind: 'right'; readonly challenge: ChallengeRecord }
  | { readonly kind: 'wrong' | 'locked' | 'absent' | 'expired' | 'used' }

/** Where a factor's secret is sealed for. */
export const factorContext = (factorId: string): string => `mfa_factor ${factorId}`

/** Whether a code belongs to one of a person's factors; then it is used up. `pending` looks at that unconfirmed factor alone. */
export async function takeCode(
  client: TransactionClient,
  { secrets, singleUse }: SecondFactorDeps,
  { userId, code, now, pending = null }: { readonly userId: string; readonly code: string; readonly now: number; readonly pending?: string | null },
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

/** Answers a challenge of a session with a code. A wrong one is counted even though nothing else happens. */
export async function answerChallenge(
  client: TransactionClient,
  world: SecondFactorDeps,
  { sessionId, userId, challengeId, action, code, now }: {
    readonly sessionId: string; readonly userId: string; readonly challengeId: string; readonly code: string; readonly now: number
    /** Whether the challenge may be of this action. */
    readonly action: (action: string) => boolean
  },
): Promise<CodeOutcome> {
  const challenge = await lockChallenge(client, sessionId, challengeId)
  if (challenge === null || !action(challenge.action)) return { kind: 'absent' }
  if (challenge.verifiedAt !== null) return { kind: 'used' }
  if (challenge.wrongCodes >= WRONG_CODES_MAX) return { kind: 'locked' }
  if (now >= challenge.expiresAt) return { kind: 'expired' }
  if (await countWrongCodes(client, userId, now - WRONG_CODES_WINDOW_MS - CHALLENGE_MS) >= WRONG_CODES_PER_PERSON_MAX) return { kind: 'locked' }
  if (await takeCode(client, world, { userId, code, now })) {
    await noteVerified(client, challengeId, now)
    return { kind: 'right', challenge }
  }
  await noteWrongCode(client, challengeId)
  return { kind: challenge.wrongCodes + 1 >= WRONG_CODES_MAX ? 'locked' : 'wrong' }
}
