/**
 * Begins, resumes and ends runs of bulk payments.
 *
 * Every function runs in the caller's transaction, under locks that are taken in one order: the job, the approval, the
 * bulk payment. Once a run has ended, none of its rows can become a payment any more, even if a worker still works on a
 * row.
 */
import { converterAt } from '../../lib/exchange/worth.ts'
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { opening, summary } from '../../lib/approvals/opening.ts'
import { NO_RATES } from '../../lib/approvals/policy.ts'
import { ruleInEffect } from '../../lib/approvals/in-effect.ts'
import { requestersOf } from '../../lib/approvals/requesters.ts'
import { batchTier, totalIn } from '../../lib/bulk-payments/approval.ts'
import {
  afterRun,
  canMove,
  GIVEN_UP_MS,
  STALLED_MS,
  statusesFor,
  SUBMISSIONS_MAX,
  type RowFailure,
} from '../../lib/bulk-payments/bulk-payment.ts'
import { BULK_FORMATS } from '../../lib/bulk-payments/formats.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import { endApproval, lockApproval, readStoredPolicies, type ApprovalTx } from '../../storage/approvals/approvals.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import { changeBulk, lockBulk, type BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import {
  countSubmissions,
  editorsOfPayees,
  endRowsLeft,
  endRunSavepoint,
  readRun,
  setRunSavepoint,
  totalsUnder,
} from '../../storage/bulk-payments/bulk-runs.ts'
import { SYSTEM } from '../../storage/trail/trail.ts'
import { endJob, insertJob, lockJob, resumeJob, type JobRecord } from '../../storage/jobs/jobs.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { FxMarkets } from '../providers/fx.ts'
import { writeBulkTrail } from './bulk-trail.ts'

/**
 * Retry-After of a refused submission: a fixed guess, because the end of the operator's other runs is not known ahead.
 */
const BUSY_RETRY_SECONDS = 5

/** A bulk payment with the job and the approval of its run, all of them locked. */
export interface Run {
  readonly bulk: BulkRecord
  readonly job: JobRecord | null
  readonly approval: ApprovalRecord | null
}

/**
 * Locks a bulk payment with its job and its approval; null when there is no such bulk payment. When its job or approval
 * has changed before the lock, all locks are released and taken again, to keep the one order of locks.
 */
export async function lockRun(client: TransactionClient, id: string): Promise<Run | null> {
  for (;;) {
    const seen = await readRun(client, id)
    if (seen === null) return null
    await setRunSavepoint(client)
    const job = seen.jobId === null ? null : await lockJob(client, seen.jobId)
    const approval = seen.approvalId === null ? null : await lockApproval(client, seen.approvalId)
    const bulk = await lockBulk(client, id)
    const isSame = bulk === null || (bulk.jobId === seen.jobId && bulk.approvalId === seen.approvalId)
    await endRunSavepoint(client, { keepLocks: isSame })
    if (isSame) return bulk === null ? null : { bulk, job, approval }
  }
}

/** Whether the run needs an approval that is not pending any more. */
export const lostApproval = ({ approval }: Pick<Run, 'approval'>): boolean =>
  approval !== null && approval.status !== 'pending'

/** Whether a run has made no progress for `forMs` milliseconds; then it may be cancelled, given up or resumed. */
export const standsStill = ({ lastProgressAt, submittedAt }: BulkRecord, forMs: number, now: number): boolean =>
  (lastProgressAt ?? submittedAt ?? now) + forMs <= now

// ── The beginning
// ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface BeginDeps {
  readonly market: Pick<FxMarkets, 'rates'>
  readonly sandbox: boolean
}

/** The user or API key that submits the bulk payment. */
export interface Submitter {
  readonly id: string
  readonly name: string
  readonly via: NonNullable<BulkRecord['submittedVia']>
  readonly requestId: string
}

/**
 * Begins a run: creates its job and, when the total needs one, the approval that all its payments wait for.
 *
 * @throws ProblemError `invalid-transition`, `rate-limited` when too many run already
 */
export async function beginRun(
  { market, sandbox }: BeginDeps,
  tx: ApprovalTx,
  bulk: BulkRecord,
  by: Submitter,
): Promise<Run> {
  const { client, ids, now } = tx
  if (!canMove(bulk.status, 'submit'))
    refuseTransition(`The bulk payment is ${bulk.status}.`, bulk.status, statusesFor('submit'))
  if ((await countSubmissions(client, bulk.operatorId)) >= SUBMISSIONS_MAX) {
    refuse(
      'rate-limited',
      `At most ${SUBMISSIONS_MAX} bulk payments are submitted at a time. Repeat the request when another submission has ended.`,
      { retryAfterSeconds: BUSY_RETRY_SECONDS, extra: { violatedPolicies: ['bulk-submit'] } },
    )
  }
  const approvalId = await openBatchApproval({ market, sandbox }, tx, bulk, by)
  const job = await insertJob(client, {
    id: ids.next(),
    tenantId: bulk.customerId,
    operatorId: bulk.operatorId,
    customerId: bulk.customerId,
    shard: bulk.shard,
    kind: 'bulk_payment_submit',
    request: {},
    fingerprint: null,
    subject: { object: 'bulk_payment', id: bulk.id },
    requestedBy: by.id,
    requestId: by.requestId,
    now,
  })
  const begun = await changeBulk(tx, bulk, {
    status: 'submitting',
    jobId: job.id,
    approvalId,
    dueAt: now + GIVEN_UP_MS,
    lastProgressAt: now,
    submittedBy: by.id,
    submittedByName: by.name,
    submittedVia: by.via,
    submittedAt: now,
  })
  return { bulk: begun, job, approval: approvalId === null ? null : await lockApproval(client, approvalId) }
}

/**
 * Opens the approval of the whole batch.
 *
 * @returns the id of the approval; null when the total needs none
 */
async function openBatchApproval(
  { market, sandbox }: BeginDeps,
  tx: ApprovalTx,
  bulk: BulkRecord,
  by: Submitter,
): Promise<string | null> {
  const { client, ids, now } = tx
  // Policies are about money that leaves; mandates and collections need no approval one by one either.
  if (BULK_FORMATS[bulk.format].makes !== 'payments') return null
  const { terms: policy, from } = ruleInEffect('bulk_payment', await readStoredPolicies(client, bulk.customerId))
  if (policy === null) return null
  const { totals, connectionId } = await totalsUnder(client, bulk.id, policy)
  const convert = connectionId === null ? NO_RATES : converterAt(market.rates(), connectionId, now)
  const match = batchTier(policy, totals, convert)
  if (match === null) return null
  const amount = totalIn(policy.currency, bulk.totals, convert)
  const id = ids.next()
  await writeEffects(
    tx,
    opening(
      {
        id,
        eventId: ids.next(),
        customerId: bulk.customerId,
        operatorId: bulk.operatorId,
        shard: bulk.shard,
        subjectType: 'bulk_payment',
        subjectId: bulk.id,
        subject: summary({
          title: `Bulk payment ${bulk.number}${bulk.name === null ? '' : ` (${bulk.name})`}`,
          amount: amount === null ? null : { amountMinor: amount.toString(), currency: policy.currency },
          itemCount: bulk.counts.valid,
          sourceBalanceId: bulk.sourceBalanceId,
        }),
        kind: from,
        source: 'snapshot',
        tier: match.tier,
        tierCurrency: policy.currency,
        converted: match.converted,
        requestedBy: by.id,
        requestedByName: by.name,
        shapedBy: requestersOf(
          [bulk.createdBy],
          bulk.editors.map((editor) => editor.id),
          await editorsOfPayees(client, bulk.id, bulk.createdAt),
        ),
        sandboxDecision: sandbox ? sandboxDecisionIn([bulk.name ?? '']) : null,
      },
      now,
    ),
  )
  return id
}

/** Resumes a run that waits or makes no progress, when this submitter submitted it; otherwise does nothing. */
export async function resumeRun({ client, now }: ApprovalTx, { bulk, job }: Run, submitterId: string): Promise<void> {
  if (job === null || bulk.submittedBy !== submitterId) return
  await resumeJob(client, job.id, { now, evenIfHeld: standsStill(bulk, STALLED_MS, now) })
}

// ── The end
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Ends a locked run. `failure` is the failure of the rows that are left; null when none is left. `gaveUp` is true when
 * the run did not come to its own end, but was cancelled or given up. Payments that wait for an approval that has ended
 * already are made due at once.
 */
export async function endRun(
  tx: ApprovalTx,
  run: Run,
  { failure, gaveUp }: { readonly failure: RowFailure | null; readonly gaveUp: boolean },
): Promise<BulkRecord> {
  const { client, now } = tx
  const { bulk, approval } = run
  const left = failure === null ? { valid: 0, paid: 0, unpaid: 0 } : await endRowsLeft(client, bulk.id, failure, now)
  const counts = {
    ...bulk.counts,
    valid: bulk.counts.valid - left.valid,
    submitting: bulk.counts.submitting - left.paid - left.unpaid,
    submitted: bulk.counts.submitted + left.paid,
    failed: bulk.counts.failed + left.valid + left.unpaid,
  }
  const hasPayments = counts.submitted > 0
  if (!hasPayments && approval?.status === 'pending')
    await writeEffects(
      tx,
      await endApproval(
        tx,
        approval,
        { status: 'cancelled', received: approval.received, reason: 'nothing_submitted' },
        SYSTEM,
      ),
    )
  return await changeBulk(tx, bulk, {
    status: afterRun(counts, gaveUp),
    counts,
    dueAt: hasPayments && lostApproval(run) ? now : null,
    closedAt: now,
  })
}

/**
 * Cancels a run that makes no progress, with its job.
 *
 * @throws ProblemError `not-cancellable` while it makes progress
 */
export async function cancelRun(tx: ApprovalTx, run: Run): Promise<BulkRecord> {
  const { bulk, job } = run
  if (!standsStill(bulk, STALLED_MS, tx.now))
    refuse('not-cancellable', 'The bulk payment, whose payments are being created.', {
      extra: { currentStatus: bulk.status },
    })
  if (job !== null) await endJob(tx, job, { move: 'cancel' })
  return await endRun(tx, run, { failure: 'cancelled', gaveUp: true })
}

/**
 * Gives a run up when it made no progress for `GIVEN_UP_MS`, or when its approval has ended.
 *
 * @returns when to check the run again, epoch milliseconds; null when it has ended
 */
export async function overseeRun(tx: ApprovalTx, run: Run): Promise<number | null> {
  const { bulk, job } = run
  const isLost = lostApproval(run)
  if (!isLost && !standsStill(bulk, GIVEN_UP_MS, tx.now)) return (bulk.lastProgressAt ?? tx.now) + GIVEN_UP_MS
  const stood = {
    move: 'fail',
    error: { slug: 'internal-error', detail: 'The submission stood still for too long.' },
  } as const
  if (job !== null && (isLost || (await endJob(tx, job, stood)) === null)) await endJob(tx, job, { move: 'cancel' })
  const ended = await endRun(tx, run, { failure: isLost ? 'approval_expired' : 'submission_stalled', gaveUp: true })
  await writeBulkTrail(tx, SYSTEM, 'given_up', bulk, ended)
  return null
}
