/**
 * The adapter of banks that exchange files (README.md). Orders are put into the book of the connection, and the book's
 * task sends them in files; what the bank's files tell goes from the book to the inbox.
 */
import { filesDescription } from '../../../../lib/providers/files/description.ts'
import {
  filesConfigFault,
  GATHER_SECONDS,
  ORDERS_MAX,
  SFTP_PORT,
  type FilesConfig,
  type FilesCredentials,
} from '../../../../lib/providers/files/files-config.ts'
import { fileDueAt } from '../../../../lib/providers/files/gathering.ts'
import { CALL_TIMEOUT_MS } from '../../../../lib/providers/provider.ts'
import type { OrderStatus, PaymentOrder, Submission } from '../../bank.ts'
import type { Adapter, AdapterConnection, OpenConnection } from '../adapter.ts'
import { PlaceUnreachable, type FileBook, type FileEndpoint, type FileOrderOutcome } from '../partner-files.ts'
import { isSame } from './credits.ts'
import { fetchFiles } from './fetch-files.ts'
import { translateFileEvent } from './file-event.ts'
import { fileOrderOf, orderText, settlementAccount } from './file-orders.ts'
import { sendFile } from './send-file.ts'

/** Events of one page of the list. */
const EVENTS_MAX = 500

/** @param eventsMax events of one page of the list */
export const createFilesAdapter = ({ eventsMax = EVENTS_MAX }: { readonly eventsMax?: number } = {}): Adapter => ({
  description: filesDescription,
  open({ config: untyped, credentials: unread, ...connection }, io): AdapterConnection {
    const config = untyped as FilesConfig
    const fault = filesConfigFault(config)
    if (fault !== null) throw new Error(fault)
    const endpoint = endpointOf(connection.id, config, unread as FilesCredentials | null)
    const place = io.files.place(endpoint)
    const book = io.files.book({ connectionId: connection.id, operatorId: connection.operatorId })
    const scope = {
      connectionId: connection.id,
      isSettlementAccount: (account: Parameters<typeof isSame>[0], currency: string) =>
        config.settlementAccounts.some(
          (each) => each.currency === currency && isSame(settlementAccount(each.accountRef), account),
        ),
    }
    return {
      async probe() {
        if (endpoint.server !== null && endpoint.server.password === null && endpoint.server.privateKey === null)
          return { ok: false, latencyMs: 0, message: 'The connection has no credentials.' }
        try {
          return { ok: true, latencyMs: await place.probe(), message: null }
        } catch (error) {
          if (error instanceof PlaceUnreachable) return { ok: false, latencyMs: 0, message: error.message }
          throw error
        }
      },
      submit: (orders, now) => submit(orders, { config, book, now }),
      async status(questions) {
        const states = await book.states(questions.map(({ reference }) => reference))
        return new Map(questions.map(({ reference }) => [reference, statusOf(states.get(reference))]))
      },
      async carryOut(id, now) {
        await sendFile(id, { config, book, place, now })
      },
      async list(since, cursor, now) {
        if (cursor === null) await fetchFiles({ book, place, read: io.files.read, scope, now })
        return await book.events(since, cursor, eventsMax)
      },
      statement: ({ currency, day }) => book.statement(currency, day),
      translate: (event) => translateFileEvent(connection.id, event),
    }
  },
})

function endpointOf(
  connectionId: OpenConnection['id'],
  { transport, paths, host = '', port = SFTP_PORT, username = '', hostKeys = [], timeoutMs }: FilesConfig,
  credentials: FilesCredentials | null,
): FileEndpoint {
  const { password = null, privateKey = null, passphrase = null } = credentials ?? {}
  return {
    connectionId,
    paths: { outgoing: paths.outgoing, incoming: paths.incoming, archive: paths.archive ?? null },
    timeoutMs: timeoutMs ?? CALL_TIMEOUT_MS,
    server: transport === 'directory' ? null : { host, port, username, hostKeys, password, privateKey, passphrase },
  }
}

/** Puts orders into the book. An order that no file can carry is refused, and was never taken. */
async function submit(
  orders: readonly PaymentOrder[],
  { config, book, now }: { readonly config: FilesConfig; readonly book: FileBook; readonly now: number },
): Promise<ReadonlyMap<string, Submission>> {
  const known = await book.states(orders.map(({ reference }) => reference))
  const submissions = new Map<string, Submission>()
  const terms = await book.calendar()
  const gatherMs = (config.gatherSeconds ?? GATHER_SECONDS) * 1_000
  const fresh = orders.flatMap((order) => {
    const made = known.has(order.reference) ? null : fileOrderOf(order, config)
    if (made !== null && 'refusal' in made) {
      submissions.set(order.reference, { kind: 'refused', schemeCode: made.refusal, beforeAcceptance: true })
      return []
    }
    submissions.set(order.reference, { kind: 'accepted' })
    if (made === null) return []
    const { reference, rail, currency, amount, endToEndId, uetr, executionDate } = made.order
    return [
      {
        reference,
        rail,
        currency,
        amount,
        endToEndId: endToEndId ?? '',
        uetr,
        body: orderText(made.order),
        dueAt: fileDueAt({ rail, executionDate }, { now, gatherMs, terms }),
      },
    ]
  })
  if (fresh.length > 0) await book.gather(fresh, config.ordersMax ?? ORDERS_MAX, now)
  return submissions
}

/** The book knows every order that it was given, so one that it has not never arrived. */
function statusOf(outcome: FileOrderOutcome | undefined): OrderStatus {
  if (outcome === undefined) return { kind: 'unknown' }
  const { status, schemeCode, returnedAmount, bankRef } = outcome
  const ref = bankRef === null ? {} : { providerRef: bankRef }
  switch (status) {
    case 'gathered':
    case 'sent':
    case 'accepted':
      return { kind: 'pending', ...ref }
    case 'settled':
      return { kind: 'settled', ...ref }
    case 'rejected':
      return { kind: 'rejected', schemeCode: schemeCode ?? 'NARR', ...ref }
    case 'returned':
      return { kind: 'returned', schemeCode: schemeCode ?? 'NARR', amount: returnedAmount ?? 0n, ...ref }
    default:
      return status satisfies never
  }
}
