/** Recalls of payments that are due: to be passed on to the bank, or to be given up. */
import { timestamp } from '../../lib/base/clock.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'
import { Payment } from './payment-entity.ts'

/** How many recalls a node takes at a time. */
const DUE_MAX = 64

const RECALL = select({
  paymentId: expression<string>('id'),
  ...pick(from(Payment, ''), ['shard']),
  reasonCode: expression<string>(`recall::json->>'reasonCode'`),
  note: expression<string>(`recall::json->>'note'`),
  expiresAt: expression<string>(`recall::json->>'expiresAt'`),
})

const DUE = `select ${RECALL.sql} from payment
  where recall_due_at <= $1::timestamptz and ($2::smallint[] is null or shard = any($2)) order by recall_due_at limit ${DUE_MAX}`

export interface DueRecall {
  readonly paymentId: string
  readonly shard: number
  readonly reasonCode: string
  readonly note: string
  /** RFC 3339: after this time the recall is given up. */
  readonly expiresAt: string
}

/**
 * Reads the recalls of these shards (null: all) that are due at `now` (epoch milliseconds), the longest due first, 64
 * at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueRecalls(
  database: Queries,
  { now, owned }: { readonly now: number; readonly owned: readonly number[] | null },
): Promise<readonly DueRecall[]> {
  const rows = await database.query({
    name: 'recalls_due',
    text: DUE,
    values: [timestamp(now), plainArrayOrNull(owned)],
  })
  return rows.map((row) => RECALL.read(row))
}
