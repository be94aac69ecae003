/** Our references in a bank's files: UUIDs without hyphens, because the fields of ISO 20022 hold 35 characters. */
import { isUuid } from '../../base/ids.ts'
import { xmlReference } from '../../base/xml.ts'

/** Characters of most references of ISO 20022. */
export const REFERENCE_MAX = 35
/** A UUID without hyphens. */
const BARE_UUID = /^[0-9a-f]{32}$/i
/** Digits and letters that cannot be mistaken for one another (Crockford's base 32). */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Digits of 128 bits, five bits each. */
const MESSAGE_ID_DIGITS = 26

/** Returns our reference as a file carries it: the 32 hexadecimal digits of the UUID. */
export const instructionIdOf = (uuid: string): string => xmlReference(uuid).toLowerCase()

/** Returns the UUID that a reference of a file carries, with or without hyphens; null where it is none. */
export function uuidOf(text: string): string | null {
  if (isUuid(text)) return text.toLowerCase()
  if (!BARE_UUID.test(text)) return null
  const hex = text.toLowerCase()
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Returns the first reference that carries a UUID, as that UUID; null where none does. */
export function uuidAmong(texts: readonly (string | null)[]): string | null {
  for (const text of texts) {
    const uuid = text === null ? null : uuidOf(text)
    if (uuid !== null) return uuid
  }
  return null
}

/** Returns the message id of the file with this UUID: 26 letters and digits, different for every UUID. */
export function fileMessageId(uuid: string): string {
  let rest = BigInt(`0x${xmlReference(uuid)}`)
  let digits = ''
  for (let count = 0; count < MESSAGE_ID_DIGITS; count += 1) {
    digits = (DIGITS[Number(rest % 32n)] as string) + digits
    rest /= 32n
  }
  return digits
}
