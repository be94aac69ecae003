/**
 * Sends one file to the bank, whole and once.
 *
 * Its bytes are kept before they are sent, so each attempt sends the same. It is written under a temporary name of the
 * attempt, the book notes that name, and then the file is renamed: the bank sees the whole of it or nothing. An attempt
 * that finds the note looks at the place: as long as the temporary file is there, it has not been renamed; when it is
 * gone, it was, also where the bank has fetched the file since.
 */
import { MINUTE_MS, timestamp } from '../../../../lib/base/clock.ts'
import type { FilesConfig } from '../../../../lib/providers/files/files-config.ts'
import { planCreditTransfers, writeCreditTransfers } from '../../../../lib/providers/iso20022/credit-transfers.ts'
import { fileMessageId } from '../../../../lib/providers/iso20022/references.ts'
import { type FileBook, type FilePlace, type FileSession, PlaceUnreachable, type TakenFile } from '../partner-files.ts'
import { identifierOf, inBlocks, orderOfText } from './file-orders.ts'

const FORMAT = 'pain.001.001.09'
/** The time between two attempts. */
const RETRY_MS = MINUTE_MS

export interface SendScope {
  readonly config: FilesConfig
  readonly book: FileBook
  readonly place: FilePlace
  readonly now: number
}

/** Sends a file; does nothing when it is not due, or was sent. @throws PlaceUnreachable, and what the book throws */
export async function sendFile(id: string, { config, book, place, now }: SendScope): Promise<void> {
  const file = await book.take(id, now)
  if (file === null) return
  const name = file.written?.name ?? (await write(file, { config, book, now }))
  try {
    await place.use((session) =>
      file.temporary === null
        ? deliver(session, { file, name, place: place.name }, book)
        : finish(session, file.temporary, { name, place: place.name }),
    )
  } catch (error) {
    if (error instanceof PlaceUnreachable) await book.failed(file, error.message, now + RETRY_MS)
    throw error
  }
  await book.sent(file, now)
}

/** Writes the file of the orders that were gathered, and keeps it. @returns its name */
async function write(
  file: TakenFile,
  { config, book, now }: Pick<SendScope, 'config' | 'book' | 'now'>,
): Promise<string> {
  const orders = inBlocks((await book.orders(file.id)).map(orderOfText))
  const { initiatingParty, batchBooking = null } = config
  const plan = await planCreditTransfers(
    {
      messageId: fileMessageId(file.id),
      createdAt: now,
      initiator: { name: initiatingParty.name, address: null, id: identifierOf(initiatingParty.id) },
      batchBooking,
    },
    () => orders,
  )
  const [first] = orders
  const name = `${FORMAT.slice(0, 8)}-${first?.rail}-${first?.currency}-${timestamp(file.createdAt).slice(0, 10)}-${plan.head.messageId}.xml`
  const blocks = new Map(
    plan.blocks.flatMap((block) =>
      orders.slice(block.first, block.first + block.count).map(({ reference }) => [reference, block.id] as const),
    ),
  )
  await book.keep(
    file,
    {
      name,
      format: FORMAT,
      messageId: plan.head.messageId,
      orders: orders.length,
      controlSum: orders.reduce((sum, { amount }) => sum + amount, 0n),
      blocks,
    },
    writeCreditTransfers(plan, () => orders),
    now,
  )
  return name
}

async function deliver(
  session: FileSession,
  { file, name, place }: { readonly file: TakenFile; readonly name: string; readonly place: string },
  book: FileBook,
): Promise<void> {
  const temporary = `.${name}.${file.lease.slice(-12)}.part`
  await session.write(temporary, await book.bytes(file.id))
  if (await book.handOver(file, { name: temporary, place })) await session.rename(temporary, name)
  else {
    await session.remove(temporary)
    throw new PlaceUnreachable(`Another attempt sends the file ${name}.`)
  }
}

/** Finishes what an attempt that broke off had begun. At another place nothing can be concluded. */
async function finish(
  session: FileSession,
  from: NonNullable<TakenFile['temporary']>,
  to: { readonly name: string; readonly place: string },
): Promise<void> {
  if (from.place !== to.place)
    throw new PlaceUnreachable(`The file ${to.name} may be at ${from.place}, and the connection is at ${to.place} now.`)
  if (await session.has(to.name)) return
  if (await session.has(from.name)) await session.rename(from.name, to.name)
}
