/**
 * The operator's queue of recipient reviews. Staff decide on a review under the lock of its row, and the effect on the
 * recipient is written in the same transaction. A due time is a column, whose trigger adds the task that expires the
 * review or lets the sandbox decide.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import { refuseTippingOff } from '../../lib/compliance/tipping-off.ts'
import { reviewStatusAt } from '../../lib/recipients/review.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM, writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import { insertNotices } from '../../storage/notices/notices.ts'
import { endReview, lockReview, wakeReviewAt, type ReviewRecord } from '../../storage/recipients/recipient-reviews.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { SANDBOX_APPROVER } from '../approvals/approvals.ts'
import { applyRecipientApproval } from './review-recipient.ts'
import type { Task } from '../runtime/tasks.ts'

export interface RecipientReviewsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  /** True where a sandbox exists: special texts in a name may then decide a review. */
  readonly sandbox: boolean
  /** Called for each recipient that a decision has changed, after the write. */
  readonly changed: (recipientId: string) => void
  readonly onError: (error: unknown, what: string) => void
}

export interface ReviewDecision {
  readonly reviewId: string
  readonly operatorId: string
  readonly decision: 'approved' | 'rejected'
  readonly reason: string | null
  readonly by: AuditBy
}

export class RecipientReviews {
  readonly #options: RecipientReviewsOptions

  constructor(options: RecipientReviewsOptions) {
    this.#options = options
  }

  /** Expires a review that is due, or lets the sandbox decide it. */
  task(): Task {
    return { name: 'recipients.review', run: (id) => this.#transaction((tx) => this.#wake(tx, id)) }
  }

  /**
   * Records a decision of staff.
   *
   * @throws ProblemError `not-found` when the operator has no such review, `invalid-transition` when it has ended,
   *   `tipping_off` for a reason that customers must not read
   */
  async decide({ reviewId, operatorId, decision, reason, by }: ReviewDecision): Promise<void> {
    await this.#transaction(async (tx) => {
      const review = await lockReview(tx.client, reviewId)
      if (review === null || review.operatorId !== operatorId)
        refuse('not-found', 'No such review exists in this tenant.')
      refuseTippingOff({ '/reason': reason })
      const status = reviewStatusAt(review, tx.now)
      if (status !== 'pending') refuseTransition(`The review is ${status}.`, status, ['pending'])
      return await this.#end(tx, review, { status: decision, reason }, by)
    })
  }

  /** Runs work in a transaction; it returns the recipient that it has changed, null for none. */
  async #transaction(work: (tx: ApprovalTx) => Promise<string | null>): Promise<void> {
    const { database, clock, ids, changed } = this.#options
    const recipientId = await inTransaction(database, async (client) => work({ client, ids, now: clock.now() }))
    if (recipientId !== null) changed(recipientId)
  }

  /** Ends a review. @returns the recipient */
  async #end(
    tx: ApprovalTx,
    review: ReviewRecord,
    { status, reason }: { readonly status: 'approved' | 'rejected' | 'expired'; readonly reason: string | null },
    by: AuditBy,
  ): Promise<string> {
    const { client, ids, now } = tx
    const { recipientId, customerId, requestedBy } = review
    await endReview(client, review.id, { status, by: status === 'expired' ? null : by.actor.id, reason, now })
    // Customers are not told which member of staff decided.
    const { events = [] } = await applyRecipientApproval(tx, this.#options, {
      recipientId,
      customerId,
      requester: { id: requestedBy, name: '' },
      end: { status, by: null, reason },
    })
    await writeEffects(tx, { events })
    await writeAudit(client, {
      ...by,
      id: ids.next(),
      tenantId: review.operatorId,
      at: now,
      action: `recipient_review.${status}`,
      object: { type: 'recipient', id: recipientId },
      before: { status: 'pending' },
      after: { status, reason, customerId },
    })
    const words = `Your recipient was ${status === 'expired' ? 'not reviewed in time' : status}.`
    await insertNotices(
      client,
      ids,
      [requestedBy],
      {
        tenantId: customerId,
        type: 'recipient_decided',
        title: words,
        text: reason ?? words,
        object: { type: 'recipient', id: recipientId },
      },
      now,
    )
    return recipientId
  }

  /** Does what is due. @returns the recipient when the review has ended */
  async #wake(tx: ApprovalTx, id: string): Promise<string | null> {
    const review = await lockReview(tx.client, id)
    if (review === null || review.status !== 'pending') return null
    if (reviewStatusAt(review, tx.now) === 'expired')
      return await this.#end(tx, review, { status: 'expired', reason: null }, SYSTEM)
    if (review.sandboxDecision !== null) {
      const reason = review.sandboxDecision === 'rejected' ? 'Rejected by the sandbox.' : null
      return await this.#end(
        tx,
        review,
        { status: review.sandboxDecision, reason },
        { ...SYSTEM, actor: { type: 'system', ...SANDBOX_APPROVER } },
      )
    }
    await wakeReviewAt(tx.client, id, review.expiresAt)
    return null
  }
}
