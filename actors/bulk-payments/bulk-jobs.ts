/** The jobs that check and pay the rows of bulk payments, and the thread that reads their files. */
import type { PayDeps } from '../payments/submit-payment.ts'
import { bulkSubmissionJob } from './bulk-submission.ts'
import { bulkValidationJob } from './bulk-validation.ts'
import type { DirectDebitDeps } from '../direct-debits/direct-debit-deps.ts'
import type { JobWork } from '../jobs/jobs.ts'
import type { JobKind } from '../../lib/jobs/job.ts'
import type { ValidationDeps } from '../../lib/recipients/validation.ts'
import type { Database } from '../../storage/db/database.ts'
import { createBulkFiles } from '../../workers/bulk-payments/bulk-files.ts'
import type { RecipientCommands } from '../recipients/recipient-operations.ts'

export interface BulkJobsOptions {
  readonly database: Database
  /** The dependencies for making payments, the same as for a single payment. */
  readonly paying: PayDeps
  readonly validation: ValidationDeps
  readonly recipients: Pick<RecipientCommands, 'make'>
  readonly problemBase: string
  /** The dependencies for making mandates and collections. */
  readonly debits: DirectDebitDeps
}

export interface BulkJobs {
  /** The work by kind of job. */
  readonly kinds: Readonly<Partial<Record<JobKind, JobWork>>>
  /** Ends the thread that reads files. */
  close(): Promise<void>
}

/** Creates the jobs. The thread that reads files starts with the first file. */
export function createBulkJobs({
  database,
  paying,
  validation,
  recipients,
  problemBase,
  debits,
}: BulkJobsOptions): BulkJobs {
  const files = createBulkFiles()
  const deps = {
    ...paying,
    database,
    validation,
    files,
    recipientFactory: recipients,
    problemBase,
    debits,
  }
  return {
    kinds: { bulk_payment_validate: bulkValidationJob(deps), bulk_payment_submit: bulkSubmissionJob(deps) },
    close: () => files.close(),
  }
}
