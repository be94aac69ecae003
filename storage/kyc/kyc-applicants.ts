/** Applicants of KYC providers, as rows. Their case is locked while they change. */
import type { InferEntity } from '@mikro-orm/core'
import type { Applicant } from '../../lib/kyc/applicant.ts'
import { entitiesOf, entitiesOfEveryTenant } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { KycApplicant } from './kyc-applicant-entity.ts'

const recordOf = (row: InferEntity<typeof KycApplicant>): Applicant => ({
  subjectId: row.subjectId,
  caseId: row.caseId,
  personId: row.personId ?? null,
  customerId: row.customerId,
  operatorId: row.operatorId,
  connectionId: row.connectionId,
  applicantId: row.applicantId ?? null,
  review: row.review ?? null,
  heardAt: row.heardAt ?? null,
  askedAt: row.askedAt ?? null,
})

/**
 * Finds the customer whose applicant a message of a connection is about, by the service's id or else by the provider's;
 * null when the connection reviews none of them.
 */
export async function customerOfApplicant(
  client: StatementRunner,
  connectionId: string,
  { subjectId, applicantId }: { readonly subjectId: string | null; readonly applicantId: string | null },
): Promise<{ readonly customerId: string; readonly subjectId: string } | null> {
  const rows = entitiesOfEveryTenant(client, 'the applicant of a message')
  const named = subjectId === null || !isUuid(subjectId) ? null : { connectionId, subjectId: subjectId.toLowerCase() }
  const row =
    (named === null ? null : await rows.findOne(KycApplicant, named)) ??
    (applicantId === null ? null : await rows.findOne(KycApplicant, { connectionId, applicantId }))
  return row === null ? null : { customerId: row.customerId, subjectId: row.subjectId }
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Lists the applicants of a customer whose case is locked. */
export async function listApplicants(client: StatementRunner, customerId: string): Promise<readonly Applicant[]> {
  return (await entitiesOf(client, { customerId }).find(KycApplicant, {}, { subjectId: 'asc' })).map(recordOf)
}

/** Writes an applicant of a customer whose case is locked, in place of the row that it has. */
export async function writeApplicant(client: TransactionClient, applicant: Applicant): Promise<void> {
  const { customerId, subjectId } = applicant
  const rows = entitiesOf(client, { customerId })
  const row = await rows.findOne(KycApplicant, { subjectId })
  if (row === null) await rows.insert(KycApplicant, applicant)
  else {
    Object.assign(row, applicant)
    await rows.save()
  }
}
