/** Bulk payments: files of payments, the jobs that check and pay their rows, and the poller that ends them. */
import type { ValidationDeps } from '../../lib/recipients/validation.ts'
import type { ApprovalService } from '../approvals/approval-service.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import type { FxMarkets } from '../providers/fx.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { PayDeps } from '../payments/submit-payment.ts'
import type { PaymentQueue } from '../payments/payment-queue.ts'
import type { RecipientCommands } from '../recipients/recipient-operations.ts'
import { background, type Node } from '../runtime/node.ts'
import { bulkPaymentSubject } from './approve-bulk-payment.ts'
import { createBulkJobs } from './bulk-jobs.ts'
import { createBulkPaymentCommands, createBulkPaymentReads } from './bulk-payment-operations.ts'
import { BulkPayments } from './bulk-payment-pollers.ts'
import { createBulkReportReads } from './bulk-reports.ts'
import { createBulkSubmissions } from './bulk-submissions.ts'
import { createBulkUploads } from './bulk-uploads.ts'
import type { DirectDebitDeps } from '../direct-debits/direct-debit-deps.ts'
import type { BulkUploadDeps } from './open-bulk-payment.ts'

/** The nouns that bulk payments need. */
export interface BulkServiceParts {
  /** The dependencies for making payments, the same as for a single payment. */
  readonly payments: { readonly paying: PayDeps }
  readonly recipients: { readonly commands: Pick<RecipientCommands, 'make'> }
  /** The tables for checks of bank details. */
  readonly validation: Pick<ValidationDeps, 'ukModulus' | 'banks'>
  readonly exchanges: { readonly deps: { readonly market: Pick<FxMarkets, 'rates'> } }
  readonly queue: PaymentQueue
  readonly approvals: Pick<ApprovalService, 'addSubjects'>
  readonly jobs: Pick<JobService, 'jobs' | 'addKinds'>
  readonly downloads: { readonly reads: DownloadReads }
  /** The dependencies for making the mandates and collections of files. */
  readonly directDebits: { readonly deps: DirectDebitDeps }
  readonly operators: { readonly reads: Pick<BulkUploadDeps, 'hasFeature'> }
}

export type BulkService = ReturnType<typeof createBulkService>

/** Creates the service. */
export function createBulkService(
  node: Node,
  {
    payments,
    recipients,
    validation,
    exchanges,
    queue,
    approvals,
    jobs,
    downloads,
    directDebits,
    operators,
  }: BulkServiceParts,
) {
  const { database, problemBase, sandbox } = node
  const poller = new BulkPayments({ ...node, queue })
  approvals.addSubjects({ bulk_payment: bulkPaymentSubject({ nudge: () => poller.nudge() }) })
  const bulkJobs = createBulkJobs({
    database,
    paying: payments.paying,
    validation: { ...validation, sandbox },
    recipients: recipients.commands,
    problemBase,
    debits: directDebits.deps,
  })
  jobs.addKinds(bulkJobs.kinds)
  const deps = {
    ...node,
    jobs: jobs.jobs,
    downloads: downloads.reads,
    market: exchanges.deps.market,
    hasFeature: operators.reads.hasFeature,
  }
  return {
    reads: {
      ...createBulkPaymentReads(node),
      ...createBulkReportReads({ ...deps, documents: node.workers.documents }),
    },
    commands: {
      ...createBulkPaymentCommands(deps),
      ...createBulkUploads(deps),
      ...createBulkSubmissions(deps),
    },
    background: [
      background('bulk payments', poller),
      // The thread that reads files starts with the first file. The jobs that use it start later and stop earlier.
      { name: 'files of bulk payments', start: () => undefined, stop: () => bulkJobs.close() },
    ],
  }
}
