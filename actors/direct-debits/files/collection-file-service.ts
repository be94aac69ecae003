/** Files of direct debits: made for banks before their cut-off, and the answers of banks that staff upload. */
import { debitCarriers } from '../../../lib/providers/debit-carriers.ts'
import type { ProviderDescription } from '../../../lib/providers/provider.ts'
import { createResponseReader } from '../../../workers/direct-debits/response-reader.ts'
import type { DownloadReads } from '../../documents/downloads.ts'
import type { JobService } from '../../jobs/job-service.ts'
import type { TakeDebitMessages } from '../../providers/debits.ts'
import { background, type Node } from '../../runtime/node.ts'
import type { DebitMover } from '../debit-mover.ts'
import { createCollectionFiles } from './collection-files.ts'
import { createDebitResponses } from './debit-responses.ts'
import { gatherTasks } from './gather-files.ts'
import { responseJobs } from './response-jobs.ts'

/** The nouns that files need. */
export interface CollectionFileServiceParts {
  readonly downloads: { readonly reads: DownloadReads }
  readonly jobs: Pick<JobService, 'addKinds'>
  /** Takes what banks tell about mandates and collections. */
  readonly inbox: { readonly take: TakeDebitMessages }
  readonly mover: Pick<DebitMover, 'moveCollections'>
  /** The providers, of which some take collections by orders. */
  readonly descriptions: readonly Pick<ProviderDescription, 'provider' | 'debits'>[]
}

export type CollectionFileService = ReturnType<typeof createCollectionFileService>

/** Creates the service. */
export function createCollectionFileService(
  node: Node,
  { downloads, jobs, inbox, mover, descriptions }: CollectionFileServiceParts,
) {
  const reader = createResponseReader()
  const { reads, commands } = createDebitResponses({ ...node, downloads: downloads.reads, reader })
  jobs.addKinds(responseJobs({ ...node, take: (messages) => inbox.take(messages) }))
  return {
    reads: createCollectionFiles({ ...node, downloads: downloads.reads }),
    responses: { reads, commands },
    // The thread starts with the first file.
    background: [background('answers about direct debits', { start: () => undefined, stop: () => reader.close() })],
    tasks: gatherTasks({
      ...node,
      documents: node.workers.documents,
      mover,
      carriers: debitCarriers(descriptions),
      delivers: (provider, scheme) =>
        node.dispatch &&
        descriptions.some((each) => each.provider === provider && each.debits[scheme]?.travelBy === 'files'),
    }),
  }
}
