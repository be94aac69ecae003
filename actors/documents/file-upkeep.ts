/**
 * Removes files whose time is over: what was lent and not kept, exports that have expired, attachments that were deleted.
 * Every node looks; each file is removed by one of them.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { removeExpiredFiles } from '../../storage/documents/files.ts'
import { Poller } from '../runtime/poller.ts'

/** Nobody finds an expired file, so its bytes may stay for a while. */
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
      do removed = await removeExpiredFiles(database, clock.now()); while (removed > 0)
    }
    super({ everyMs: TICK_MS, poll, onError: (error) => onError(error, 'files that have expired') })
  }
}
