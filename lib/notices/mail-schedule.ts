/** When a mail is sent again, and when it is given up. */
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts'
import { MailRefused } from './mail.ts'

/**
 * The delays after each failed attempt, three days in all. The first are short for servers that turn unknown senders
 * away once (greylisting); RFC 5321 (4.5.4.1) asks for four to five days between servers, which mails about payments
 * and links of a week do not need.
 */
const DELAYS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
] as const

/** A mail that fails for longer is an alarm, milliseconds: restarts and greylisting are over by then. */
export const MAIL_LATE_MS = 20 * MINUTE_MS

/** The length of an answer of a mail server that is kept, characters. */
const REPLY_MAX = 500

/** The next state of a mail whose attempt has failed. */
export type MailAfterFailure =
  | { readonly status: 'waiting'; readonly dueAt: number; readonly reply: string }
  /** Refused for good, or given up. */
  | { readonly status: 'bounced'; readonly reply: string }

/**
 * Decides what becomes of a mail after an attempt that failed.
 *
 * @param failures the attempts that have failed, with this one; epoch milliseconds in `now` and `dueAt`
 */
export function afterFailure(error: unknown, failures: number, now: number): MailAfterFailure {
  const reply = replyOf(error instanceof Error ? error.message : String(error))
  const delay = DELAYS_MS[failures - 1]
  if (delay === undefined || (error instanceof MailRefused && error.permanent)) return { status: 'bounced', reply }
  return { status: 'waiting', dueAt: now + delay, reply }
}

/** The answer of a mail server as it is kept: one line, of limited length. */
export function replyOf(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_MAX)
}
