/**
 * Confirmation and verification of payees: the meaning of a bank's answer, and whether the recipient may be used after
 * it.
 *
 * Two schemes answer with codes of their own: Confirmation of Payee in the United Kingdom (`cop`), Verification of
 * Payee in the euro area (`vop`). Only this file turns their codes into the four outcomes.
 */
import { DAY_MS, timestamp } from '../base/clock.ts'
import type { Problem } from '../base/problems.ts'
import { compareNames } from './holder-name.ts'

export const VERIFICATION_OUTCOMES = ['match', 'close_match', 'no_match', 'unavailable'] as const
export type VerificationOutcome = (typeof VERIFICATION_OUTCOMES)[number]

/** A scheme that answers. */
export type PayeeScheme = 'cop' | 'vop'

/** The answer of a bank about a payee. A match of `cop` has no code. */
export interface PayeeAnswer {
  readonly code: string | null
  /** Only where the scheme allows the right name to be shown. */
  readonly matchedName: string | null
}

/** The accepted outcome of a check that was no match. */
export interface VerificationOverride {
  readonly acceptOutcome: VerificationOutcome
  readonly reason: string
  readonly by: string
  readonly at: string
}

/** A verification as it is stored and shown. */
export interface RecipientVerification {
  readonly scheme: PayeeScheme | 'internal' | 'none'
  readonly outcome: VerificationOutcome
  readonly reasonCode: string | null
  readonly reason: string
  readonly matchedName: string | null
  readonly accountTypeMatch: boolean | null
  readonly requestedName: string
  readonly checkedAt: string
  readonly validUntil: string | null
  readonly override: VerificationOverride | null
}

interface Meaning {
  readonly outcome: VerificationOutcome
  /** Neutral text for people. */
  readonly reason: string
  /** The name at the bank may be shown. */
  readonly tellsName?: true
  readonly accountTypeMatch?: boolean
}

const ANOTHER_TYPE = 'The account is of another type than the recipient.'
const CLOSE = 'The name is close to that of the account holder.'

const MEANINGS: Readonly<Record<string, Meaning>> = {
  MTCH: { outcome: 'match', reason: 'The name matches the account.' },
  CMTC: { outcome: 'close_match', reason: CLOSE, tellsName: true },
  NMTC: { outcome: 'no_match', reason: 'The name does not match the account.' },
  NOAP: { outcome: 'unavailable', reason: 'The name could not be checked.' },
  MBAM: { outcome: 'close_match', reason: CLOSE, tellsName: true, accountTypeMatch: true },
  BANM: { outcome: 'close_match', reason: ANOTHER_TYPE, accountTypeMatch: false },
  PANM: { outcome: 'close_match', reason: ANOTHER_TYPE, accountTypeMatch: false },
  BAMM: { outcome: 'close_match', reason: `${CLOSE} ${ANOTHER_TYPE}`, tellsName: true, accountTypeMatch: false },
  PAMM: { outcome: 'close_match', reason: `${CLOSE} ${ANOTHER_TYPE}`, tellsName: true, accountTypeMatch: false },
  ANNM: { outcome: 'no_match', reason: 'The name does not match the account.' },
  AC01: { outcome: 'no_match', reason: 'The bank has no account with this number.' },
  IVCR: { outcome: 'unavailable', reason: 'The account needs a reference of its own to be checked.' },
  ACNS: { outcome: 'unavailable', reason: 'The bank does not check accounts of this kind.' },
  OPTO: { outcome: 'unavailable', reason: 'The account holder does not take part in the check.' },
  CASS: { outcome: 'unavailable', reason: 'The account has moved to another bank.' },
  SCNS: { outcome: 'unavailable', reason: 'The bank does not take part in the check.' },
}

const MATCH: Meaning = { outcome: 'match', reason: 'The name matches the account.', accountTypeMatch: true }
const NO_ANSWER: Meaning = { outcome: 'unavailable', reason: 'The bank did not answer in time.' }
const NOT_OFFERED: Meaning = { outcome: 'unavailable', reason: 'No bank of the customer checks names.' }

/** Tells whether a code is an answer of a scheme. */
export function isPayeeCode(code: string): boolean {
  return Object.hasOwn(MEANINGS, code)
}

/** An answer of `cop` is valid for this time. */
const COP_VALID_MS = 90 * DAY_MS

/** The question to a bank about one payee. */
export interface PayeeQuestion {
  readonly scheme: PayeeScheme
  readonly name: string
  readonly type: 'business' | 'individual'
  readonly iban: string | null
  readonly sortCode: string | null
  readonly accountNumber: string | null
  readonly secondaryReference: string | null
}

/**
 * Makes a verification from an answer. `not_offered`: no provider could be asked; null: no answer in time. `now` is epoch
 * milliseconds.
 */
export function verificationOfAnswer(
  { scheme, name }: Pick<PayeeQuestion, 'scheme' | 'name'>,
  answer: PayeeAnswer | 'not_offered' | null,
  now: number,
): RecipientVerification {
  const told = answer === null || answer === 'not_offered' ? null : answer
  // An unknown code tells nothing about the name.
  const meaning =
    told === null
      ? answer === null
        ? NO_ANSWER
        : NOT_OFFERED
      : told.code === null
        ? MATCH
        : (MEANINGS[told.code] ?? (MEANINGS['NOAP'] as Meaning))
  return {
    scheme,
    outcome: meaning.outcome,
    reasonCode: told === null ? (scheme === 'vop' ? 'NOAP' : null) : told.code,
    reason: meaning.reason,
    matchedName: meaning.tellsName === true ? (told?.matchedName ?? null) : null,
    accountTypeMatch: meaning.accountTypeMatch ?? null,
    requestedName: name,
    checkedAt: timestamp(now),
    // Without an answer there is nothing to be valid: the next payment asks again.
    validUntil: scheme === 'cop' && told !== null ? timestamp(now + COP_VALID_MS) : null,
    override: null,
  }
}

/** The result of comparing with our own records, as codes of Verification of Payee. */
const OWN_CODES = { match: 'MTCH', close_match: 'CMTC', no_match: 'NMTC' } as const

/**
 * Makes the verification of a payee whose account is on this platform, where our own records have the holder's name.
 * `now` is epoch milliseconds.
 */
export function verificationOfHolder(name: string, holderName: string, now: number): RecipientVerification {
  const outcome = compareNames(name, holderName)
  return {
    scheme: 'internal',
    outcome,
    reasonCode: null,
    reason: (MEANINGS[OWN_CODES[outcome]] as Meaning).reason,
    matchedName: outcome === 'close_match' ? holderName : null,
    accountTypeMatch: null,
    requestedName: name,
    checkedAt: timestamp(now),
    validUntil: null,
    override: null,
  }
}

/** The operator's rules about verifications. */
export interface VerificationPolicy {
  readonly requireVerification: boolean
  /** Outcomes that may be accepted although they are no match. */
  readonly allowedOverrides: readonly string[]
}

/** The outcome that a caller accepts, with the reason. */
export interface OverrideInput {
  readonly acceptOutcome: VerificationOutcome
  readonly reason: string
}

export type GateResult = { readonly verification: RecipientVerification } | { readonly refused: Problem }

/**
 * Decides whether a recipient may be used after its check. A match may. Any other outcome may when the caller accepts
 * exactly that outcome and the operator allows it; without an answer of a bank, also when the operator requires no
 * verification.
 */
export function verificationGate(
  checked: RecipientVerification,
  {
    policy,
    override,
    by,
    now,
  }: {
    readonly policy: VerificationPolicy
    readonly override: OverrideInput | null
    readonly by: string
    readonly now: number
  },
): GateResult {
  const { outcome } = checked
  if (outcome === 'match') return { verification: checked }
  const accepted = override !== null && override.acceptOutcome === outcome && policy.allowedOverrides.includes(outcome)
  if (accepted)
    return {
      verification: {
        ...checked,
        override: { acceptOutcome: outcome, reason: override.reason, by, at: timestamp(now) },
      },
    }
  if (outcome === 'unavailable' && !policy.requireVerification) return { verification: checked }
  return { refused: mismatch(checked) }
}

function mismatch(verification: RecipientVerification): Problem {
  return { slug: 'verification-mismatch', detail: verification.reason, extra: { verification } }
}

/** Keeps an earlier override when the new check has the same result for the same name. */
export function withStandingOverride(
  checked: RecipientVerification,
  before: RecipientVerification | null,
): RecipientVerification {
  const stands =
    before?.override !== null &&
    before?.override !== undefined &&
    checked.override === null &&
    before.outcome === checked.outcome &&
    before.reasonCode === checked.reasonCode &&
    before.requestedName === checked.requestedName
  return stands ? { ...checked, override: before.override } : checked
}

/** Tells whether an earlier check can replace a new one: only within its validity, where its scheme has one. */
export function stillValid(
  verification: RecipientVerification | null,
  now: number,
): verification is RecipientVerification {
  return verification !== null && verification.validUntil !== null && Date.parse(verification.validUntil) > now
}

/** A check as a payment stores it: a match, the usual case, in a few bytes. */
export type KeptVerification =
  | { readonly scheme: PayeeScheme; readonly code: string | null; readonly at: number }
  | RecipientVerification

export function keptVerification(verification: RecipientVerification): KeptVerification {
  const { scheme, outcome, reasonCode: code, checkedAt } = verification
  return outcome === 'match' && (scheme === 'cop' || scheme === 'vop')
    ? { scheme, code, at: Date.parse(checkedAt) }
    : verification
}

/** Makes the shown check from the stored one; `name` is the name that was checked. */
export function shownVerification(kept: KeptVerification, name: string): RecipientVerification {
  return 'outcome' in kept
    ? kept
    : verificationOfAnswer({ scheme: kept.scheme, name }, { code: kept.code, matchedName: null }, kept.at)
}
