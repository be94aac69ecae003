/**
 * Follows payments that have ended, one second later: sets `lastPaidAt` of recipients, and tells people of failures and
 * returns. Every node polls and one at a time writes (storage/payments/payment-follow-up.ts). After a stop or a crash,
 * the next pass of any node does the rest. A mail that a dying node had not sent is lost; its notice within the service
 * is not.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import { followUpPayments } from '../../storage/payments/payment-follow-up.ts'

/** The time between the end of a pass and the next. */
const TICK_MS = 1_000

export interface PaymentFollowUpOptions {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
  readonly mailer: Mailer
  readonly onError: (error: unknown, what: string) => void
}

export class PaymentFollowUp {
  readonly #options: PaymentFollowUpOptions
  #timer: NodeJS.Timeout | undefined
  #running = false
  #pass: Promise<void> | undefined

  constructor(options: PaymentFollowUpOptions) {
    this.#options = options
  }

  /** Starts polling, first for the work that is left from before. */
  start(): void {
    this.#running = true
    this.#look()
  }

  /** Stops polling; finishes the pass in progress. */
  async stop(): Promise<void> {
    this.#running = false
    clearTimeout(this.#timer)
    await this.#pass
  }

  #look(): void {
    this.#pass = this.#once()
      .catch((error: unknown) => {
        this.#options.onError(error, 'payment follow-up')
        return false
      })
      .then((more) => {
        if (this.#running) this.#timer = setTimeout(() => this.#look(), more ? 0 : TICK_MS).unref()
      })
  }

  async #once(): Promise<boolean> {
    const { database, ids, clock, mailer, onError } = this.#options
    const { more, mails } = await followUpPayments(database, ids, clock.now())
    for (const mail of mails) await mailer.send(mail).catch((error: unknown) => onError(error, 'mail'))
    return more
  }
}
