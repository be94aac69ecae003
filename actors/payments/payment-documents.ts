/** The documents that a payment names: its customer's own, found clean, each once. The commit looks again whether they still are. */
import type { DocumentStatus } from '../../lib/documents/document.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'

/** What the flows ask of documents. */
export interface PaymentDocuments {
  /** The statuses of those that are the customer's; the others are absent. */
  statuses(customerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, DocumentStatus>>
}

/**
 * The ids in one spelling, when each may be named.
 *
 * @throws ProblemError `validation-error` for one that is unknown or named twice, `document-not-clean`
 */
export async function checkedDocuments(documents: PaymentDocuments | undefined, customerId: string, sent: readonly string[] | undefined): Promise<readonly string[]> {
  if (sent === undefined || sent.length === 0) return []
  const ids = sent.map((id) => id.toLowerCase())
  const statuses = await documents?.statuses(customerId, ids) ?? new Map<string, DocumentStatus>()
  const errors = ids.flatMap((id, index): FieldError[] => {
    const field = `/documentIds/${index}`
    if (!statuses.has(id)) return [{ field, code: 'not_found', message: 'No such document.' }]
    return ids.indexOf(id) < index ? [{ field, code: 'invalid_value', message: 'Is named twice.' }] : []
  })
  if (errors.length > 0) refuse('validation-error', 'Some documents cannot be named.', { errors })
  const unclean = ids.filter((id) => statuses.get(id) !== 'clean')
  if (unclean.length > 0) refuse('document-not-clean', 'A document has failed its check or is still waiting for it.', { extra: { documentIds: unclean } })
  return ids
}
