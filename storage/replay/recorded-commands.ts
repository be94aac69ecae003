/** Recorded commands and their answers. */
import type { ResourceRef, ResourceType } from '../../lib/base/resource-types.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { ExchangeRecord } from '../../lib/exchange/exchange.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import type { PaymentRecord } from '../../lib/payments/payment.ts'
import type { TransferRecord } from '../../lib/transfers/transfer.ts'
import { IDEMPOTENCY_RETENTION_MS, type StoredOutcome } from '../commit/idempotency-section.ts'
import type { Database } from '../db/database.ts'
import { expression, select } from '../db/select.ts'
import { findExchange } from '../exchange/exchanges.ts'
import { findQuote } from '../exchange/quotes.ts'
import { findPayment } from '../payments/payment-queries.ts'
import { findTransfer } from '../transfers/transfer-queries.ts'

/** The source of an answer: the stored text, or the resource of which the answer is made again. */
export type RecordedAnswer =
  /** `resource` is null where the command made none, as a refusal. */
  | { readonly answer: string; readonly resource: ResourceRef | null }
  | { readonly answer: null; readonly resource: MadeResource }

/** A resource of which the first answer can be made again. */
export type MadeResource =
  | { readonly kind: 'payment'; readonly payment: PaymentRecord }
  | { readonly kind: 'transfer'; readonly transfer: TransferRecord }
  | { readonly kind: 'quote'; readonly quote: QuoteRecord }
  | { readonly kind: 'exchange'; readonly exchange: ExchangeRecord }

/** A decided command with the source of its answer. */
export type RecordedCommand = RecordedAnswer & {
  /** As stored: 128 bits in the text form of a UUID. */
  readonly fingerprint: string
  /** RFC 3339. */
  readonly createdAt: string
  readonly status: number
}

// The days of a record are at most today and yesterday, so only their partitions are read.
const RECORD = select({
  fingerprint: expression<string>('fingerprint'),
  status: expression<number>('status'),
  resourceType: expression<ResourceType | null>('resource_type'),
  resourceId: expression<string | null>('resource_id'),
  answer: expression<string | null>('answer'),
  createdAt: expression<number>('(extract(epoch from created_at) * 1000)::float8'),
})
const FIND = `select ${RECORD.sql}
  from idempotency where id = $1 and day >= $2::date and created_at > $3::timestamptz order by created_at desc limit 1`

/** Finds the record of a command by its id; null when none is younger than a day. `now` is epoch milliseconds. */
export async function findIdempotencyRecord(
  database: Database,
  id: string,
  now: number,
): Promise<RecordedCommand | null> {
  const since = timestamp(now - IDEMPOTENCY_RETENTION_MS)
  const [row] = await database.query({
    name: 'find_idempotency',
    text: FIND,
    values: [id, since.slice(0, 10), since],
  })
  if (row === undefined) return null
  const record = RECORD.read(row)
  return {
    ...(await recordedAnswer(database, record)),
    fingerprint: record.fingerprint,
    createdAt: timestamp(record.createdAt),
    status: record.status,
  }
}

/**
 * Returns the source of a recorded answer: a stored text needs no query, a resource one.
 *
 * @throws Error when there is neither, which is a bug
 */
export async function recordedAnswer(
  database: Database,
  { answer, resourceType: type, resourceId: id }: Pick<StoredOutcome, 'answer' | 'resourceType' | 'resourceId'>,
): Promise<RecordedAnswer> {
  const resource = type === null || id === null ? null : { type, id }
  if (answer !== null) return { answer, resource }
  const made = resource === null ? null : await findMade(database, resource)
  if (made === null) throw new Error(`An idempotency record names the ${type} ${id}, which does not exist.`)
  return { answer, resource: made }
}

async function findMade(database: Database, { type, id }: ResourceRef): Promise<MadeResource | null> {
  switch (type) {
    case 'payment': {
      const payment = await findPayment(database, id)
      return payment === null ? null : { kind: type, payment }
    }
    case 'transfer': {
      const transfer = await findTransfer(database, id)
      return transfer === null ? null : { kind: type, transfer }
    }
    case 'exchange': {
      const exchange = await findExchange(database, id)
      return exchange === null ? null : { kind: type, exchange }
    }
    case 'quote': {
      const quote = await findQuote(database, id)
      return quote === null ? null : { kind: type, quote }
    }
    default:
      return null
  }
}
