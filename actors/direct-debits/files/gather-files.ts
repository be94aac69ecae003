/**
 * Makes the files of direct debits. Half an hour before a cut-off, the pending collections of each group go into a file:
 *
 *  * `open` makes a file for each group that is due; a group has one file at a time that is being gathered.
 *  * `gather` asks the mandates to submit their collections into the file, batch by batch. The mandate's actor decides,
 *    so a collection is in one file at most, and a cancellation comes before or after, never between. The amendment of a
 *    mandate goes with the first collection that is submitted after it.
 *  * When no collection of the group is left, the lines are made of those that have joined, a thread writes them, batch
 *    by batch, and the file is `generated` in one transaction with its bytes, count, sum and hash.
 *
 * Each step can be repeated: a node that dies leaves the file as it is, and another node continues it (the task of the
 * file's row). Nothing of a file is seen before it is `generated`.
 */
import { dateIn, MINUTE_MS, type Clock } from '../../../lib/base/clock.ts'
import type { IdSource } from '../../../lib/base/ids.ts'
import type { Log } from '../../../lib/base/log.ts'
import type { CollectionMove } from '../../../lib/direct-debits/collection-moves.ts'
import type { CollectionStatus } from '../../../lib/direct-debits/collection.ts'
import {
  collectionFileName,
  FILE_FORMATS,
  formatOfScheme,
  serialNumberOf,
  type CollectionFileRecord,
} from '../../../lib/direct-debits/files/collection-file.ts'
import { creditorIdOf, creditorOf } from '../../../lib/direct-debits/files/creditor.ts'
import { lineFault, type FileCreditor, type FileLine } from '../../../lib/direct-debits/files/file-rows.ts'
import { DEBIT_SCHEMES } from '../../../lib/direct-debits/schemes.ts'
import { BACS_AMOUNT_MAX } from '../../../lib/providers/bacs/standard18.ts'
import { blockIdOf } from '../../../lib/providers/iso20022/direct-debits.ts'
import { FILE_ORDERS_MAX } from '../../../lib/providers/iso20022/order-file.ts'
import { fileMessageId } from '../../../lib/providers/iso20022/references.ts'
import { shiftOpenDays } from '../../../lib/rails/calendar-days.ts'
import type { MandateScheme } from '../../../lib/rails/debit-schemes.ts'
import type { Database } from '../../../storage/db/database.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { findCollectionFile } from '../../../storage/direct-debits/files/collection-files.ts'
import {
  connectionOfFile,
  dropFileOfNone,
  dueGroups,
  fileLines,
  gatherable,
  handToBank,
  noteWritten,
  openFile,
  settleLines,
  sumJoined,
  type FileSums,
} from '../../../storage/direct-debits/files/gathering.ts'
import { keepFile } from '../../../storage/documents/files.ts'
import type { OrderNumbers } from '../../../storage/payments/order-numbers.ts'
import type { CollectionFileTask } from '../../../workers/documents/collection-file.ts'
import type { DocumentPool } from '../../../workers/documents/pool.ts'
import { writeDocuments } from '../../jobs/write-files.ts'
import type { Task, TaskContext } from '../../runtime/tasks.ts'
import type { DebitMover } from '../debit-mover.ts'

/** A file is made this long before the cut-off, so that there is time to deliver it. */
const LEAD_MS = 30 * MINUTE_MS
/** Groups of one look: a creditor has a few a day. */
const GROUPS_MAX = 500
/** Collections that are asked to join at a time: a turn of many mandates, which commit together. */
const BATCH = 500

/** The rejection of what a file cannot carry, with the code of ISO 20022 for a wrong format. */
const WRONG_FORMAT: CollectionMove = { kind: 'fail', reasonCode: 'FF01', rType: 'reject', retryAt: null }

export interface GatherDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly documents: DocumentPool
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly mover: Pick<DebitMover, 'moveCollections'>
  /** The schemes that travel by orders, with their providers (`sandbox bacs_dd`). */
  readonly carriers: readonly string[]
  /** Tells whether the adapter of a provider delivers files of a scheme. */
  readonly delivers: (provider: string, scheme: MandateScheme) => boolean
  readonly log: Pick<Log, 'warn'>
}

/** The tasks: to open the files of groups that are due, and to gather one. */
export const gatherTasks = (deps: GatherDeps): readonly Task[] => [
  { name: 'direct-debits.files', cron: '* * * * *', run: () => openDueFiles(deps) },
  { name: 'direct-debits.file', workers: 'lengthy', run: (id, context) => gatherFile(deps, id, context) },
]

/** Opens a file for each group whose cut-off comes. */
export async function openDueFiles({ database, clock, ids, carriers, orderNumbers, log }: GatherDeps): Promise<void> {
  const now = clock.now()
  for (const due of await dueGroups(database, { until: now + LEAD_MS, carriers, max: GROUPS_MAX })) {
    const { connectionId, currency, scheme } = due
    const settings = (await connectionOfFile(database, connectionId))?.settings ?? {}
    const creditorId = due.creditorId ?? creditorIdOf(settings, currency)
    if (creditorId === null || creditorOf(settings, due) === null) {
      // Without an account to be credited no bank takes the file; staff add it to the connection.
      log.warn({ connectionId, currency, scheme }, 'the connection has no settlement account with a creditor id')
      continue
    }
    const id = ids.next()
    const format = formatOfScheme(scheme)
    const messageId = format === 'std18' ? serialNumberOf(Number(await orderNumbers.take())) : fileMessageId(id)
    await openFile(database, { ...due, creditorId }, { id, format, messageId }, now)
  }
}

/**
 * Gathers a file and writes it; does nothing for a file that is written.
 *
 * @throws Error when the collections of the file have changed while it was written; the next attempt writes it anew
 */
export async function gatherFile(
  deps: GatherDeps,
  id: string,
  { signal, attempt }: Pick<TaskContext, 'signal' | 'attempt'>,
): Promise<void> {
  const { database } = deps
  const file = await findCollectionFile(database, id)
  if (file === null || file.status !== 'gathering') return
  const connection = await connectionOfFile(database, file.connectionId)
  const creditor = connection === null ? null : creditorOf(connection.settings, file)
  if (connection === null || creditor === null)
    throw new Error(`The connection ${file.connectionId} has no settlement account.`)
  await submitCollections(deps, file, { creditor, signal })
  let sums = await inTransaction(database, (client) => settleLines(client, id))
  if (attempt > 1 && sums !== null) {
    // An account may have changed between the check of a collection and its submission.
    await rejectUnwritable(deps, file, { creditor, signal })
    sums = await inTransaction(database, (client) => settleLines(client, id))
  }
  if (sums === null) return
  if (sums.count === 0) return await dropFileOfNone(database, id)
  await writeFileOf(deps, file, { sums, creditor, connection, signal })
}

interface Gathering {
  readonly creditor: FileCreditor
  readonly signal: AbortSignal
}

/** Submits the pending collections of the group into the file, as far as it holds them. */
async function submitCollections(
  { database, mover }: GatherDeps,
  file: CollectionFileRecord,
  { creditor, signal }: Gathering,
): Promise<void> {
  let { count, controlSum } = await sumJoined(database, file.id)
  for (let after: string | null = null; count < FILE_ORDERS_MAX; ) {
    signal.throwIfAborted()
    const found = await gatherable(database, file, { after, max: Math.min(BATCH, FILE_ORDERS_MAX - count) })
    const batch = fitting(found, file, controlSum)
    const last = found.at(-1)
    if (last === undefined || batch.length === 0) return
    const bad = batch.filter((line) => lineFault(line, file, creditor) !== null)
    const good = batch.filter((line) => !bad.includes(line))
    await moveAll(mover, good, 'pending', { kind: 'submit', fileId: file.id, providerRef: null })
    // Text that the format cannot carry, such as a name without a letter of the scheme's set, would keep all others from
    // their bank.
    await moveAll(mover, bad, 'pending', { kind: 'submit', fileId: null, providerRef: null })
    await moveAll(mover, bad, 'submitted', WRONG_FORMAT)
    count += good.length
    controlSum += good.reduce((sum, { amount }) => sum + amount, 0n)
    after = last.id
  }
}

/** Rejects the collections of a file that its format cannot carry after all. */
async function rejectUnwritable(
  { database, mover }: GatherDeps,
  file: CollectionFileRecord,
  { creditor, signal }: Gathering,
): Promise<void> {
  for await (const lines of fileLines(database, file.id, BATCH)) {
    signal.throwIfAborted()
    const bad = lines.filter((line) => lineFault(line, file, creditor) !== null)
    await moveAll(mover, bad, 'submitted', WRONG_FORMAT)
  }
}

/** A submission to Bacs holds no larger sum; the collections beyond it go into the next file. */
function fitting(found: readonly FileLine[], { format }: CollectionFileRecord, sum: bigint): readonly FileLine[] {
  if (format !== 'std18') return found
  let left = BACS_AMOUNT_MAX - sum
  const over = found.findIndex(({ amount }) => {
    left -= amount
    return left < 0n
  })
  return over === -1 ? found : found.slice(0, over)
}

/** Moves collections that still have a status; any other one has moved on, and is left alone. */
async function moveAll(
  mover: GatherDeps['mover'],
  lines: readonly Pick<FileLine, 'id'>[],
  from: CollectionStatus,
  move: CollectionMove,
): Promise<void> {
  if (lines.length === 0) return
  await mover.moveCollections(
    lines.map(({ id }) => id),
    ({ status }) => (status === from ? move : null),
    { by: 'system' },
  )
}

/** Writes the bytes and notes them with the file. */
async function writeFileOf(
  deps: GatherDeps,
  file: CollectionFileRecord,
  {
    sums,
    creditor,
    connection,
    signal,
  }: Gathering & {
    readonly sums: FileSums
    readonly connection: { readonly provider: string }
  },
): Promise<void> {
  const { database, clock, documents } = deps
  using stream = documents.open({
    kind: 'collection_file',
    group: file,
    creditor,
    ...sums,
    format: formatOf(file, creditor, clock.now()),
  })
  const names = [{ fileName: collectionFileName(file), contentType: FILE_FORMATS[file.format].contentType }] as const
  const lines = fileLines(database, file.id, BATCH)
  const [written] = await writeDocuments(deps, file.operatorId, names, stream, lines, signal)
  if (written === undefined) throw new Error('No file was written.')
  const { id: storedFileId, sha256 } = written
  await inTransaction(database, async (client) => {
    if (!(await noteWritten(client, file.id, { ...sums, sha256, storedFileId, now: clock.now() })))
      throw new Error(`The collections of the file ${file.id} have changed while it was written.`)
    await keepFile(client, storedFileId, null)
    if (deps.delivers(connection.provider, file.scheme))
      await handToBank(client, file, {
        name: names[0].fileName,
        format: FILE_FORMATS[file.format].message,
        blockId: file.format === 'pain008' ? blockIdOf(file.messageId) : null,
        now: clock.now(),
      })
  })
}

function formatOf(
  { format, messageId, scheme, settlementDate, createdAt }: CollectionFileRecord,
  { initiator }: FileCreditor,
  now: number,
): CollectionFileTask['format'] {
  if (format === 'pain008') return { name: 'pain008', head: { messageId, createdAt, initiator, batchBooking: null } }
  const { calendar, zone } = DEBIT_SCHEMES[scheme]
  return {
    name: 'std18',
    head: {
      serialNumber: messageId,
      createdOn: dateIn(now, zone),
      // Bacs processes on the working day before the money moves.
      processingDay: shiftOpenDays(calendar, settlementDate, -1),
    },
  }
}
