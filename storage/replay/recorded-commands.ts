/** Recorded commands and their answers. */
import { timestamp } from '../../lib/base/clock.ts'
import type { ExchangeRecord } from '../../lib/exchange/exchange.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import type { PaymentRecord } from '../../lib/payments/payment.ts'
import type { TransferRecord } from '../../lib/transfers/transfer.ts'
import { IDEMPOTENCY_RETENTION_MS } from '../commit/idempotency-section.ts'
import type { Database } from '../db/database.ts'
import { findExchange } from '../exchange/exchanges.ts'
import { findQuote } from '../exchange/quotes.ts'
import { findPayment } from '../payments/payment-queries.ts'
import { findTransfer } from '../transfers/transfer-queries.ts'

/** A decided command with the source of its answer: the resource of an approval, the stored document of a refusal. */
export interface RecordedCommand {
  /** As stored: 128 bits in the text form of a UUID. */
  readonly fingerprint: string
  /** RFC 3339. */
  readonly createdAt: string
  readonly status: number
  readonly answer: string | null
  readonly resource:
    | { readonly kind: 'payment'; readonly payment: PaymentRecord }
    | { readonly kind: 'transfer'; readonly transfer: TransferRecord }
    | { readonly kind: 'quote'; readonly quote: QuoteRecord }
    | { readonly kind: 'exchange'; readonly exchange: ExchangeRecord }
    /** The answer is stored as it was given. */
    | {
        readonly kind: 'recipient' | 'funds_request' | 'scheduled_payment' | 'bulk_payment' | 'job'
        readonly id: string
      }
    | null
}

// The days of a record are at most today and yesterday, so only their partitions are read.
const FIND = `select fingerprint, status, resource_id, answer, (extract(epoch from created_at) * 1000)::float8
  from idempotency where id = $1 and day >= $2::date and created_at > $3::timestamptz order by created_at desc limit 1`

/** Finds the record of a command by its id; null when none is younger than a day. `now` is epoch milliseconds. */
export async function findIdempotencyRecord(
  database: Database,
  id: string,
  now: number,
): Promise<RecordedCommand | null> {
  const since = timestamp(now - IDEMPOTENCY_RETENTION_MS)
  const [row] = await database.query<[string, number, string | null, string | null, number]>({
    name: 'find_idempotency',
    text: FIND,
    values: [id, since.slice(0, 10), since],
  })
  if (row === undefined) return null
  const [fingerprint, status, resourceId, answer, createdMs] = row
  return {
    fingerprint,
    createdAt: timestamp(createdMs),
    status,
    answer,
    resource: await recordedResource(database, resourceId),
  }
}

/** Finds the resource that an accepted command made; null for a refusal, which made none. */
export async function recordedResource(database: Database, id: string | null): Promise<RecordedCommand['resource']> {
  if (id === null) return null
  const payment = await findPayment(database, id)
  if (payment !== null) return { kind: 'payment', payment }
  const transfer = await findTransfer(database, id)
  if (transfer !== null) return { kind: 'transfer', transfer }
  const exchange = await findExchange(database, id)
  if (exchange !== null) return { kind: 'exchange', exchange }
  const quote = await findQuote(database, id)
  if (quote !== null) return { kind: 'quote', quote }
  const [kept] = await database.query<['recipient' | 'funds_request' | 'scheduled_payment' | 'bulk_payment' | 'job']>({
    name: 'recorded_kept',
    values: [id],
    text: `select 'recipient' from recipient where id = $1 union all select 'funds_request' from funds_request where id = $1
      union all select 'scheduled_payment' from scheduled_payment where id = $1 union all select 'bulk_payment' from bulk_payment where id = $1
      union all select 'job' from job where id = $1`,
  })
  return kept === undefined ? null : { kind: kept[0], id }
}
