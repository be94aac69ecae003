/** Time-based one-time codes (RFC 6238): six digits of SHA-1 every 30 seconds, as every authenticator app makes them. */
import { Secret, TOTP } from 'otpauth'

const ISSUER = 'vostro'
const PERIOD_SECONDS = 30
/** A code of the step before or after is taken too: clocks differ, and people type slowly. */
const WINDOW_STEPS = 1
/** As long as the hash, which is what RFC 4226 recommends. */
const SECRET_BYTES = 20

function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: ISSUER, label, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS, secret: Secret.fromBase32(secret) })
}

/** A secret in base32, the form that people and apps exchange. */
export function totpSecret(random: (bytes: number) => Uint8Array): string {
  return new Secret({ buffer: new Uint8Array(random(SECRET_BYTES)).buffer as ArrayBuffer }).base32
}

/** The address that an authenticator app reads from a QR code. Contains the secret. */
export function totpUri(secret: string, email: string): string {
  return totpOf(secret, email).toString()
}

/** The code of a moment in epoch milliseconds. */
export function totpCode(secret: string, now: number): string {
  return totpOf(secret).generate({ timestamp: now })
}

/** The time step that a code belongs to, or null when it is wrong. Compares in constant time. */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW_STEPS })
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta
}
