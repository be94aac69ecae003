/** Files of direct debits: made for banks before their cut-off. */
import { debitCarriers } from '../../../lib/providers/debit-carriers.ts'
import type { ProviderDescription } from '../../../lib/providers/provider.ts'
import type { DownloadReads } from '../../documents/downloads.ts'
import type { Node } from '../../runtime/node.ts'
import type { DebitMover } from '../debit-mover.ts'
import { createCollectionFiles } from './collection-files.ts'
import { gatherTasks } from './gather-files.ts'

/** The nouns that files need. */
export interface CollectionFileServiceParts {
  readonly downloads: { readonly reads: DownloadReads }
  readonly mover: Pick<DebitMover, 'moveCollection'>
  /** The providers, of which some take collections by orders. */
  readonly descriptions: readonly Pick<ProviderDescription, 'provider' | 'debits'>[]
}

export type CollectionFileService = ReturnType<typeof createCollectionFileService>

/** Creates the service. */
export function createCollectionFileService(
  node: Node,
  { downloads, mover, descriptions }: CollectionFileServiceParts,
) {
  return {
    reads: createCollectionFiles({ ...node, downloads: downloads.reads }),
    tasks: gatherTasks({
      ...node,
      documents: node.workers.documents,
      mover,
      carriers: debitCarriers(descriptions),
    }),
  }
}
