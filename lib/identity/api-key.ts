/**
 * The text of API keys: `svc_live_` or `svc_test_`, 8 base62 characters that may be shown, 32 secret ones, and a
 * checksum of 6. The checksum tells a mistyped key from an unknown one without a read of storage, and lets secret
 * scanners find leaked keys.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHOWN_CHARACTERS = 8
const SECRET_CHARACTERS = 32
/** Six base62 digits hold any CRC-32. */
const CHECKSUM_CHARACTERS = 6
/** `svc_live_` and the 8 characters after it: the part of a key that lists show. */
const PREFIX_CHARACTERS = 17
const KEY_CHARACTERS = PREFIX_CHARACTERS + SECRET_CHARACTERS + CHECKSUM_CHARACTERS
const KEY_FORMAT = /^svc_(?:live|test)_[0-9A-Za-z]{46}$/
/** Bytes from this value on are dropped, because they would favour the first digits of base62. */
const UNBIASED_BELOW = 62 * 4

/** The scopes of customers' keys. */
export const CUSTOMER_SCOPES = [
  'balances:read',
  'transactions:read',
  'statements:read',
  'recipients:read',
  'recipients:write',
  'payments:read',
  'payments:write',
  'exchanges:read',
  'exchanges:write',
  'webhooks:manage',
] as const

/** The scopes of operators' keys. Balances and payments are read across all customers of the operator. */
export const OPERATOR_SCOPES = [
  'balances:read',
  'payments:read',
  'customers:read',
  'customers:write',
  'onboarding:read',
  'integration:read',
  'treasury:read',
  'reports:read',
  'webhooks:manage',
] as const

/** A key as it is returned at its creation. */
export interface NewApiKey {
  /** The whole key. Shown once, never stored. */
  readonly secret: string
  /** Its first 17 characters, which may be stored and shown. */
  readonly prefix: string
  /** SHA-256 of the whole text, 64 lower-case hex digits. */
  readonly sha256: string
}

/** Makes a key. `random` returns as many random bytes as asked, from a generator fit for secrets. */
export function generateApiKey(environment: 'live' | 'test', random: (bytes: number) => Uint8Array): NewApiKey {
  const body = `svc_${environment}_${base62(SHOWN_CHARACTERS + SECRET_CHARACTERS, random)}`
  const secret = body + checksum(body)
  return { secret, prefix: secret.slice(0, PREFIX_CHARACTERS), sha256: apiKeyHash(secret) }
}

/** Tells whether a text has the form of a key, checksum included. Does not tell whether the key exists. */
export function isApiKeyText(text: string): boolean {
  if (text.length !== KEY_CHARACTERS || !KEY_FORMAT.test(text)) return false
  const end = KEY_CHARACTERS - CHECKSUM_CHARACTERS
  return text.slice(end) === checksum(text.slice(0, end))
}

/** Computes the stored form of a key: SHA-256 of the whole text, 64 lower-case hex digits. */
export function apiKeyHash(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    digits = BASE62[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function base62(characters: number, random: (bytes: number) => Uint8Array): string {
  let text = ''
  while (text.length < characters) {
    for (const byte of random(characters)) {
      if (byte < UNBIASED_BELOW && text.length < characters) text += BASE62[byte % 62]!
    }
  }
  return text
}
