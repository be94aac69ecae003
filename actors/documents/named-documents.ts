/**
 * Checks the documents that a payment names: each must be the customer's own, clean, and named once. The commit checks
 * them again.
 */
import type { DocumentStatus } from '../../lib/documents/document.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'

/** The documents that a payment may name; within a transaction they are read through its connection. */
export interface PaymentDocuments {
  /** Reads the statuses of the documents that belong to the customer; others are absent. */
  statuses(customerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, DocumentStatus>>
}

/**
 * Checks the ids, and returns them in lower case.
 *
 * @throws ProblemError `validation-error` for an id that is unknown or named twice, `document-not-clean`
 */
export async function checkedDocuments(
  documents: PaymentDocuments | undefined,
  customerId: string,
  sent: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (sent === undefined || sent.length === 0) return []
  const ids = sent.map((id) => id.toLowerCase())
  const statuses = (await documents?.statuses(customerId, ids)) ?? new Map<string, DocumentStatus>()
  const errors = ids.flatMap((id, index): FieldError[] => {
    const field = `/documentIds/${index}`
    if (!statuses.has(id)) return [{ field, code: 'not_found', message: 'No such document.' }]
    return ids.indexOf(id) < index ? [{ field, code: 'invalid_value', message: 'Is named twice.' }] : []
  })
  if (errors.length > 0) refuse('validation-error', 'Some documents cannot be named.', { errors })
  const unclean = ids.filter((id) => statuses.get(id) !== 'clean')
  if (unclean.length > 0)
    refuse('document-not-clean', 'A document has failed its check or is still waiting for it.', {
      extra: { documentIds: unclean },
    })
  return ids
}
