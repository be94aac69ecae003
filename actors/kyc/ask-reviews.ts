/** Asks the operator's KYC provider to review the applicants of a case. */
import { KYC_ADAPTERS } from '../../lib/kyc/adapters.ts'
import { beginAnew, setAside, type Applicant } from '../../lib/kyc/applicant.ts'
import { resultOf } from '../../lib/kyc/case-outcome.ts'
import type { KycConnection } from '../../lib/kyc/connection.ts'
import type { KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import { activeKycConnection } from '../../storage/kyc/kyc-connections.ts'
import { listApplicants, writeApplicant } from '../../storage/kyc/kyc-applicants.ts'
import { listReviewedPersons, writePersonReview, type ReviewedPerson } from '../../storage/kyc/reviewed-persons.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import { planSandboxReview } from '../sandbox/sandbox-kyc.ts'

/** An applicant of a case. */
interface Subject {
  readonly personId: string | null
  /** By which the sandbox decides. */
  readonly name: string
  /** Whether the person was found green; null for the customer itself, of which the last review tells. */
  readonly isGreen: boolean | null
}

function subjectsOf(record: KybCaseRecord, persons: readonly ReviewedPerson[]): readonly Subject[] {
  const own = [record.company.legalName, record.personal?.lastName].filter((name) => name != null)
  return [
    { personId: null, name: own.join(' '), isGreen: null },
    ...persons.map(({ id, details, status }) => ({
      personId: id,
      name: details.lastName ?? details.legalName ?? '',
      isGreen: status === 'green',
    })),
  ]
}

/** Makes the applicant of a case that its provider has not heard of. */
export const newApplicant = (
  { id, customerId, operatorId }: Pick<KybCaseRecord, 'id' | 'customerId' | 'operatorId'>,
  personId: string | null,
  connectionId: string,
): Applicant => ({
  subjectId: personId ?? id,
  caseId: id,
  personId,
  customerId,
  operatorId,
  connectionId,
  applicantId: null,
  review: null,
  heardAt: null,
  askedAt: null,
})

/**
 * Asks for the review of all applicants of a locked case that are not green yet. Without an active connection staff
 * review by themselves, and no applicant waits for anything. A provider that is another than before reviews all anew.
 *
 * @returns the case as it is now
 */
export async function askReviews(tx: ChangeTransaction, record: KybCaseRecord): Promise<KybCaseRecord> {
  const { client, now } = tx
  const { customerId, operatorId } = record
  const connection = await activeKycConnection(client, operatorId)
  if (connection === null || KYC_ADAPTERS[connection.provider].webhooks === null)
    return await changeCase(client, record, { provider: 'manual', updatedAt: now })
  const known = await listApplicants(client, customerId)
  const persons = await listReviewedPersons(client, customerId)
  const all: Applicant[] = []
  for (const subject of subjectsOf(record, persons)) all.push(await askReview(tx, connection, record, subject, known))
  return await changeCase(client, record, {
    provider: connection.provider,
    applicantId: all[0]?.applicantId ?? null,
    result: resultOf(all),
    updatedAt: now,
  })
}

async function askReview(
  tx: ChangeTransaction,
  connection: KycConnection,
  record: KybCaseRecord,
  { personId, name, isGreen }: Subject,
  known: readonly Applicant[],
): Promise<Applicant> {
  const { client, now } = tx
  const before = known.find((each) => each.personId === personId && each.connectionId === connection.id)
  // A person may have been changed since the review, and counts as not reviewed then.
  if (before?.review?.answer === 'green' && isGreen !== false) return before
  const from = before ?? newApplicant(record, personId, connection.id)
  const applicant = KYC_ADAPTERS[connection.provider].reviewsWhenAsked
    ? await planSandboxReview(tx, beginAnew(from, now), name)
    : setAside(from)
  await writeApplicant(client, applicant)
  if (personId !== null)
    await writePersonReview(client, record.customerId, personId, {
      status: 'pending',
      applicantId: applicant.applicantId,
      rejectLabels: [],
      updatedAt: now,
    })
  return applicant
}
