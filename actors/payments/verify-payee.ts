/** A payee's name, checked with the bank that keeps the account. */
import type { Clock } from '../../lib/base/clock.ts'
import {
  stillValid, verificationGate, verificationOfAnswer, verificationOfHolder, withStandingOverride, type GateResult, type OverrideInput, type PayeeAnswer, type PayeeQuestion, type RecipientVerification,
} from '../../lib/recipients/verification.ts'
import type { PayableRecipient } from '../../storage/recipients/recipient-cache.ts'
import type { PayeeVerifier } from '../providers/bank.ts'

/** A bank that has not answered by then has not answered: the rule of the euro area's scheme, kept for both. */
const ANSWER_WITHIN_MS = 5_000

export interface PayeeDeps {
  readonly payees: PayeeVerifier
  readonly clock: Clock
  readonly answerWithinMs?: number
}

/** Asks, and says what the answer means. A partner that fails or is late is an outcome like others: unavailable. */
export async function verifyPayee({ payees, clock, answerWithinMs = ANSWER_WITHIN_MS }: PayeeDeps, question: PayeeQuestion): Promise<RecipientVerification> {
  const answer = await new Promise<PayeeAnswer | null>((resolve) => {
    const late = setTimeout(resolve, answerWithinMs, null)
    const settle = (found: PayeeAnswer | null) => {
      clearTimeout(late)
      resolve(found)
    }
    // Whoever is down cannot say whose account it is; payments do not wait for them.
    payees.verifyPayee(question).then(settle, () => settle(null))
  })
  return verificationOfAnswer(question, answer, clock.now())
}

/** What is asked about a payee: its name, the scheme of its bank where there is one, and our own account where it has one. */
export interface CheckedPayee extends Pick<PayableRecipient, 'name' | 'payee' | 'platformAccount'> {}

/**
 * Checks a payee's name: with our own records where the account is a balance of the same operator, else with the payee's bank. Null
 * where no scheme checks names.
 */
export async function checkPayee(world: PayeeDeps, { name, payee, platformAccount }: CheckedPayee): Promise<RecipientVerification | null> {
  if (platformAccount?.sameOperator === true) return verificationOfHolder(name, platformAccount.holderName, world.clock.now())
  return payee === null ? null : await verifyPayee(world, payee)
}

/** Rails on which every payment is checked afresh: its rules let nobody rely on an earlier answer. */
const CHECKED_EVERY_TIME: ReadonlySet<string> = new Set(['sepa', 'sepa_instant'])

/**
 * Whether a payment may go to a recipient after the check of its name. Null where no bank is asked. An earlier answer that is
 * still valid stands where its scheme lets it, and what was accepted for the recipient stands while the bank says the same.
 */
export async function payeeGate(
  world: PayeeDeps,
  recipient: CheckedPayee & Pick<PayableRecipient, 'verification' | 'verificationPolicy'>,
  { rail, override, by }: { readonly rail: string; readonly override: OverrideInput | null; readonly by: string },
): Promise<GateResult | null> {
  const { verification, verificationPolicy: policy } = recipient
  const now = world.clock.now()
  const kept = !CHECKED_EVERY_TIME.has(rail) && rail !== 'internal' && stillValid(verification, now) ? verification : null
  const fresh = kept ?? await checkPayee(world, recipient)
  if (fresh === null) return null
  const checked = kept ?? withStandingOverride(fresh, verification)
  // What somebody accepted and may still be accepted needs no second word.
  if (override === null && checked.override !== null && policy.allowedOverrides.includes(checked.outcome)) return { verification: checked }
  return verificationGate({ ...checked, override: null }, { policy, override, by, now })
}
