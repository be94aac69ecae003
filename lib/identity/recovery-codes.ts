/**
 * Recovery codes: ten texts that a person keeps for the day when no authenticator is at hand. Each works once.
 *
 * A code has 80 random bits. Its stored form is an HMAC under the service's own key, so the database alone does not
 * even permit guesses; a slow hash would add nothing to that.
 */
import { createHmac } from 'node:crypto'
import type { SecretBox } from '../security/secret-box.ts'

export const RECOVERY_CODES = 10
const CODE_BYTES = 10
const KEY_BYTES = 32
/** Crockford's alphabet has no I, L, O or U, so that a code that was written down is read as it was meant. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE = new RegExp(`^[${ALPHABET}]{16}$`)

/** Makes a person's codes, in the form that is shown: four groups of four. */
export function recoveryCodes(random: (bytes: number) => Uint8Array): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const bits = BigInt(`0x${Buffer.from(random(CODE_BYTES)).toString('hex')}`)
    const text = Array.from({ length: 16 }, (_, place) => ALPHABET[Number((bits >> BigInt(place * 5)) & 31n)]).join('')
    return text.replaceAll(/(.{4})(?=.)/g, '$1-')
  })
}

/** Reads a code as a person types it: case, spaces and hyphens do not matter; null when the form is wrong. */
export function readRecoveryCode(text: string): string | null {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return CODE.test(code) ? code : null
}

/** Computes the stored form of a code that was read, 64 lower-case hex digits. Persons never share one. */
export function recoveryCodeHash(secrets: SecretBox, userId: string, code: string): string {
  return createHmac('sha256', secrets.derive('recovery codes', KEY_BYTES)).update(`${userId} ${code}`).digest('hex')
}
