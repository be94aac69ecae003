/** The history of a payment: one row for each of its versions. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { PaymentStatus } from '../../lib/payments/payment.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { epochMs, readPage, type ReadDatabase } from '../db/page.ts'
import { findPayment } from './payment-queries.ts'

export type PaymentUpdateQuery = RowQuery<object, '-at' | 'at'> & { readonly paymentId: string }

interface UpdateRow {
  readonly version: number
  readonly status: PaymentStatus
  readonly previous_status: PaymentStatus | null
  readonly message: string
  readonly actor: 'system' | 'member' | 'partner'
  readonly at_ms: number
}

/** Lists the updates of a payment, by pages; null when the payment is not the tenant's. */
export async function listPaymentUpdates(
  database: Database,
  db: ReadDatabase,
  query: PaymentUpdateQuery,
): Promise<ListResult<ReturnType<typeof updateJson>> | null> {
  const { tenant, paymentId, sort } = query
  const payment = tenant.kind === 'customer' ? await findPayment(database, paymentId) : null
  if (payment === null || payment.customerId !== tenant.id) return null
  const { rows, ...page } = await readPage<UpdateRow>(
    db,
    [
      {
        columns: sql`u.version, u.status, u.previous_status, u.message, u.actor, ${epochMs('u.at')} as at_ms`,
        from: sql`status_update u`,
        where: [sql`u.object_id = ${paymentId}::uuid`],
        // Versions ascend with time, except for the skew between the clocks of two nodes.
        order: { keys: [{ expression: sql`u.version`, type: 'bigint' }], descending: sort === '-at' },
      },
    ],
    query,
  )
  return { ...page, rows: rows.map((row) => updateJson(paymentId, row)) }
}

function updateJson(paymentId: string, { version, status, previous_status, message, actor, at_ms }: UpdateRow) {
  return {
    id: updateId(paymentId, version),
    paymentId,
    status,
    previousStatus: previous_status,
    message,
    actor,
    at: timestamp(at_ms),
  }
}

/**
 * Derives the id of an update: the payment's id with its last eight digits XORed with the version, so it never changes.
 */
function updateId(paymentId: string, version: number): string {
  const tail = (Number.parseInt(paymentId.slice(-8), 16) ^ version) >>> 0
  return paymentId.slice(0, -8) + tail.toString(16).padStart(8, '0')
}
