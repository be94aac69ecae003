/**
 * Removes files whose time is over: temporary files that no row keeps, expired exports, deleted attachments. Every node
 * polls; each file is removed by one node.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { removeExpiredFiles } from '../../storage/documents/files.ts'
import { Poller } from '../runtime/poller.ts'

/** Expired files cannot be read, so their bytes may stay for a while. */
const TICK_MS = 30_000

export interface FileUpkeepOptions {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
}

export class FileUpkeep extends Poller {
  constructor({ database, clock, onError }: FileUpkeepOptions) {
    const poll = async (): Promise<void> => {
      let removed: number
      do removed = await removeExpiredFiles(database, clock.now())
      while (removed > 0)
    }
    super({ everyMs: TICK_MS, poll, onError: (error) => onError(error, 'files that have expired') })
  }
}
