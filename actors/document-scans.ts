/**
 * Scans of files, looked after where their customers are at home: asked for, and asked about until there is a verdict. A file
 * whose scanner cannot be reached stays unavailable, and is asked about again, ever more rarely.
 */
import type { Clock } from '../lib/clock.ts'
import type { Scanner } from '../lib/documents/scan.ts'
import type { Shards } from '../lib/shards.ts'
import { plainArray } from '../storage/array-literal.ts'
import type { Database } from '../storage/database.ts'
import { endScan, scanAgainAt, takeDueScans, type DueScan } from '../storage/documents.ts'
import { readFile } from '../storage/files.ts'
import { Lookout } from './runtime/lookout.ts'

/** How often a node looks, and how many files it takes at a time. */
const TICK_MS = 250
const TAKEN_MAX = 32
/** A file whose node died while it was scanned is taken up by another after this. */
const TAKEN_MS = 30_000
/** After a failure the next question waits longer each time, up to the second. */
const RETRY_MS = 1_000
const RETRY_MS_MAX = 60_000

export interface DocumentScansOptions {
  readonly database: Database
  readonly scanner: Scanner
  readonly clock: Clock
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class DocumentScans {
  readonly #options: DocumentScansOptions
  readonly #lookout: Lookout

  constructor(options: DocumentScansOptions) {
    this.#options = options
    this.#lookout = new Lookout({ everyMs: TICK_MS, look: () => this.#look(), onError: (error) => options.onError(error, 'files to be scanned') })
  }

  /** Begins to look. */
  start(): void {
    this.#lookout.start()
  }

  /** Stops looking; what was begun is finished. */
  async stop(): Promise<void> {
    await this.#lookout.stop()
  }

  async #look(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const [now, owned] = [clock.now(), shards.owned()]
    const due = await takeDueScans(database, { now, until: now + TAKEN_MS, shards: owned === null ? null : plainArray(owned), max: TAKEN_MAX })
    await Promise.all(due.map((file) => this.#scan(file).catch((error: unknown) => onError(error, `file ${file.fileId}`))))
  }

  async #scan(file: DueScan): Promise<void> {
    const { database, scanner, clock } = this.#options
    try {
      const { id, fileName, sizeBytes, createdAt } = file
      const result = await scanner.scan({ id, fileName, sizeBytes, createdAt, bytes: () => readFile(database, { id: file.fileId, sizeBytes }) }, clock.now())
      if ('verdict' in result) await endScan(database, id, result.verdict, clock.now())
      else await scanAgainAt(database, id, result.askAgainAt)
    } catch (error) {
      await scanAgainAt(database, file.id, clock.now() + Math.min(RETRY_MS * file.attempts, RETRY_MS_MAX))
      throw error
    }
  }
}
