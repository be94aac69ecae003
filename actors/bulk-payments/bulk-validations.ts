/**
 * Changes of bulk payments outside of their runs: validate again, and cancel. Each runs in the caller's
 * transaction.
 */
import { withEditor } from '../../lib/approvals/requesters.ts'
import { canMove, statusesFor } from '../../lib/bulk-payments/bulk-payment.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { changeBulk, NO_FINDINGS, type BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import { resetRows } from '../../storage/bulk-payments/checked-rows.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { endJob, insertJob } from '../../storage/jobs/jobs.ts'
import type { BulkValidationRequest } from './bulk-validation.ts'
import { cancelRun, type Run } from './bulk-runs.ts'

/** The person or key that asks. */
export interface Asking {
  readonly actor: AuditBy['actor']
  readonly requestId: string
}

/** Inserts the job that checks the rows of a file on behalf of the actor. @returns its id */
export async function beginValidation(
  { client, ids, now }: ApprovalTx,
  bulk: Pick<BulkRecord, 'id' | 'customerId' | 'operatorId' | 'shard'>,
  { actor, requestId }: Asking,
): Promise<string> {
  const { id, customerId, operatorId, shard } = bulk
  const request: BulkValidationRequest = { actor }
  const job = await insertJob(client, {
    id: ids.next(),
    tenantId: customerId,
    operatorId,
    customerId,
    shard,
    kind: 'bulk_payment_validate',
    request,
    fingerprint: null,
    subject: { object: 'bulk_payment', id },
    requestedBy: actor.id,
    requestId,
    now,
  })
  return job.id
}

/**
 * Lets a job check the rows of a locked bulk payment again; rows wait until the job reaches them.
 *
 * @throws ProblemError `invalid-transition`
 */
export async function revalidate(tx: ApprovalTx, bulk: BulkRecord, by: Asking): Promise<BulkRecord> {
  if (!canMove(bulk.status, 'revalidate'))
    refuseTransition(`The bulk payment is ${bulk.status}.`, bulk.status, statusesFor('revalidate'))
  const { total } = bulk.counts
  await resetRows(tx.client, bulk.id, tx.now)
  return await changeBulk(tx, bulk, {
    ...NO_FINDINGS,
    status: 'validating',
    counts: { ...NO_FINDINGS.counts, total, pending: total },
    jobId: await beginValidation(tx, bulk, by),
    lastProgressAt: null,
    editors: withEditor(bulk.editors, by.actor.id, tx.now),
  })
}

/**
 * Cancels a locked bulk payment, and the job that works on it.
 *
 * @throws ProblemError `not-cancellable`
 */
export async function cancelBulk(tx: ApprovalTx, run: Run): Promise<BulkRecord> {
  const { bulk, job } = run
  if (bulk.status === 'submitting') return await cancelRun(tx, run)
  if (!canMove(bulk.status, 'cancel'))
    refuse('not-cancellable', `The bulk payment is ${bulk.status}.`, { extra: { currentStatus: bulk.status } })
  if (job !== null) await endJob(tx, job, { move: 'cancel' })
  return await changeBulk(tx, bulk, { status: 'cancelled', closedAt: tx.now })
}
