/**
 * The job that reads a file of payments and checks its rows. A failed attempt starts again and finds the same
 * rows.
 *
 *  * Each batch of rows is written together with its counts, so a polling client sees them grow.
 *  * A batch is written only while this very job validates the bulk payment: a cancelled bulk payment, or one that
 *    another job has taken over, is left alone.
 */
import { NO_REQUEST } from '../../lib/balances/decision.ts'
import {
  afterValidation,
  canMove,
  NO_ROWS,
  type CurrencyTotal,
  type RowCounts,
} from '../../lib/bulk-payments/bulk-payment.ts'
import { columnOfMember, METADATA_PREFIX } from '../../lib/bulk-payments/columns.ts'
import type { FileError } from '../../lib/bulk-payments/file-error.ts'
import { RowReader, type BulkRow, type DecimalSeparator } from '../../lib/bulk-payments/instruction.ts'
import { ROWS_AT_A_TIME } from '../../lib/bulk-payments/limits.ts'
import { NO_RESULT } from '../../lib/jobs/job.ts'
import { changeBulk, findBulk, lockBulk, type BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import { countedRows, deleteRowsAbove, writeCheckedRows } from '../../storage/bulk-payments/checked-rows.ts'
import { findFile, readFile, type StoredFile } from '../../storage/documents/files.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import type { JobRecord } from '../../storage/jobs/jobs.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { BulkFiles } from '../../workers/bulk-payments/bulk-files.ts'
import { BULK_FORMATS } from '../../lib/bulk-payments/formats.ts'
import { BulkRowChecker, type BulkCheckDeps } from './check-bulk-rows.ts'
import type { DirectDebitDeps } from '../direct-debits/direct-debit-deps.ts'
import { DebitRowChecker } from './debit-rows.ts'
import { makeRecipientOfRow, type RecipientFactory } from './make-bulk-recipient.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import type { JobContext, JobWork } from '../jobs/jobs.ts'

/** The person or key for whom rows are checked and recipients created. */
export interface BulkValidationRequest {
  readonly actor: AuditBy['actor']
}

export interface BulkValidationDeps extends BulkCheckDeps {
  readonly files: Pick<BulkFiles, 'read'>
  readonly recipientFactory: RecipientFactory
  /** The dependencies for making mandates and collections. */
  readonly debits: DirectDebitDeps
}

/** Thrown when this job no longer validates the bulk payment. */
class NoLongerOurs extends Error {
  override readonly name = 'NoLongerOurs'
}

export function bulkValidationJob(deps: BulkValidationDeps): JobWork {
  const { database, clock, ids } = deps
  return {
    // Cancelled only through the bulk payment.
    cancellable: false,
    async run(job, context) {
      const bulk = await findBulk(database, job.subject!.id)
      if (bulk === null || !isValidatedBy(bulk, job)) return { result: NO_RESULT, fileId: null }
      const file = await findFile(database, bulk.fileId, clock.now())
      if (file === null) throw new Error(`The file of ${bulk.id} is gone.`)
      const checked = await readAndCheck(deps, bulk, file, job, context)
      if (checked === null) return { result: NO_RESULT, fileId: null }
      const { counts, totals, errors } = checked
      return {
        result: { ...NO_RESULT, rows: counts.total, counts: { valid: counts.valid, invalid: counts.invalid } },
        fileId: null,
        async finish(tx) {
          const locked = await lockBulk(tx.client, bulk.id)
          if (locked === null || !isValidatedBy(locked, job)) return
          await deleteRowsAbove(tx.client, bulk.id, counts.total)
          await changeBulk({ ...tx, ids }, locked, {
            status: afterValidation(counts, bulk.options.requireAllValid),
            counts,
            totals,
            fileErrors: errors,
            lastProgressAt: tx.now,
          })
        },
      }
    },
    async abandoned(tx, job) {
      const locked = await lockBulk(tx.client, job.subject!.id)
      if (locked === null || !isValidatedBy(locked, job)) return
      await deleteRowsAbove(tx.client, locked.id, 0)
      const broken: FileError = {
        line: null,
        code: 'not_well_formed',
        message: 'The file could not be read completely.',
      }
      await changeBulk(tx, locked, { status: 'invalid', counts: NO_ROWS, totals: [], fileErrors: [broken] })
    },
  }
}

const isValidatedBy = ({ status, jobId }: BulkRecord, { id }: Pick<JobRecord, 'id'>): boolean =>
  canMove(status, 'validated') && jobId === id

interface Checked {
  readonly counts: RowCounts
  readonly totals: readonly CurrencyTotal[]
  readonly errors: readonly FileError[]
}

/** Reads the file and writes its rows. Null when the bulk payment was cancelled meanwhile. */
async function readAndCheck(
  deps: BulkValidationDeps,
  bulk: BulkRecord,
  file: StoredFile,
  job: JobRecord,
  context: JobContext,
): Promise<Checked | null> {
  try {
    return await readRows(deps, bulk, file, job, context)
  } catch (error) {
    if (error instanceof NoLongerOurs) return null
    throw error
  }
}

async function readRows(
  deps: BulkValidationDeps,
  bulk: BulkRecord,
  file: StoredFile,
  job: JobRecord,
  { progress, signal }: JobContext,
): Promise<Checked> {
  const { database, ids, clock, files } = deps
  const { actor } = job.request as BulkValidationRequest
  const caller: CommandOrigin = {
    customerId: bulk.customerId,
    shard: bulk.shard,
    createdBy: actor.id,
    createdByName: actor.name,
    createdVia: 'bulk',
    key: null,
    deadline: Number.POSITIVE_INFINITY,
    problemRequest: NO_REQUEST,
    skipPayeeVerification: bulk.options.skipPayeeVerification,
  }
  const maker = {
    customerId: bulk.customerId,
    requester: { id: actor.id, name: actor.name, byKey: actor.type === 'key' },
    trail: { actor, address: null, requestId: job.requestId },
  }
  const { makes } = BULK_FORMATS[bulk.format]
  const checker =
    makes === 'payments'
      ? new BulkRowChecker(
          deps,
          bulk,
          caller,
          makeRecipientOfRow(deps.recipientFactory, maker, { verify: !bulk.options.skipPayeeVerification }),
        )
      : new DebitRowChecker(deps.debits, bulk, caller, makes)
  // Rows of an earlier attempt stay until this attempt reaches them.
  const known = bulk.counts.total === 0 ? null : bulk.counts.total
  let [counts, totals] = [NO_ROWS, [] as readonly CurrencyTotal[]]
  const onRows = async (rows: readonly BulkRow[]): Promise<void> => {
    signal.throwIfAborted()
    const checked = await checker.check(rows)
    const after = countedRows(counts, totals, checked)
    const pending = Math.max(0, (known ?? 0) - after.counts.total)
    await inTransaction(database, async (client) => {
      const now = clock.now()
      const locked = await lockBulk(client, bulk.id)
      if (locked === null || !isValidatedBy(locked, job))
        throw new NoLongerOurs('The bulk payment is no longer validated by this job.')
      await writeCheckedRows(client, bulk.id, checked, ids, now)
      await changeBulk({ client, ids, now }, locked, {
        counts: { ...after.counts, pending, total: after.counts.total + pending },
        totals: after.totals,
        lastProgressAt: now,
      })
    })
    ;({ counts, totals } = after)
    progress(counts.total, known)
  }
  const { delimiter, decimalSeparator } = bulk.options
  if (bulk.format === 'json') {
    await rowsOfJson(readFile(database, file), decimalSeparator, onRows)
    return { counts, totals, errors: [] }
  }
  const result = await files.read({
    bytes: readFile(database, file),
    task: { format: bulk.format, delimiter, decimalSeparator },
    onRows,
    signal,
  })
  if ('errors' in result) return { counts: NO_ROWS, totals: [], errors: result.errors }
  // Repeats are detected on arrival, by the message id at the beginning of the file.
  if (result.facts.messageId === bulk.messageId) return { counts, totals, errors: [] }
  return {
    counts: NO_ROWS,
    totals: [],
    errors: [
      {
        line: null,
        code: 'not_well_formed',
        message: 'GrpHdr with its MsgId does not stand at the beginning of the message.',
      },
    ],
  }
}

/**
 * Reads the rows of a JSON request. They are few, were checked for shape when they arrived, and were stored unchanged.
 */
async function rowsOfJson(
  bytes: AsyncIterable<Uint8Array>,
  decimalSeparator: DecimalSeparator,
  onRows: (rows: readonly BulkRow[]) => Promise<void>,
): Promise<void> {
  const rows = JSON.parse(Buffer.concat(await Array.fromAsync(bytes)).toString()) as readonly Readonly<
    Record<string, unknown>
  >[]
  const read = rows.map(({ metadata, ...members }, nth) => {
    const row = new RowReader(decimalSeparator)
    const cells = {
      ...members,
      ...Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [METADATA_PREFIX + key, value])),
    }
    for (const [member, value] of Object.entries(cells)) {
      const target = columnOfMember(member)
      if (target === null) row.fault(member, 'unknown_field', 'The column does not exist.')
      else if (value !== null) row.cell(target, String(value))
    }
    return row.end(nth + 1, null)
  })
  for (let at = 0; at < read.length; at += ROWS_AT_A_TIME) await onRows(read.slice(at, at + ROWS_AT_A_TIME))
}
