/**
 * Writes the calls of partners to the database, many at a time. That an order leaves is written before it is sent (I1);
 * a call is recorded within FLUSH_MS after its end, and calls that a dying node had not written yet are lost.
 */
import type { IdSource } from '../../../lib/base/ids.ts'
import type { ProviderCall } from '../../../lib/providers/provider-call.ts'
import type { Database } from '../../../storage/db/database.ts'
import { insertProviderCalls } from '../../../storage/providers/provider-calls.ts'

const FLUSH_MS = 250
const BATCH_MAX = 500
/** Calls that wait for a database that does not answer; more are dropped, and the log says so. */
const WAITING_MAX = 10_000

export interface CallLogOptions {
  readonly database: Database
  readonly ids: IdSource
  readonly onError: (error: unknown, what: string) => void
}

export class CallLog {
  readonly #options: CallLogOptions
  #waiting: ProviderCall[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(options: CallLogOptions) {
    this.#options = options
  }

  /** Records a call. */
  readonly record = (call: Omit<ProviderCall, 'id'>): void => {
    const { ids, onError } = this.#options
    if (this.#waiting.length >= WAITING_MAX) {
      onError(new Error(`A call of a provider is not recorded: ${WAITING_MAX} wait for the database.`), 'calls')
      return
    }
    this.#waiting.push({ ...call, id: ids.next() })
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS)
  }

  /** Writes the calls that wait; resolves when all of them are written, or the database did not take them. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    await this.#writing
  }

  async #write(): Promise<void> {
    const { database, onError } = this.#options
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX)
      try {
        await insertProviderCalls(database, batch)
      } catch (error) {
        onError(error, 'calls of providers')
        this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS)
        return
      }
      this.#waiting.splice(0, batch.length)
    }
  }
}
