/**
 * The job that turns the rows of a file into payments. Each payment takes the path of every other
 * payment: the same checks, the same decision, the same group commit. The payment's id and key are written to the row
 * before the payment is requested. So a run that died or stalled continues where it was: a second request finds the
 * first payment and makes no other.
 *
 * A run leaves capacity for other work. Alone, it sends lots that fill one commit, one after another, so that another
 * payer waits for one lot and not for the whole file. While others pay, it sends smaller lots with a pause between
 * them. After a number of rows it returns to the queue of jobs, behind the jobs that wait there.
 */
import { DAY_MS } from '../../lib/base/clock.ts'
import { requestersOf } from '../../lib/approvals/requesters.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { hasSandboxToken } from '../../lib/sandbox/triggers.ts'
import { BULK_FORMATS } from '../../lib/bulk-payments/formats.ts'
import { GIVEN_UP_MS, STALL_CODE, type RowCounts, type RowFailure } from '../../lib/bulk-payments/bulk-payment.ts'
import type { RowFault } from '../../lib/bulk-payments/instruction.ts'
import { bearerOfRow, faultOfIssue, railOfRow } from '../../lib/bulk-payments/payment-of-row.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { NO_RESULT } from '../../lib/jobs/job.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { ProblemError, type Problem } from '../../lib/base/problems.ts'
import { endingOf } from '../../storage/approvals/approvals.ts'
import { changeBulk, findBulk, lockBulk, type BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import { endRows, takeRows, type RowEnd, type RowToSubmit } from '../../storage/bulk-payments/bulk-runs.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { endRun, lockRun } from './bulk-runs.ts'
import type { DirectDebitDeps } from '../direct-debits/direct-debit-deps.ts'
import { debitMakers } from './make-debit-rows.ts'
import { paymentInput } from './payment-of-row.ts'
import { type PayDeps, submitPayment } from '../payments/submit-payment.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { JobPaused, type JobContext, type JobOutcome, type JobWork } from '../jobs/jobs.ts'

/** The number of rows per lot, alone and while others pay. */
const LOT = 256
const LOT_BESIDE_OTHERS = 32
/** While others pay, the pause after a lot is this factor times the duration of the lot. */
const REST = 1
/**
 * Other payers count as present for this long after their last payment, milliseconds, so that one payment per second
 * still counts.
 */
const ALONE_AFTER_MS = 2_000
/** The number of rows after which other waiting jobs get their turn. */
const ROWS_IN_A_ROW = 4_096
/** The wait of a run that a sandbox lets stall, milliseconds: so long that another event ends it first. */
const STALL_MS = DAY_MS
/** The delay before a lot that could not be decided is sent again, milliseconds. */
const AGAIN_MS = 250

export interface BulkSubmissionJobDeps extends PayDeps {
  readonly database: Database
  readonly problemBase: string
  /** The dependencies for making mandates and collections. */
  readonly debits: DirectDebitDeps
}

export function bulkSubmissionJob(deps: BulkSubmissionJobDeps): JobWork {
  const { database, ids } = deps
  return {
    // A run that stalls is cancelled through its bulk payment; a run that makes progress is never cancelled.
    cancellable: false,
    async run(job, context) {
      const bulk = await findBulk(database, job.subject!.id)
      if (bulk === null) throw new Error(`The bulk payment ${job.subject!.id} has vanished.`)
      return await new Submission(deps, bulk, job.id).run(context)
    },
    async abandoned(tx, job) {
      const run = await lockRun(tx.client, job.subject!.id)
      if (run !== null && isUnderWay(run.bulk, job.id))
        await endRun({ ...tx, ids }, run, { failure: 'internal_error', gaveUp: true })
    },
  }
}

/** Checks whether this job is submitting the bulk payment; it may have been cancelled or given up meanwhile. */
const isUnderWay = (bulk: BulkRecord, jobId: string): boolean => bulk.status === 'submitting' && bulk.jobId === jobId

/**
 * The next rows to submit. No rows: all rows are done, or no person can approve them any more. Null: the job has lost
 * the bulk payment.
 */
type Turn = { readonly rows: readonly RowToSubmit[]; readonly isLost: boolean } | null

/** A run through the rows of a bulk payment. */
class Submission {
  readonly #deps: BulkSubmissionJobDeps
  readonly #bulk: BulkRecord
  readonly #jobId: string
  readonly #stalls: boolean
  #counts: RowCounts
  /** The first row that may still be open. */
  #from = 1

  constructor(deps: BulkSubmissionJobDeps, bulk: BulkRecord, jobId: string) {
    this.#deps = deps
    this.#bulk = bulk
    this.#jobId = jobId
    this.#counts = bulk.counts
    this.#stalls =
      deps.sandbox &&
      bulk.name !== null &&
      hasSandboxToken(bulk.name, STALL_CODE) &&
      bulk.counts.submitted + bulk.counts.failed === 0
  }

  /**
   * Submits the rows, lot by lot.
   *
   * @throws JobPaused when other jobs should have their turn, or a sandbox wants a stall
   */
  async run({ progress, signal }: JobContext): Promise<JobOutcome> {
    const { system, clock } = this.#deps
    let [lot, done, ends] = [this.#stalls ? 1 : LOT_BESIDE_OTHERS, 0, [] as readonly RowEnd[]]
    let [asked, othersAt] = [system.asked.balance, Number.NEGATIVE_INFINITY]
    // Balances decide payments; mandates decide themselves and their collections.
    const ownOf = (rows: readonly RowToSubmit[]) =>
      BULK_FORMATS[this.#bulk.format].makes === 'payments' ? rows.length : 0
    for (;;) {
      signal.throwIfAborted()
      const hasToPause = done > 0 && (this.#stalls || done >= ROWS_IN_A_ROW)
      const turn = await this.#turn(ends, hasToPause ? 0 : lot)
      // The status of the bulk payment is already written.
      if (turn === null) return { result: NO_RESULT, fileId: null }
      const processed = this.#counts.submitted + this.#counts.failed
      progress(processed, this.#counts.total - this.#counts.invalid)
      if (hasToPause) throw new JobPaused(clock.now() + (this.#stalls ? STALL_MS : 0))
      if (turn.rows.length === 0) return this.#outcome(turn.isLost)
      const begun = performance.now()
      ends = await this.#submit(turn.rows)
      const ended = performance.now()
      done += turn.rows.length
      if (system.asked.balance - asked > ownOf(turn.rows)) othersAt = ended
      asked = system.asked.balance
      const isBeside = ended - othersAt < ALONE_AFTER_MS
      lot = isBeside ? LOT_BESIDE_OTHERS : LOT
      const restMs = ends.length < turn.rows.length ? AGAIN_MS : isBeside ? (ended - begun) * REST : 0
      if (restMs > 0) await pause(restMs, undefined, { signal })
    }
  }

  /** Writes the results of a lot and takes the next lot. */
  async #turn(ends: readonly RowEnd[], max: number): Promise<Turn> {
    const { database, clock, ids } = this.#deps
    const { id, approvalId } = this.#bulk
    return await inTransaction(database, async (client) => {
      const now = clock.now()
      const locked = await lockBulk(client, id)
      if (locked === null || !isUnderWay(locked, this.#jobId)) return null
      const { submitted, failed } =
        ends.length === 0 ? { submitted: 0, failed: 0 } : await endRows(client, id, ends, now)
      const isLost = approvalId !== null && (await endingOf(client, approvalId)) !== null
      const { rows, taken } =
        isLost || max === 0
          ? { rows: [], taken: 0 }
          : await takeRows(client, { bulkPaymentId: id, from: this.#from, max, ids, now })
      const { counts } = locked
      this.#counts = {
        ...counts,
        valid: counts.valid - taken,
        submitting: counts.submitting + taken - submitted - failed,
        submitted: counts.submitted + submitted,
        failed: counts.failed + failed,
      }
      if (taken + submitted + failed > 0) {
        await changeBulk({ client, ids, now }, locked, {
          counts: this.#counts,
          ...(submitted + failed === 0 ? {} : { lastProgressAt: now, dueAt: now + GIVEN_UP_MS }),
        })
      }
      return { rows, isLost }
    })
  }

  /** Makes the payments of a lot. @returns the results of the rows that could be decided */
  async #submit(rows: readonly RowToSubmit[]): Promise<readonly RowEnd[]> {
    const make = await this.#makerOf(rows)
    const found = await Promise.all(
      rows.map((row) => (row.paid ? { rowNumber: row.rowNumber, failure: null, errors: [] } : make(row))),
    )
    const undecided = found.indexOf(null)
    this.#from = undecided < 0 ? rows.at(-1)!.rowNumber + 1 : rows[undecided]!.rowNumber
    return found.filter((end) => end !== null)
  }

  /** Returns the maker of the rows of a lot. What the rows name is read once for the lot, and not row by row. */
  async #makerOf(rows: readonly RowToSubmit[]): Promise<(row: RowToSubmit) => Promise<RowEnd | null>> {
    const [deps, bulk] = [this.#deps, this.#bulk]
    const { makes } = BULK_FORMATS[bulk.format]
    if (makes !== 'payments') {
      const make = await debitMakers(deps.debits, bulk, makes, rows)
      return (row) => make(row, callerOf(deps, bulk, row))
    }
    const { recipients } = deps
    const read = new Map(await recipients.findMany(rows.map(({ recipientId }) => recipientId)))
    const paying: BulkSubmissionJobDeps = {
      ...deps,
      recipients: {
        find: async (id) => read.get(id) ?? (await recipients.find(id)),
        findMany: (ids) => recipients.findMany(ids),
        forget: (id) => {
          read.delete(id)
          recipients.forget(id)
        },
      },
    }
    return (row) => submitRow(paying, bulk, row)
  }

  #outcome(isLost: boolean): JobOutcome {
    const { ids } = this.#deps
    const { submitted, failed, valid, submitting } = this.#counts
    return {
      result: {
        ...NO_RESULT,
        rows: submitted + failed,
        counts: isLost ? { submitted, failed: failed + valid + submitting } : { submitted, failed },
      },
      fileId: null,
      finish: async (tx) => {
        const run = await lockRun(tx.client, this.#bulk.id)
        if (run !== null && isUnderWay(run.bulk, this.#jobId))
          await endRun({ ...tx, ids }, run, { failure: isLost ? 'approval_expired' : null, gaveUp: isLost })
      },
    }
  }
}

/** The file and the row as the caller of a use case. */
function callerOf(
  { clock, ids, problemBase }: BulkSubmissionJobDeps,
  bulk: BulkRecord,
  row: RowToSubmit,
): CommandOrigin {
  return {
    customerId: bulk.customerId,
    shard: bulk.shard,
    createdBy: bulk.submittedBy!,
    createdByName: bulk.submittedByName ?? '',
    createdVia: 'bulk',
    paymentId: row.paymentId,
    shapedBy: requestersOf(
      [bulk.createdBy],
      bulk.editors.map((editor) => editor.id),
    ),
    termsSince: bulk.createdAt,
    spenderId: bulk.createdBy,
    // A row is submitted once and never changes, so its id serves as key and as fingerprint of its content.
    key: { id: row.id, fingerprint: row.id },
    deadline: clock.now() + LIMITS.requestDeadlineMs,
    // Only this job reads the answer that is recorded under the key of a row.
    problemRequest: { problemBase, instance: '/v1/payments', requestId: ids.next() },
    bulk: { bulkPaymentId: bulk.id, bulkRowId: row.id },
    skipPayeeVerification: bulk.options.skipPayeeVerification,
    ...(bulk.approvalId === null ? {} : { batchApprovalId: bulk.approvalId }),
  }
}

/**
 * Makes one payment.
 *
 * @returns the result of the row; null when it could not be decided and has to be submitted again
 */
async function submitRow(deps: BulkSubmissionJobDeps, bulk: BulkRecord, row: RowToSubmit): Promise<RowEnd | null> {
  const caller = callerOf(deps, bulk, row)
  const { instruction, rowNumber } = row
  const faults: RowFault[] = []
  const bearer = bearerOfRow(instruction, faults)
  const input = {
    ...paymentInput(instruction, row),
    requestedRail: railOfRow(instruction, faults),
    executionDate: instruction.executionDate ?? bulk.executionDate,
    ...(bearer === undefined ? {} : { chargeBearer: bearer }),
  }
  try {
    const outcome = await submitPayment(deps, caller, input)
    switch (outcome.kind) {
      case 'payment_created':
        return { rowNumber, failure: null, errors: [] }
      case 'refused':
        return refused(rowNumber, outcome.problem)
      case 'recorded':
        return outcome.outcome.resourceId === row.paymentId
          ? { rowNumber, failure: null, errors: [] }
          : refused(rowNumber, JSON.parse(outcome.outcome.answer ?? '{}') as RecordedProblem)
      default:
        throw new Error(`A payment was answered with ${outcome.kind}.`)
    }
  } catch (error) {
    if (error instanceof ProblemError) return refused(rowNumber, error.problem)
    if (error instanceof OperatingError) return null
    throw error
  }
}

/** A problem as it was answered, and as it is stored. */
type RecordedProblem = Partial<Problem> & { readonly code?: string }

const FAILURES: Readonly<Record<string, RowFailure>> = {
  'insufficient-funds': 'insufficient_funds',
  'limit-exceeded': 'limit_exceeded',
  'recipient-not-approved': 'recipient_not_approved',
  'customer-restricted': 'customer_restricted',
  'customer-not-active': 'customer_not_active',
}

function refused(rowNumber: number, { slug, code, detail = '', errors }: RecordedProblem): RowEnd {
  const name = slug ?? code ?? 'internal-error'
  return {
    rowNumber,
    failure: FAILURES[name] ?? 'internal_error',
    errors: (errors ?? [{ code: name, field: null, message: detail }]).map((error) => faultOfIssue(error)),
  }
}
