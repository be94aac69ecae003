/** Discards what a provider has told of facts that have changed. */
import { beginAnew } from '../../lib/kyc/applicant.ts'
import { listApplicants, writeApplicant } from '../../storage/kyc/kyc-applicants.ts'
import { dropReview } from '../../storage/sandbox/sandbox-kyc-reviews.ts'
import type { ChangeTransaction } from '../commands/changes.ts'

/**
 * Sets aside the reviews of an applicant of a locked case: the customer itself (null), or a person. A review that is
 * under way no longer counts.
 */
export async function renewReview(
  { client, now }: ChangeTransaction,
  customerId: string,
  personId: string | null,
): Promise<void> {
  for (const applicant of await listApplicants(client, customerId)) {
    if (applicant.personId !== personId) continue
    await writeApplicant(client, beginAnew(applicant, now))
    await dropReview(client, applicant.subjectId)
  }
}
