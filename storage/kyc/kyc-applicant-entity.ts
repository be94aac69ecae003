/** Whoever a KYC provider reviews: the customer of a case, or a person of it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { KycReview } from '../../lib/kyc/messages.ts'
import { instant, managed } from '../db/entity-types.ts'

export const KycApplicant = managed(
  defineEntity({
    name: 'KycApplicant',
    tableName: 'kyc_applicant',
    properties: {
      subjectId: p.uuid().primary().fieldName('subject_id'),
      caseId: p.uuid().fieldName('case_id'),
      personId: p.uuid().fieldName('person_id').nullable(),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      connectionId: p.uuid().fieldName('connection_id'),
      applicantId: p.text().fieldName('applicant_id').nullable(),
      review: p.json().$type<KycReview>().nullable(),
      heardAt: instant().fieldName('heard_at').nullable(),
      askedAt: instant().fieldName('asked_at').nullable(),
    },
    checks: [{ name: 'kyc_applicant_subject', expression: 'subject_id = coalesce(person_id, case_id)' }],
    indexes: [
      { name: 'kyc_applicant_customer', properties: ['customerId'] },
      { name: 'kyc_applicant_provider', properties: ['connectionId', 'applicantId'] },
    ],
  }),
)
