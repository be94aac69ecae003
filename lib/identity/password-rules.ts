/**
 * The rules for passwords: long enough, and not among those that attackers try first. There are no rules about kinds of
 * characters, because they make passwords worse. The hash itself is made in workers/identity/hash-password.ts.
 */
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts'
import type { FieldErrorCode } from '../base/problems.ts'
import { COMMON_PASSWORDS } from './common-passwords.ts'

export const PASSWORD_MIN = 12
export const PASSWORD_MAX = 128

/** So many failed sign-ins in a row lock an address for this time. */
export const LOGIN_FAILURES_MAX = 5
export const LOGIN_LOCK_MS = 15 * MINUTE_MS
/** Validity of a reset link. */
export const PASSWORD_RESET_MS = HOUR_MS

/** The path of the page where the token of a reset link is used. */
export const passwordResetPath = (token: string): string => `/password-resets/${token}`

/** A rule that a password breaks. */
export interface PasswordFault {
  readonly code: FieldErrorCode
  readonly message: string
  readonly params?: Readonly<Record<string, number>>
}

/**
 * Returns the rule that a password breaks for the person with this e-mail address; null when it may be chosen. Lengths
 * are in code points.
 */
export function passwordFault(password: string, email: string): PasswordFault | null {
  const normal = password.normalize('NFC')
  const length = Array.from(normal).length
  if (length < PASSWORD_MIN)
    return {
      code: 'too_short',
      message: `Must have at least ${PASSWORD_MIN} characters.`,
      params: { min: PASSWORD_MIN },
    }
  if (length > PASSWORD_MAX)
    return { code: 'too_long', message: `Must have at most ${PASSWORD_MAX} characters.`, params: { max: PASSWORD_MAX } }
  const folded = normal.toLowerCase()
  if (COMMON_PASSWORDS.has(folded) || isRepetition(folded)) {
    return { code: 'invalid_value', message: 'Appears in lists of stolen passwords; choose another.' }
  }
  if (folded === email.toLowerCase() || folded === email.toLowerCase().split('@')[0]) {
    return { code: 'invalid_value', message: 'Must not be the e-mail address.' }
  }
  return null
}

/** Tells whether the text repeats one short piece, like `abcabcabcabc`. */
function isRepetition(text: string): boolean {
  return /^(.{1,4})\1+$/su.test(text)
}

/** Normalises an e-mail address for comparison: trimmed, NFC, lower case. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
