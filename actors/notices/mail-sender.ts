/**
 * Sends the queued mails (storage/notices/mails.ts): a task for each, so that one node sends it, and another when that
 * node dies. Mails are no flood, so they need no loop of their own.
 *
 * Each mail is delivered at least once, and twice only in one case. An attempt takes the mail under a lease. The mail
 * server delivers nothing before it has the end of the letter, so a node that dies earlier has delivered nothing. Just
 * before that end the row notes that it is handed over, if the lease still holds: a node that stalled, and whose mail
 * another node has taken, breaks off there. What is left is the time between that note and the note of the answer: one
 * answer of the mail server and one commit. When the node dies or the connection breaks within it, SMTP offers no way
 * to ask whether the letter was taken. It is sent again, as RFC 5321 (4.2.5) asks: no reader notices that a letter is
 * missing, and a repeated one has the same Message-ID, by which mailboxes that compare it show one.
 * `vostro_mails_repeated_total` counts these.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Log } from '../../lib/base/log.ts'
import { letterOf } from '../../lib/notices/letter.ts'
import { MailRefused, type MailTransport } from '../../lib/notices/mail.ts'
import { afterFailure, MAIL_LATE_MS, replyOf } from '../../lib/notices/mail-schedule.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { Database } from '../../storage/db/database.ts'
import * as rows from '../../storage/notices/mails.ts'
import type { Task } from '../runtime/tasks.ts'

/**
 * Attempts to note that a letter was delivered, and the time between them: while Postgres restarts, the letter must not
 * be repeated for want of a note.
 */
const NOTES_MAX = 20
const NOTE_MS = 1_000
/** The shortest time between two alarms of a node. */
const ALARM_MS = MINUTE_MS

const SEALED = 'The text of the mail was sealed under another SECRETS_KEY.'
const EXPIRED = 'The link in the mail has ended before the mail could be sent.'
/** Kept as the answer of an attempt that the stop of its node has ended. */
const STOPPED = 'The node that sent it has stopped.'

export interface MailSenderOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: SecretBox
  readonly log: Log
  readonly transport: MailTransport
}

/** Another attempt has taken the mail: this one delivers nothing. */
class MailTakenElsewhere extends Error {
  override readonly name = 'MailTakenElsewhere'

  constructor(id: string) {
    super(`The mail ${id} was taken by another attempt.`)
  }
}

export class MailSender {
  readonly #options: MailSenderOptions
  readonly counters = { sent: 0, bounced: 0, expired: 0, failures: 0, repeated: 0 }
  #alarmAt = Number.NEGATIVE_INFINITY

  constructor(options: MailSenderOptions) {
    this.#options = options
  }

  /** The tasks: to send a mail that is due, and to remove those that ended a month ago. */
  tasks(): readonly Task[] {
    return [
      { name: 'notices.mail', workers: 'outward', run: (id, { signal }) => this.#send(id, signal) },
      { name: 'notices.remove_mails', cron: '23 * * * *', run: () => this.#removeOld() },
    ]
  }

  /** The number of mails that wait on all nodes, and the age of the oldest, seconds. @throws database errors */
  async backlog(): Promise<{ readonly count: number; readonly oldestSeconds: number }> {
    const { database, clock } = this.#options
    const { count, oldestAt } = await rows.mailBacklog(database)
    return { count, oldestSeconds: oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt) / 1_000 }
  }

  async #removeOld(): Promise<void> {
    const { database, clock } = this.#options
    while ((await rows.removeOldMails(database, clock.now())) > 0);
  }

  async #send(id: string, signal: AbortSignal): Promise<void> {
    const { database, clock, ids, secrets } = this.#options
    const mail = await rows.takeMail(database, secrets, { id, lease: ids.next() })
    if (mail === null) return
    if (mail.validUntil !== null && clock.now() >= mail.validUntil) return await this.#end(mail, 'expired', EXPIRED)
    if (mail.text === null) return await this.#end(mail, 'bounced', SEALED)
    let reply: string
    try {
      reply = await this.#deliver(mail, mail.text, signal)
    } catch (error) {
      if (error instanceof MailTakenElsewhere) return
      return await this.#failed(mail, error, signal)
    }
    await this.#end(mail, 'sent', replyOf(reply))
  }

  async #deliver(mail: rows.TakenMail, text: string, signal: AbortSignal): Promise<string> {
    const { database, clock, transport } = this.#options
    return await transport.deliver(letterOf({ ...mail, text }), {
      signal,
      beforeEnd: async () => {
        signal.throwIfAborted()
        if (!(await rows.noteHandOver(database, mail, clock.now()))) throw new MailTakenElsewhere(mail.id)
        if (mail.mayBeDelivered) this.counters.repeated += 1
      },
    })
  }

  async #failed(mail: rows.TakenMail, error: unknown, signal: AbortSignal): Promise<void> {
    const { database, clock, log } = this.#options
    const now = clock.now()
    const refused = error instanceof MailRefused
    if (signal.aborted && !refused) {
      const { failures } = mail
      return await rows.deferMail(database, mail, { dueAt: now, failures, reply: STOPPED, refused: false })
    }
    const failures = mail.failures + 1
    const next = afterFailure(error, failures, now)
    if (next.status === 'bounced') {
      log.warn({ mail: mail.id, subject: mail.subject, reply: next.reply }, 'a mail was refused')
      return await this.#end(mail, 'bounced', next.reply)
    }
    this.counters.failures += 1
    const dueAt = Math.min(next.dueAt, mail.validUntil ?? Number.POSITIVE_INFINITY)
    await rows.deferMail(database, mail, { ...next, dueAt, failures, refused })
    const ageMs = now - mail.writtenAt
    const details = { mail: mail.id, failures, ageMs, reply: next.reply }
    if (ageMs < MAIL_LATE_MS || now - this.#alarmAt < ALARM_MS) {
      log.warn(details, 'a mail could not be sent; it is sent again')
      return
    }
    this.#alarmAt = now
    log.error(details, 'mails wait for long; check SMTP_URL and the mail server')
  }

  /** Notes the end of a mail. @throws database errors when Postgres stays away */
  async #end(mail: rows.TakenMail, status: 'sent' | 'bounced' | 'expired', reply: string): Promise<void> {
    const { database, clock } = this.#options
    this.counters[status] += 1
    for (let attempt = 1; ; attempt++) {
      try {
        await rows.endMail(database, mail, { status, reply, now: clock.now() })
        return
      } catch (error) {
        if (attempt === NOTES_MAX) throw error
        await pause(NOTE_MS)
      }
    }
  }
}
