/**
 * The book of the sandbox's KYC provider: the reviews that it will report, one for each applicant. Written by hand, as
 * the other books of the sandbox are.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { KycReview } from '../../lib/kyc/messages.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** A review that the provider will report. */
export interface PlannedReview {
  readonly subjectId: string
  readonly connectionId: string
  readonly operatorId: string
  readonly applicantId: string
  readonly review: KycReview
  /** Epoch milliseconds. */
  readonly dueAt: number
}

/** Plans a review, in place of the one that was planned for the applicant. */
export async function planReview(client: TransactionClient, planned: PlannedReview): Promise<void> {
  await client.query({
    name: 'plan_kyc_review',
    text: `insert into sandbox_kyc_review (subject_id, connection_id, operator_id, applicant_id, review, due_at) values ($1, $2, $3, $4, $5, $6)
      on conflict (subject_id) do update set connection_id = excluded.connection_id, operator_id = excluded.operator_id,
        applicant_id = excluded.applicant_id, review = excluded.review, due_at = excluded.due_at`,
    values: [
      planned.subjectId,
      planned.connectionId,
      planned.operatorId,
      planned.applicantId,
      JSON.stringify(planned.review),
      timestamp(planned.dueAt),
    ],
  })
}

/** Takes a planned review that is due off the book; null when none is. */
export async function takeReview(
  client: TransactionClient,
  subjectId: string,
  now: number,
): Promise<Omit<PlannedReview, 'dueAt'> | null> {
  const { rows } = await client.query<Omit<PlannedReview, 'dueAt'>>({
    name: 'take_kyc_review',
    values: [subjectId, timestamp(now)],
    text: `delete from sandbox_kyc_review where subject_id = $1 and due_at <= $2
      returning subject_id as "subjectId", connection_id as "connectionId", operator_id as "operatorId", applicant_id as "applicantId", review`,
  })
  return rows[0] ?? null
}

/** Takes what is planned for an applicant off the book. */
export async function dropReview(client: TransactionClient, subjectId: string): Promise<void> {
  await client.query({
    name: 'drop_kyc_review',
    values: [subjectId],
    text: 'delete from sandbox_kyc_review where subject_id = $1',
  })
}
