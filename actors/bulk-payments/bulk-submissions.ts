/** Starts and resumes the run that makes a payment of each valid row of a bulk payment. */
import type { BulkPaymentSubmitAccepted } from '../../lib/bulk-payments/bulk-submission-schema.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'
import { writeBulkTrail } from './bulk-trail.ts'
import { beginRun, endRun, lockRun, lostApproval, resumeRun, type BeginDeps, type Run } from './bulk-runs.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { findBulk } from '../../storage/bulk-payments/bulk-payments.ts'
import { endJob } from '../../storage/jobs/jobs.ts'
import { showApproval } from '../../storage/approvals/approval-queries.ts'
import type { Database } from '../../storage/db/database.ts'
import { viewerOf } from '../approvals/approval-operations.ts'
import { bulkPaymentView } from './bulk-payment-operations.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { createJobView, type JobDeps } from '../jobs/job-operations.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'

export interface BulkSubmissionCommands {
  /**
   * @throws ProblemError `not-found`, `rate-limited` when too many run; `invalid-transition` is recorded under its key
   */
  submit(
    by: Caller,
    command: Omit<Command<null>, 'body'>,
    id: string,
  ): Promise<CommandAnswer<BulkPaymentSubmitAccepted, 202>>
}

export interface BulkSubmissionDeps extends RunOnceDeps, BeginDeps, Pick<JobDeps, 'downloads'> {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
}

/** The version of the answer, which shows the bulk payment as it was accepted. */
const AS_ACCEPTED = 1

export function createBulkSubmissions(deps: BulkSubmissionDeps): BulkSubmissionCommands {
  const { database, ids, clock, findIdempotencyRecord } = deps
  const jobView = createJobView(deps)

  /**
   * Ends a run whose payments no person can approve any more: the remaining rows fail before the caller gets the
   * refusal.
   */
  async function endWhenLost(id: string): Promise<void> {
    await decideInTransaction({ database, clock, ids }, async (tx) => {
      const run = await lockRun(tx.client, id)
      if (run?.bulk.status !== 'submitting' || !lostApproval(run)) return
      if (run.job !== null) await endJob(tx, run.job, { move: 'cancel' })
      await endRun(tx, run, { failure: 'approval_expired', gaveUp: true })
    })
  }

  async function begin(tx: ApprovalTx, by: Caller, run: Run): Promise<Run> {
    const { id, name, createdVia: via } = by.principal
    const begun = await beginRun(deps, tx, run.bulk, { id, name, via, requestId: by.requestId })
    await writeBulkTrail(tx, auditCaller(by), 'submitted', run.bulk, begun.bulk)
    return begun
  }

  return {
    async submit(by, command, id) {
      const { tenant, principal } = by
      const known = command.idempotency === null ? null : await findIdempotencyRecord(command.idempotency.id)
      const found = known === null ? await findBulk(database, id) : null
      if (found?.status === 'submitting' && found.customerId === tenant.id) await endWhenLost(id)
      return await decideOnce(deps, command, 202, async (client) => {
        const tx = { client, ids, now: clock.now() }
        const locked = await lockRun(client, id)
        if (locked === null || locked.bulk.customerId !== tenant.id) refuseNotFound()
        const isUnderWay = locked.bulk.status === 'submitting'
        const { bulk, job, approval } = isUnderWay ? locked : await begin(tx, by, locked)
        if (job === null) throw new Error(`The bulk payment ${id} is submitted by no job.`)
        if (isUnderWay) await resumeRun(tx, locked, principal.id)
        return {
          shown: {
            version: AS_ACCEPTED,
            view: {
              bulkPayment: bulkPaymentView(bulk).view,
              job: jobView(job).view,
              approval:
                approval === null ? null : (await showApproval(client, tenant, approval.id, viewerOf(principal))).view,
            },
          },
          made: { type: 'job', id: job.id },
        }
      })
    },
  }
}
