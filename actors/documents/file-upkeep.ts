/** Removes files whose time is over: temporary files that no row keeps, expired exports, deleted attachments. */
import type { Clock } from '../../lib/base/clock.ts'
import type { Database } from '../../storage/db/database.ts'
import { removeExpiredFiles } from '../../storage/documents/files.ts'
import type { Task } from '../runtime/tasks.ts'

/** Expired files cannot be read, so their bytes may stay for ten minutes. */
export function fileUpkeep({ database, clock }: { readonly database: Database; readonly clock: Clock }): Task {
  return {
    name: 'documents.expired_files',
    cron: '*/10 * * * *',
    async run() {
      let removed: number
      do removed = await removeExpiredFiles(database, clock.now())
      while (removed > 0)
    },
  }
}
