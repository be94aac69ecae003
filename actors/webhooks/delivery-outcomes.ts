/**
 * Writes the outcomes of deliveries in batches: those that gather while one batch is written are the next batch, and a
 * single outcome is written at once.
 */
import { streakOf } from '../../lib/webhooks/streak.ts'
import type { Database } from '../../storage/db/database.ts'
import { finishAttempts, type FinishedAttempt } from '../../storage/webhooks/webhook-queue.ts'
import type { EndpointOwners } from './endpoint-owners.ts'

/** The maximum number of outcomes written in one statement. */
const FINISH_MAX = 512
/** The pause after a database error before the next attempt. */
const PAUSE_MS = 500

export interface DeliveryOutcomesOptions {
  readonly database: Database
  readonly counters: { attempts: number; failures: number }
  /** Tells people in the transaction in which an endpoint is paused. */
  readonly tellStatus: EndpointOwners['tellStatus']
  /** False when the node stops: an outcome that cannot be written is then left to the next claim. */
  readonly isRunning: () => boolean
  /** Keeps the work until it ends, and reports its errors. */
  readonly background: (work: Promise<void>) => void
  readonly onWritten: (deliveryId: string) => void
  /** Called after each batch. */
  readonly onBatch: () => void
  readonly onError: (error: unknown, what: string) => void
}

export class DeliveryOutcomes {
  readonly #options: DeliveryOutcomesOptions
  #waiting: { readonly attempt: FinishedAttempt; readonly written: () => void }[] = []
  #writing = false

  constructor(options: DeliveryOutcomesOptions) {
    this.#options = options
  }

  /** Adds the outcome of an attempt; resolves when it is written. */
  add(attempt: FinishedAttempt): Promise<void> {
    const { counters, background } = this.#options
    counters.attempts += 1
    if (!attempt.succeeded) counters.failures += 1
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ attempt, written: resolve })
    if (!this.#writing) background(this.#writeAll())
    return promise
  }

  async #writeAll(): Promise<void> {
    const { isRunning, onError } = this.#options
    this.#writing = true
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.splice(0, FINISH_MAX)
        try {
          await this.#write(batch.map(({ attempt }) => attempt))
          for (const { written } of batch) written()
        } catch (error) {
          onError(error, 'webhook outcomes')
          // The claims run out meanwhile and the deliveries are made again: a repeat is better than a lost outcome.
          if (!isRunning()) return
          this.#waiting.unshift(...batch)
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        }
      }
    } finally {
      this.#writing = false
    }
  }

  async #write(batch: readonly FinishedAttempt[]): Promise<void> {
    const { database, tellStatus, onWritten, onBatch } = this.#options
    const byEndpoint = Map.groupBy(batch, ({ delivery }) => delivery.endpointId)
    const streaks = [...byEndpoint].map(([endpointId, outcomes]) => ({ endpointId, ...streakOf(outcomes) }))
    await finishAttempts(database, batch, streaks, (client, endpoint) => tellStatus(client, endpoint, 'paused'))
    for (const { delivery } of batch) onWritten(delivery.id)
    onBatch()
  }
}
