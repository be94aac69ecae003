/**
 * What follows from payments that have ended, a second behind them: `lastPaidAt` of recipients, and news of failures and
 * returns. Every node looks and one at a time writes (storage/payments/payment-follow-up.ts); what was not done when a node stopped or
 * died is done by the next pass of any. A mail that a dying node had not sent is not sent; what it told of is in the service.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import { followUpPayments } from '../../storage/payments/payment-follow-up.ts'

/** How long after a pass the next one begins. */
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

  constructor(options: PaymentFollowUpOptions) { this.#options = options }

  /** Begins to look, at first for what is left from before. */
  start(): void {
    this.#running = true
    this.#look()
  }

  /** Stops looking; a pass that was begun is finished. */
  async stop(): Promise<void> {
    this.#running = false
    clearTimeout(this.#timer)
    await this.#pass
  }

  #look(): void {
    this.#pass = this.#once().catch((error: unknown) => {
      this.#options.onError(error, 'payment follow-up')
      return false
    }).then((more) => {
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
