/**
 * Requests scans of files, and asks for the result until there is a verdict. A file whose scanner cannot be reached
 * stays unavailable, and is asked about again at growing intervals.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { Scanner } from '../../lib/documents/scan.ts'
import type { Database } from '../../storage/db/database.ts'
import { endScan, findScan, scanAgainAt } from '../../storage/documents/documents.ts'
import { readFile } from '../../storage/documents/files.ts'
import type { Task } from '../runtime/tasks.ts'

export interface DocumentScansDeps {
  readonly database: Database
  readonly scanner: Scanner
  readonly clock: Clock
}

export function documentScans({ database, scanner, clock }: DocumentScansDeps): Task {
  return {
    name: 'documents.scan',
    async run(documentId) {
      const file = await findScan(database, documentId)
      if (file === null) return
      const { id, fileId, fileName, sizeBytes, createdAt } = file
      const result = await scanner.scan(
        { id, fileName, sizeBytes, createdAt, bytes: () => readFile(database, { id: fileId, sizeBytes }) },
        clock.now(),
      )
      if ('verdict' in result) await endScan(database, id, result.verdict, clock.now())
      else await scanAgainAt(database, id, result.askAgainAt)
    },
  }
}
