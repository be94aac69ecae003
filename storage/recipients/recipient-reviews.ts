/** Reviews of recipients by the operator's staff, as rows. Locks are taken in one order: reviews, then recipients. */
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { ReviewKind, ReviewStatus } from '../../lib/recipients/review.ts'

/** A review with the fields that its decision needs. Times are epoch milliseconds. */
export interface ReviewRecord {
  readonly id: string
  readonly recipientId: string
  readonly customerId: string
  readonly operatorId: string
  readonly status: ReviewStatus
  readonly requestedBy: string
  readonly sandboxDecision: 'approved' | 'rejected' | null
  readonly expiresAt: number
}

export interface NewReview {
  readonly id: string
  readonly recipientId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly kind: ReviewKind
  readonly requestedBy: string
  readonly requestedByName: string
  readonly sandboxDecision: 'approved' | 'rejected' | null
  readonly wakeAt: number
  readonly expiresAt: number
  readonly now: number
}

export async function insertReview(client: TransactionClient, review: NewReview): Promise<void> {
  await client.query({
    name: 'insert_recipient_review',
    text: `insert into recipient_review (id, recipient_id, customer_id, operator_id, shard, kind, status, requested_by, requested_by_name, sandbox_decision, wake_at, expires_at, created_at)
      values ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9, $10, $11, $12)`,
    values: [
      review.id,
      review.recipientId,
      review.customerId,
      review.operatorId,
      review.shard,
      review.kind,
      review.requestedBy,
      review.requestedByName,
      review.sandboxDecision,
      timestamp(review.wakeAt),
      timestamp(review.expiresAt),
      timestamp(review.now),
    ],
  })
}

interface ReviewColumns {
  readonly id: string
  readonly recipient_id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly status: ReviewStatus
  readonly requested_by: string
  readonly sandbox_decision: 'approved' | 'rejected' | null
  readonly expires_ms: number
}

const COLUMNS = `v.id, v.recipient_id, v.customer_id, v.operator_id, v.status, v.requested_by, v.sandbox_decision,
  (extract(epoch from v.expires_at) * 1000)::float8 as expires_ms`

function record(row: ReviewColumns | undefined): ReviewRecord | null {
  return row === undefined
    ? null
    : {
        id: row.id,
        recipientId: row.recipient_id,
        customerId: row.customer_id,
        operatorId: row.operator_id,
        status: row.status,
        requestedBy: row.requested_by,
        sandboxDecision: row.sandbox_decision,
        expiresAt: row.expires_ms,
      }
}

/** Locks a review until the transaction ends; null when it does not exist. */
export async function lockReview(client: TransactionClient, id: string): Promise<ReviewRecord | null> {
  const { rows } = await client.query<ReviewColumns>({
    name: 'lock_recipient_review',
    text: `select ${COLUMNS} from recipient_review v where v.id = $1 for update`,
    values: [id],
  })
  return record(rows[0])
}

/** Locks the review that a recipient waits for until the transaction ends; null when the recipient waits for none. */
export async function lockPendingReview(client: TransactionClient, recipientId: string): Promise<ReviewRecord | null> {
  const { rows } = await client.query<ReviewColumns>({
    name: 'lock_pending_recipient_review',
    text: `select ${COLUMNS} from recipient_review v where v.recipient_id = $1 and v.status = 'pending' for update`,
    values: [recipientId],
  })
  return record(rows[0])
}

/** Ends a review. The caller changes the recipient. */
export async function endReview(
  client: TransactionClient,
  id: string,
  end: {
    readonly status: ReviewStatus
    readonly by: string | null
    readonly reason: string | null
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'end_recipient_review',
    text: 'update recipient_review set status = $2, decided_by = $3, reason = $4, decided_at = $5, version = version + 1 where id = $1',
    values: [id, end.status, end.by, end.reason, timestamp(end.now)],
  })
}

/** Sets when a pending review is due next. */
export async function wakeReviewAt(client: TransactionClient, id: string, at: number): Promise<void> {
  await client.query({
    name: 'wake_recipient_review',
    text: 'update recipient_review set wake_at = $2 where id = $1',
    values: [id, timestamp(at)],
  })
}
