/** Fetches the files that the bank has left, and reads each once. */
import type { BankFileItem } from '../../../../lib/providers/iso20022/reports.ts'
import type { FileBook, FilePlace, FileSession, FoundFile, PartnerFiles } from '../partner-files.ts'
import { eventText } from './file-event.ts'
import { contentsOf, namesIn } from './read-bank-file.ts'
import type { ReportScope } from './read-account-report.ts'

export interface FetchScope {
  readonly book: FileBook
  readonly place: FilePlace
  readonly read: PartnerFiles['read']
  readonly scope: ReportScope
  readonly now: number
}

/** Fetches all files that have not been read, oldest first. @throws PlaceUnreachable, and what the book throws */
export async function fetchFiles(fetching: FetchScope): Promise<void> {
  const { book, place } = fetching
  await place.use(async (session) => {
    for (const file of await book.unread(await session.list())) await fetchFile(session, file, fetching)
  })
}

async function fetchFile(session: FileSession, file: FoundFile, { book, read, scope, now }: FetchScope): Promise<void> {
  const { name } = file
  const { id, sha256, isNew } = await book.receive(file, session.read(name), now)
  if (isNew && !(await readFile({ id, name, sha256 }, { book, read, scope, now }))) return
  await session.archive(name, `${name}.${sha256.slice(0, 8)}`)
}

/** @returns whether the file could be read */
async function readFile(
  file: { readonly id: string; readonly name: string; readonly sha256: string },
  { book, read, scope, now }: Omit<FetchScope, 'place'>,
): Promise<boolean> {
  const items: BankFileItem[] = []
  const { format, fault } = await read(await book.bytes(file.id), async (some) => {
    items.push(...some)
  })
  if (format === null || fault !== null) {
    const reason = `The file ${file.name} cannot be read: ${fault ?? 'it is no message of a bank'}`
    const body = eventText({ kind: 'remark', reason, isFault: true }, { file, place: 0 })
    await book.refuse(file.id, reason, { source: 'file', type: 'unreadable', body: Buffer.from(body) }, now)
    return false
  }
  await book.settle(file.id, namesIn(items), (orders) => contentsOf(file, { format, items }, orders, scope), now)
  return true
}
