/**
 * Time-based one-time codes (RFC 6238): six digits of SHA-1 every 30 seconds, as every authenticator app makes them.
 */
import { Secret, TOTP } from 'otpauth'

const ISSUER = 'vostro'
const PERIOD_SECONDS = 30
/** The codes of the step before and after are valid, too: clocks differ, and people type slowly. */
const WINDOW_STEPS = 1
/** The length of the hash, as RFC 4226 recommends. */
const SECRET_BYTES = 20

function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  })
}

/** Makes a secret in base32, the form that people and apps exchange. */
export function totpSecret(random: (bytes: number) => Uint8Array): string {
  return new Secret({ buffer: new Uint8Array(random(SECRET_BYTES)).buffer as ArrayBuffer }).base32
}

/** Makes the URI that an authenticator app reads from a QR code. Contains the secret. */
export function totpUri(secret: string, email: string): string {
  return totpOf(secret, email).toString()
}

/** Computes the code at `now`, epoch milliseconds. */
export function totpCode(secret: string, now: number): string {
  return totpOf(secret).generate({ timestamp: now })
}

/** Returns the time step of a code, or null when the code is wrong. Compares in constant time. */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW_STEPS })
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta
}
