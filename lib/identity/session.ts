/**
 * Sessions of people: a token of 256 random bits, of which only the hash is stored, and two ways to end without a
 * request.
 *
 * The token is replaced whenever the session gains rights or time (sign-in, second factor, step-up, refresh), so a
 * token that an attacker planted or saw before becomes useless.
 */
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts'
import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** A session ends after this time without a request, unless an operator of the person has set another. */
export const SESSION_IDLE_MS = 15 * MINUTE_MS
/** A session ends this long after sign-in, however busy it is, unless an operator of the person has set another. */
export const SESSION_ABSOLUTE_MS = 12 * HOUR_MS
/** The stored time of the last request is written again only when it is older than this. */
export const SESSION_TOUCH_MS = 5_000

/** The cookie of browsers. With this prefix, browsers require Secure, no Domain, and Path=/. */
export const SESSION_COOKIE = '__Host-session'

const TOKEN_BYTES = 32
const TOKEN = /^ses_[A-Za-z0-9_-]{43}$/

export type SessionStatus = 'mfa_required' | 'active' | 'idle' | 'expired' | 'revoked'

/** How long sessions of a person last: the shortest that the operators of the person's tenants set. Milliseconds. */
export interface SessionTerms {
  readonly idleMs: number
  readonly absoluteMs: number
}

/** The fields that decide whether a session has ended. Times are epoch milliseconds. */
export interface SessionTimes {
  readonly status: 'mfa_required' | 'active' | 'revoked'
  readonly lastSeenAt: number
  readonly expiresAt: number
  /** The time without a request after which it ends. */
  readonly idleMs: number
}

/** Makes a token. `random` returns as many random bytes as asked, from a generator fit for secrets. */
export function generateSessionToken(random: (bytes: number) => Uint8Array): string {
  return `ses_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`
}

/** Tells whether a text has the form of a token. Does not tell whether the token exists. */
export function isSessionToken(text: string): boolean {
  return TOKEN.test(text)
}

/**
 * Computes the stored form of a token: SHA-256, 64 lower-case hex digits. A slow hash would add nothing to 256 random
 * bits.
 */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Returns the status of a session at `now`, epoch milliseconds. */
export function sessionStatus(session: SessionTimes, now: number): SessionStatus {
  if (session.status === 'revoked') return 'revoked'
  if (now >= session.expiresAt) return 'expired'
  if (now >= session.lastSeenAt + session.idleMs) return 'idle'
  return session.status
}

/** Derives the token that a browser must add to requests that write; it changes with the session's token. */
export function csrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

/**
 * Tells whether a request that writes carries the right CSRF token. Takes the same time for every wrong token of the
 * right length.
 */
export function isCsrfToken(sent: string | undefined, sessionToken: string): boolean {
  if (sent === undefined) return false
  const wanted = Buffer.from(csrfToken(sessionToken))
  const given = Buffer.from(sent)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** Reads the session's token from a `Cookie` header; null when there is none. */
export function sessionCookie(header: string | undefined): string | null {
  if (header === undefined) return null
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === SESSION_COOKIE) return pair.slice(at + 1).trim()
  }
  return null
}

/** Makes the `Set-Cookie` of a session, or of its end when there is no token. */
export function setSessionCookie(token: string | null): string {
  const base = `${SESSION_COOKIE}=${token ?? ''}; Path=/; Secure; HttpOnly; SameSite=Strict`
  return token === null ? `${base}; Max-Age=0` : base
}
