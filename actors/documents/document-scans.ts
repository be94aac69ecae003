/**
 * Requests scans of files, on the node that owns the customer's shard, and asks for the result until there is a
 * verdict. A file whose scanner cannot be reached stays unavailable, and is asked about again at growing intervals.
 */
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { Scanner } from '../../lib/documents/scan.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { endScan, scanAgainAt, takeDueScans, type DueScan } from '../../storage/documents/documents.ts'
import { readFile } from '../../storage/documents/files.ts'
import { DueRowPoller } from '../runtime/due-row-poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The poll interval, and the number of files taken per poll. */
const TICK_MS = 250
const TAKEN_MAX = 32
/** The claim time: after it, another node takes the file of a dead node. */
const TAKEN_MS = 30_000
/** The delay after a failure; it grows each time, up to the second figure. */
const RETRY_MS = 1_000
const RETRY_MS_MAX = MINUTE_MS

export interface DocumentScansOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly scanner: Scanner
  readonly clock: Clock
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class DocumentScans extends DueRowPoller<DueScan> {
  readonly #options: DocumentScansOptions

  constructor(options: DocumentScansOptions) {
    super({
      ...options,
      work: 'document',
      everyMs: TICK_MS,
      max: TAKEN_MAX,
      takenMs: TAKEN_MS,
      what: 'files to be scanned',
      take: (claim) => takeDueScans(options.database, claim),
      follow: (file) => this.#scan(file),
      nameOf: ({ fileId }) => `file ${fileId}`,
    })
    this.#options = options
  }

  async #scan(file: DueScan): Promise<void> {
    const { database, scanner, clock } = this.#options
    try {
      const { id, fileName, sizeBytes, createdAt } = file
      const result = await scanner.scan(
        { id, fileName, sizeBytes, createdAt, bytes: () => readFile(database, { id: file.fileId, sizeBytes }) },
        clock.now(),
      )
      if ('verdict' in result) await endScan(database, id, result.verdict, clock.now())
      else await scanAgainAt(database, id, result.askAgainAt)
    } catch (error) {
      await scanAgainAt(database, file.id, clock.now() + Math.min(RETRY_MS * file.attempts, RETRY_MS_MAX))
      throw error
    }
  }
}
