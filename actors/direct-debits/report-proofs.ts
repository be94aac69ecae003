/** Documents that prove what staff report of mandates and collections. */
import { refuse, refuseField } from '../../lib/base/problems.ts'
import type { DocumentUse } from '../../lib/documents/effects.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { insertUses, lockStatusesOf } from '../../storage/documents/documents.ts'

/**
 * Keeps the document of a report: it cannot be deleted while its mandate or collection names it.
 *
 * @throws ProblemError `validation-error` for a document that the customer does not have, `document-not-clean`
 */
export async function keepProof(
  database: Database,
  of: Pick<DocumentUse, 'object' | 'objectId'> & { readonly customerId: string },
  documentId: string | null,
): Promise<void> {
  if (documentId === null) return
  const id = documentId.toLowerCase()
  await inTransaction(database, async (client) => {
    const status = (await lockStatusesOf(client, of.customerId, [id])).get(id)
    if (status === undefined) refuseField('/documentId', 'not_found', 'The customer has no such document.')
    if (status !== 'clean')
      refuse('document-not-clean', 'The document has failed its check or is still waiting for it.', {
        extra: { documentIds: [id] },
      })
    await insertUses(client, of, [id])
  })
}
