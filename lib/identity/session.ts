/**
 * Sessions of people: 256 random bits that the service keeps only the hash of, and two ways to end by themselves.
 *
 * A token is replaced whenever the session gains something (signing in, the second factor, a step-up, a refresh), so a
 * token that someone planted or saw before is worth nothing after.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Without a request for this long a session is over. */
export const SESSION_IDLE_MS = 15 * 60_000
/** However busy, a session ends this long after signing in. */
export const SESSION_ABSOLUTE_MS = 12 * 3_600_000
/** How old the noted time of the last request may become before it is written again. */
export const SESSION_TOUCH_MS = 5_000

/** The cookie of browsers. The prefix makes them insist on Secure, on no domain and on the whole site. */
export const SESSION_COOKIE = '__Host-session'

const TOKEN_BYTES = 32
const TOKEN = /^ses_[A-Za-z0-9_-]{43}$/

export type SessionStatus = 'mfa_required' | 'active' | 'idle' | 'expired' | 'revoked'

/** What decides whether a session is over. Times are epoch milliseconds. */
export interface SessionTimes {
  readonly status: 'mfa_required' | 'active' | 'revoked'
  readonly lastSeenAt: number
  readonly expiresAt: number
}

/** Makes a token. `random` returns that many random bytes, from a generator fit for secrets. */
export function generateSessionToken(random: (bytes: number) => Uint8Array): string {
  return `ses_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`
}

/** Whether the text has the form of a token. Says nothing about whether it exists. */
export function isSessionToken(text: string): boolean {
  return TOKEN.test(text)
}

/** What is stored of a token: SHA-256, 64 lower-case hex digits. A slow hash would add nothing to 256 random bits. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** The status as it is now. */
export function sessionStatus(session: SessionTimes, now: number): SessionStatus {
  if (session.status === 'revoked') return 'revoked'
  if (now >= session.expiresAt) return 'expired'
  if (now >= session.lastSeenAt + SESSION_IDLE_MS) return 'idle'
  return session.status
}

/** The token that a browser must add to requests that write; it follows from the session's token and changes with it. */
export function csrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

/** Whether a request that writes carries the right one. Takes the same time for every wrong one. */
export function isCsrfToken(sent: string | undefined, sessionToken: string): boolean {
  if (sent === undefined) return false
  const wanted = Buffer.from(csrfToken(sessionToken))
  const given = Buffer.from(sent)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** The session's token in a `Cookie` header; null when there is none. */
export function sessionCookie(header: string | undefined): string | null {
  if (header === undefined) return null
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === SESSION_COOKIE) return pair.slice(at + 1).trim()
  }
  return null
}

/** The `Set-Cookie` of a session, or of its end when there is no token. */
export function setSessionCookie(token: string | null): string {
  const base = `${SESSION_COOKIE}=${token ?? ''}; Path=/; Secure; HttpOnly; SameSite=Strict`
  return token === null ? `${base}; Max-Age=0` : base
}
