/**
 * Reads cards for decisions: while one statement reads, the questions that arrive meanwhile gather for the next. So a
 * message that meets no other waits for nothing, and beside many others it costs a part of a statement.
 */
import type { Reader } from '../../storage/db/connection.ts'
import { readFoundCards, type CardQuestion, type FoundCard } from '../../storage/cards/card-reading.ts'

/** Questions of one statement: its cost for each no longer falls beyond. */
const BATCH_MAX = 64

interface Waiting {
  readonly question: CardQuestion
  readonly resolve: (found: FoundCard | null) => void
  readonly reject: (error: unknown) => void
}

export class CardReading {
  readonly #reader: Reader
  readonly #waiting: Waiting[] = []
  #isReading = false

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Reads a card with the transaction of a reference; null for a card that does not exist. @throws DatabaseUnavailable */
  async read(question: CardQuestion): Promise<FoundCard | null> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      if (!this.#isReading) void this.#readAll()
    })
  }

  async #readAll(): Promise<void> {
    this.#isReading = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX)
      try {
        const found = await readFoundCards(
          this.#reader,
          batch.map(({ question }) => question),
        )
        for (const [nth, { resolve }] of batch.entries()) resolve(found[nth] ?? null)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isReading = false
  }
}
