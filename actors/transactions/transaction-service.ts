/** Transactions: the list that follows the events of the books, annotations, and exports. */
import type { DownloadReads } from '../documents/downloads.ts'
import type { IdentityReads } from '../identity/identity.ts'
import type { JobService } from '../jobs/job-service.ts'
import { background, type Node } from '../runtime/node.ts'
import { exportJob } from './export-job.ts'
import { createExportCommands } from './exports.ts'
import { TransactionFollower } from './transaction-follower.ts'
import { createTransactions } from './transaction-operations.ts'

/** The nouns that transactions need. */
export interface TransactionServiceParts {
  readonly jobs: Pick<JobService, 'jobs' | 'addKinds'>
  readonly downloads: { readonly reads: DownloadReads }
  readonly identity: { readonly reads: Pick<IdentityReads, 'hasProof' | 'operatorOf'> }
}

export type TransactionService = ReturnType<typeof createTransactionService>

/** Creates the service. */
export function createTransactionService(node: Node, { jobs, downloads, identity }: TransactionServiceParts) {
  const { documents } = node.workers
  jobs.addKinds({ transaction_export: exportJob({ ...node, documents }) })
  const follower = new TransactionFollower({ ...node, commands: () => node.system.commandsCommitted })
  return {
    ...createTransactions(node),
    background: [background('transactions', follower)],
    follower,
    exports: {
      reads: {},
      commands: createExportCommands({
        ...node,
        documents,
        downloads: downloads.reads,
        identity: identity.reads,
      }),
    },
  }
}
