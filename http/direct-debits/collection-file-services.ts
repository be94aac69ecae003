/** Services of files of direct debits for handlers. */
import type { CollectionFileService } from '../../actors/direct-debits/files/collection-file-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly collectionFiles: Pick<CollectionFileService, 'reads'>
    readonly collectionResponses: CollectionFileService['responses']
  }
}
