/** The book of the files of a connection (adapters/partner-files.ts), over the rows of provider_file. */
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import type { IdSource } from '../../../lib/base/ids.ts'
import type { Clock } from '../../../lib/base/clock.ts'
import { DAY_STATEMENT_END, dayStatementEntries, dayStatementHead } from '../../../lib/providers/files/day-statement.ts'
import { PLAIN_CALENDAR } from '../../../lib/rails/business-days.ts'
import type { Database } from '../../../storage/db/database.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { findFile, keepFile, readFile, writeFile } from '../../../storage/documents/files.ts'
import { readConnectionCalendar } from '../../../storage/providers/connection-calendars.ts'
import * as sent from '../../../storage/providers/provider-files.ts'
import * as statements from '../../../storage/providers/provider-file-statements.ts'
import * as received from '../../../storage/providers/received-files.ts'
import type { BookOwner, FileBook } from '../adapters/partner-files.ts'

/** The largest file of a bank that is read: about half a million bookings. */
const BYTES_MAX = 512 * 1024 ** 2
/** Files that go out are limited by their orders. */
const OUT_BYTES_MAX = 1024 ** 3

export interface FileBookOptions {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
}

/** Opens the book of a connection. */
export function openFileBook({ database, ids, clock }: FileBookOptions, owner: BookOwner): FileBook {
  const { connectionId, operatorId } = owner
  const newId = () => ids.next()
  const store = async (fileName: string, pieces: AsyncIterable<Uint8Array>, maxBytes: number, now: number) => {
    const file = { id: newId(), tenantId: operatorId, fileName, contentType: 'application/xml', maxBytes, now }
    const { id, sizeBytes, sha256 } = await writeFile(database, pieces, file)
    return { id, sizeBytes, sha256: Buffer.from(sha256, 'hex') }
  }
  return {
    async calendar() {
      const record = await readConnectionCalendar(database.pool, operatorId, connectionId)
      return record === null || !record.kept ? PLAIN_CALENDAR : record.terms
    },
    gather: (orders, ordersMax, now) => sent.gatherOrders(database, owner, { orders, ordersMax, now, newId }),
    states: (references) => sent.orderOutcomes(database, connectionId, references),

    take: (id, now) => sent.takeFile(database, connectionId, { id, lease: newId(), now }),
    orders: (id) => sent.orderBodies(database, id),
    async keep(file, written, pieces, now) {
      const stored = await store(written.name, pieces, OUT_BYTES_MAX, now)
      await inTransaction(database, async (client) => {
        await keepFile(client, stored.id, null)
        await sent.noteWritten(client, file, { written, stored })
      })
    },
    async bytes(id) {
      const storedId = await sent.storedFileOf(database, id)
      const stored = storedId === null ? null : await findFile(database, storedId, clock.now())
      if (stored === null) throw new Error(`The file ${id} has no bytes.`)
      return readFile(database, stored)
    },
    handOver: (file, temporary) => sent.noteHandOver(database, file, temporary),
    sent: (file, now) => sent.noteSent(database, file, now),
    failed: (file, reason, dueAt) => sent.noteFailure(database, file, { reason, dueAt }),

    unread: (found) => received.unreadFiles(database, connectionId, found),
    async receive(listed, pieces, now) {
      const { id: storedId, sha256 } = await store(listed.name, pieces, BYTES_MAX, now)
      const found = await inTransaction(database, async (client) => {
        const file = { ...listed, storedId, sha256 }
        const { isKept, ...known } = await received.receiveFile(client, owner, { file, now, newId })
        if (isKept) await keepFile(client, storedId, null)
        return known
      })
      return { ...found, sha256: sha256.toString('hex') }
    },
    settle: (id, names, interpret, now) => received.settleFile(database, owner, { id, names, interpret, now, newId }),
    refuse: (id, fault, event, now) => received.refuseFile(database, owner, { id, fault, event, now }),
    async events(since, cursor, max) {
      const found = await received.fileEvents(database, connectionId, { since, after: cursor, max })
      return {
        events: found.map(({ eventId, source, type, body, recordedAt }) => ({
          source,
          eventId,
          type,
          body: Buffer.from(body),
          headers: {},
          occurredAt: recordedAt,
        })),
        cursor: found.length < max ? null : (found.at(-1)?.id ?? null),
      }
    },
    statement: (currency, day) => statementOf(database, connectionId, currency as CurrencyCode, day),
  }
}

/**
 * Reads the statement of a day. Banks send none for a day on which nothing was booked, such as a Sunday: the statement
 * that follows proves that day's balance. Null until there is one of the two, whole.
 */
async function statementOf(
  database: Database,
  connectionId: string,
  currency: CurrencyCode,
  day: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  const found = inOrder(await statements.statementsOfDay(database, connectionId, { currency, day }))
  const [first, last] = [found[0], found.at(-1)]
  if (first !== undefined && last !== undefined) {
    const [{ number, opening }, { closing }] = [first, last]
    if (!last.isLast || opening === null || closing === null) return null
    return statementText(database, { connectionId, currency, day, number, opening, closing }, found)
  }
  const next = await statements.nextStatementDay(database, connectionId, { currency, day })
  if (next === null) return null
  const [following] = inOrder(await statements.statementsOfDay(database, connectionId, { currency, day: next }))
  const opening = following?.opening ?? null
  if (opening === null) return null
  return statementText(database, { connectionId, currency, day, number: null, opening, closing: opening }, [])
}

/** Sorts the statements of a day, each with its pages, by their numbers. */
function inOrder(found: readonly statements.KeptStatement[]): readonly statements.KeptStatement[] {
  return [...found].sort(
    (one, other) => one.number.localeCompare(other.number, 'en', { numeric: true }) || one.page - other.page,
  )
}

async function* statementText(
  database: Database,
  head: Parameters<typeof dayStatementHead>[0],
  found: readonly statements.KeptStatement[],
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(dayStatementHead(head))
  for (const statement of found)
    for await (const bookings of statements.bookingsOf(database, statement))
      yield Buffer.from(dayStatementEntries(bookings, head.currency))
  yield Buffer.from(DAY_STATEMENT_END)
}
