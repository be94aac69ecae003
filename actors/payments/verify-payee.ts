/** Checks a payee's name with the bank that holds the account. */
import { type Rail, ON_PLATFORM_RAIL, RAILS } from '../../lib/rails/rails.ts'
import type { Clock } from '../../lib/base/clock.ts'
import {
  stillValid,
  verificationGate,
  verificationOfAnswer,
  verificationOfHolder,
  withStandingOverride,
  type GateResult,
  type OverrideInput,
  type PayeeAnswer,
  type PayeeQuestion,
  type RecipientVerification,
} from '../../lib/recipients/verification.ts'
import type { PayableRecipient } from '../../storage/recipients/recipient-cache.ts'
import type { PayeeAsker, PayeeVerifier } from '../providers/bank.ts'

/** The time limit for a bank's answer: the rule of the euro area's scheme, used for both schemes. */
const ANSWER_WITHIN_MS = 5_000

export interface PayeeDeps {
  readonly payees: PayeeVerifier
  readonly clock: Clock
  readonly answerWithinMs?: number
}

/** A check of a payee's name. */
export interface PayeeCheck {
  readonly verification: RecipientVerification
  /** False: no provider of the customer could be asked, so the outcome is `unavailable`. */
  readonly isOffered: boolean
}

/** Asks the provider and interprets its answer. A provider that fails or is late gives the outcome `unavailable`. */
export async function verifyPayee(
  { payees, clock, answerWithinMs = ANSWER_WITHIN_MS }: PayeeDeps,
  question: PayeeQuestion,
  asker: PayeeAsker,
): Promise<PayeeCheck> {
  const answer = await new Promise<PayeeAnswer | 'not_offered' | null>((resolve) => {
    const late = setTimeout(resolve, answerWithinMs, null)
    const settle = (found: PayeeAnswer | 'not_offered' | null) => {
      clearTimeout(late)
      resolve(found)
    }
    // A bank that is down cannot confirm the owner of the account; payments do not wait for it.
    payees.verifyPayee(question, asker).then(settle, () => settle(null))
  })
  return { verification: verificationOfAnswer(question, answer, clock.now()), isOffered: answer !== 'not_offered' }
}

/**
 * The parts of a payee that the check needs: its name, the scheme of its bank where there is one, and its account on
 * this platform where it has one.
 */
export interface CheckedPayee extends Pick<PayableRecipient, 'name' | 'payee' | 'platformAccount'> {}

/**
 * Checks a payee's name: in our own records where the account belongs to a balance of the same operator, otherwise with
 * the payee's bank. Null where no scheme checks names.
 */
export async function checkPayee(
  deps: PayeeDeps,
  { name, payee, platformAccount }: CheckedPayee,
  asker: PayeeAsker,
): Promise<PayeeCheck | null> {
  if (platformAccount?.sameOperator === true)
    return {
      verification: verificationOfHolder(name, platformAccount.holderName, deps.clock.now()),
      isOffered: true,
    }
  return payee === null ? null : await verifyPayee(deps, payee, asker)
}

/**
 * Decides whether a payment may go to a recipient after the name check. Null where no bank is asked. An earlier answer
 * that is still valid counts where its scheme allows it, and an earlier override counts while the bank's answer is the
 * same.
 */
export async function payeeGate(
  deps: PayeeDeps,
  recipient: CheckedPayee &
    Pick<PayableRecipient, 'verification' | 'verificationPolicy' | 'payer' | 'customerId' | 'currency'>,
  { rail, override, by }: { readonly rail: Rail; readonly override: OverrideInput | null; readonly by: string },
): Promise<GateResult | null> {
  const { verification, verificationPolicy: policy, customerId, currency } = recipient
  const { operatorId } = recipient.payer
  const now = deps.clock.now()
  const kept =
    RAILS.get(rail)?.sepa !== true && rail !== ON_PLATFORM_RAIL && stillValid(verification, now) ? verification : null
  const fresh = kept ?? (await checkPayee(deps, recipient, { operatorId, customerId, currency }))?.verification ?? null
  if (fresh === null) return null
  const checked = kept ?? withStandingOverride(fresh, verification)
  // An override that was given earlier and is still allowed needs no second confirmation.
  if (override === null && checked.override !== null && policy.allowedOverrides.includes(checked.outcome))
    return { verification: checked }
  return verificationGate({ ...checked, override: null }, { policy, override, by, now })
}
