/**
 * The lists of ClearBank: transactions and accounts, in pages that count from one. A list tells of the payments that
 * are settled, on their way and rejected, some time after they are.
 */
import { asObject, type JsonObject } from '../../../../lib/base/json.ts'
import { DAY_MS } from '../../../../lib/base/clock.ts'
import { OperatingError } from '../../../../lib/base/errors.ts'
import type { EventPage, RawProviderEvent } from '../adapter.ts'
import type { PartnerHttp } from '../partner-http.ts'
import { objectsIn, textIn, timeIn } from './clearbank-json.ts'

/** The bank's own default. A page with fewer rows is the last one. */
const PAGE_ROWS = 50

/** The bank answered, but not with what was asked for. */
export class ClearbankRefusal extends OperatingError {
  override readonly name = 'ClearbankRefusal'
}

/** @throws ClearbankRefusal for an answer that is no list; what the client throws */
async function rowsOf(
  http: PartnerHttp,
  operation: string,
  path: string,
  query: Readonly<Record<string, string | number>>,
): Promise<readonly JsonObject[]> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const { status, json } = await http.send({
    operation,
    method: 'GET',
    path: `${path}?${search.toString()}`,
    repeatable: true,
  })
  const rows = asObject(json)?.[operation === 'list_accounts' ? 'accounts' : 'transactions']
  if (status !== 200 || !Array.isArray(rows))
    throw new ClearbankRefusal(`ClearBank answered ${operation} with status ${status}.`)
  return objectsIn(rows)
}

/** A look-up that finds this many pages has not asked for one payment. */
const LOOK_UP_PAGES_MAX = 10

/**
 * Finds the transactions of one end-to-end id since a time: usually one, or none.
 *
 * @throws as `rowsOf`
 */
export async function transactionsOf(http: PartnerHttp, endToEndId: string, since: number): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  for (let page = 1; page <= LOOK_UP_PAGES_MAX; page++) {
    const rows = await rowsOf(http, 'look_up_payment', '/v2/Transactions', {
      endToEndIdentifier: endToEndId,
      startDateTime: instant(since),
      pageNumber: page,
      pageSize: PAGE_ROWS,
    })
    // The filter is the bank's; the id is compared again, because the answer moves money.
    found.push(...rows.filter((row) => textIn(row, 'endToEndIdentifier')?.toLowerCase() === endToEndId.toLowerCase()))
    if (rows.length < PAGE_ROWS) break
  }
  return found
}

/** The bank repeats a webhook for 24 hours; after this time none comes any more. */
const WEBHOOK_ENDS_MS = DAY_MS + 60 * 60_000

/**
 * Lists what webhooks may have failed to tell, in two rounds: payments that went out since a time, and then credits of
 * the same length of time that ended when the last webhook about them was sent. Until then a credit is left out,
 * because a list does not tell a payment that came back from other money, and a webhook does.
 *
 * The cursor is the round and the place in it: `out.<page>`, `in.<page of accounts>.<account>.<page>`.
 *
 * @throws as `rowsOf`
 */
export async function listTransactions(
  http: PartnerHttp,
  since: number,
  cursor: string | null,
  now: number,
): Promise<EventPage> {
  const [round, ...places] = (cursor ?? 'out.1').split('.')
  const [first = 1, nth = 0, page = 1] = places.map(Number)
  if (round === 'out') {
    const rows = await rowsOf(http, 'list_transactions', '/v2/Transactions', {
      startDateTime: instant(since),
      pageNumber: first,
      pageSize: PAGE_ROWS,
    })
    return {
      events: rows.filter((row) => textIn(row, 'debitCreditCode') === 'DBIT').map((row) => eventOf(row, null)),
      cursor: rows.length < PAGE_ROWS ? 'in.1.0.1' : `out.${first + 1}`,
    }
  }
  const accounts = await rowsOf(http, 'list_accounts', '/v3/Accounts', { pageNumber: first, pageSize: PAGE_ROWS })
  const account = accounts[nth]
  const id = textIn(account ?? null, 'id')
  if (account === undefined || id === null)
    return { events: [], cursor: accounts.length < PAGE_ROWS ? null : `in.${first + 1}.0.1` }
  const rows = await rowsOf(http, 'list_transactions', `/v2/Accounts/${encodeURIComponent(id)}/Transactions`, {
    startDateTime: instant(since - WEBHOOK_ENDS_MS),
    endDateTime: instant(now - WEBHOOK_ENDS_MS),
    pageNumber: page,
    pageSize: PAGE_ROWS,
  })
  return {
    events: rows.filter((row) => textIn(row, 'debitCreditCode') === 'CRDT').map((row) => eventOf(row, account)),
    cursor: rows.length < PAGE_ROWS ? `in.${first}.${nth + 1}.1` : `in.${first}.${nth}.${page + 1}`,
  }
}

/** The type under which a row of a list is kept: the bank has no word for it. */
export const LISTED = 'ListedTransaction'

function eventOf(transaction: JsonObject, account: JsonObject | null): RawProviderEvent {
  return {
    source: 'poll',
    eventId: [LISTED, textIn(transaction, 'transactionId'), textIn(transaction, 'status')].join(':'),
    type: LISTED,
    // Of the account, only what names it: its balance would make another event of the same row.
    body: Buffer.from(JSON.stringify({ transaction, account: account && { iban: account['iban'] ?? null } })),
    headers: {},
    occurredAt: timeIn(transaction, 'transactionTime'),
  }
}

const instant = (at: number): string => new Date(Math.max(0, at)).toISOString()
